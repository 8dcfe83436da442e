import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { Clock } from '../../common/clock.js';
import { GatewayError } from '../../common/errors/gateway-error.js';
import { Ceilings } from '../../entitlements/ceilings.service.js';
import type { Write } from '../../idempotency/creation.js';
import type { AdminPrincipal } from '../../identity/admin-principal.js';
import { AuditTrail } from '../../identity/audit/audit-trail.js';
import { ConfigChanges } from '../../platform/database/config-changes.js';
import { breaksReference } from '../../platform/database/violates.js';
import { ProvidersRepository } from '../providers.repository.js';
import type { CreateGatewayRequest } from './dto/create-gateway.request.js';
import type { RenameGatewayRequest, RotateGatewayRequest } from './dto/update-gateway.request.js';
import { GatewayDrafts } from './gateway-drafts.js';
import { GATEWAYS_TOPIC } from './gateway-listing.service.js';
import { type GatewayChange, type GatewayRow, type GatewayUse, NOT_USED } from './gateway-row.js';
import { gatewayInUse } from './gateway-write.rules.js';
import { GatewaysRepository } from './gateways.repository.js';

/** A gateway and the number of providers that are routed through it. */
export interface CountedGateway {
  readonly row: GatewayRow;
  readonly use: GatewayUse;
}

type GatewayAction = `provider_gateway.${'created' | 'renamed' | 'rotated' | 'deleted'}`;

interface AskedChange {
  readonly id: string;
  readonly revision: number | undefined;
  readonly action: GatewayAction;
}

/** Manages upstream gateways, each call within the caller's own account. */
@Injectable()
export class GatewaysService {
  constructor(
    private readonly dataSource: DataSource,
    private readonly gateways: GatewaysRepository,
    private readonly providers: ProvidersRepository,
    private readonly drafts: GatewayDrafts,
    private readonly configChanges: ConfigChanges,
    private readonly ceilings: Ceilings,
    private readonly audit: AuditTrail,
    private readonly clock: Clock,
  ) {}

  /** Oldest first, including revoked ones. */
  async list({ organizationId }: AdminPrincipal): Promise<CountedGateway[]> {
    const [rows, uses] = await Promise.all([
      this.gateways.list(organizationId),
      this.providers.useByGateway(organizationId),
    ]);
    return rows.map((row) => ({ row, use: uses.get(row.id) ?? NOT_USED }));
  }

  /**
   * Stores a new gateway without calling it.
   *
   * @throws invalid_request, provider_unavailable as `GatewayDrafts.create`.
   * @throws billing_plan_limit_reached, billing_payment_required, billing_unavailable as `Ceilings`.
   */
  async create(
    admin: AdminPrincipal,
    body: CreateGatewayRequest,
    write: Write<CountedGateway>,
  ): Promise<CountedGateway> {
    const draft = await this.drafts.create(admin, body);
    const { organizationId } = admin;
    const statements = async (tx: EntityManager) => {
      await this.ceilings.requireRoom(tx, organizationId, 'provider_gateways', () =>
        this.gateways.countOf(tx, organizationId),
      );
      const row = await this.gateways.insert(tx, draft, this.clock.now().toISOString());
      await this.record(tx, admin, 'provider_gateway.created', row);
      return { row, use: NOT_USED };
    };
    return this.announcing(admin, statements, write);
  }

  /**
   * Renames a gateway. With `revision` only that revision is overwritten, without it any.
   *
   * @throws not_found unknown, or another account's.
   * @throws conflict the stored revision differs.
   */
  rename(admin: AdminPrincipal, id: string, { name, revision }: RenameGatewayRequest): Promise<CountedGateway> {
    return this.change(admin, { id, revision, action: 'provider_gateway.renamed' }, () => ({ name }));
  }

  /**
   * Replaces the token of a gateway without a test; every provider that is routed through it uses it from now on.
   *
   * @throws invalid_request, provider_unavailable as `GatewayDrafts.seal`.
   * @throws not_found, conflict as `rename`.
   */
  rotate(admin: AdminPrincipal, id: string, { token, revision }: RotateGatewayRequest): Promise<CountedGateway> {
    return this.change(admin, { id, revision, action: 'provider_gateway.rotated' }, (row) =>
      this.drafts.seal(token, row),
    );
  }

  /**
   * Deletes a gateway and its token permanently. The foreign key decides whether a provider references it, including
   * one that is created concurrently.
   *
   * @throws not_found unknown, or another account's.
   * @throws gateway_in_use a provider references it, possibly a disabled one.
   */
  async delete(admin: AdminPrincipal, id: string): Promise<void> {
    try {
      await this.write(admin, async (tx) => {
        const deleted = await this.gateways.delete(tx, admin.organizationId, id);
        if (deleted === undefined) throw noSuchGateway();
        await this.record(tx, admin, 'provider_gateway.deleted', deleted);
      });
    } catch (error) {
      throw breaksReference(error, 'providers_gateway_fkey') ? gatewayInUse(await this.useOf(admin, id)) : error;
    }
  }

  private async change(
    admin: AdminPrincipal,
    { id, revision, action }: AskedChange,
    makeChange: (row: GatewayRow) => GatewayChange | Promise<GatewayChange>,
  ): Promise<CountedGateway> {
    const before = await this.requireGateway(admin, id);
    if (revision !== undefined && revision !== before.revision) throw stale();
    const change = await makeChange(before);
    const target = { id, organizationId: admin.organizationId, revision };
    const row = await this.write(admin, async (tx) => {
      const changed = await this.gateways.change(tx, target, change, this.clock.now().toISOString());
      // Deleted or changed since it was read; with a revision the client must read again.
      if (changed === undefined) throw revision === undefined ? noSuchGateway() : stale();
      await this.record(tx, admin, action, changed);
      return changed;
    });
    return { row, use: await this.useOf(admin, id) };
  }

  private async requireGateway({ organizationId }: AdminPrincipal, id: string): Promise<GatewayRow> {
    const row = await this.gateways.find(organizationId, id);
    if (row === undefined) throw noSuchGateway();
    return row;
  }

  private async useOf({ organizationId }: AdminPrincipal, id: string): Promise<GatewayUse> {
    return (await this.providers.useByGateway(organizationId)).get(id) ?? NOT_USED;
  }

  private record(
    tx: EntityManager,
    admin: AdminPrincipal,
    action: GatewayAction,
    { id, name }: Pick<GatewayRow, 'id' | 'name'>,
  ): Promise<void> {
    return this.audit.record(tx, admin, { action, targetType: 'provider_gateway', targetId: id, details: { name } });
  }

  private write<T>(admin: AdminPrincipal, statements: (tx: EntityManager) => Promise<T>): Promise<T> {
    return this.announcing(admin, statements, (all) => this.dataSource.transaction(all));
  }

  /** Writes and publishes in one transaction, so that instances evict exactly what was committed. */
  private async announcing<T>(
    { organizationId }: AdminPrincipal,
    statements: (tx: EntityManager) => Promise<T>,
    write: (statements: (tx: EntityManager) => Promise<T>) => Promise<T>,
  ): Promise<T> {
    const change = { topic: GATEWAYS_TOPIC, key: organizationId };
    const written = await write(async (tx) => {
      const result = await statements(tx);
      await this.configChanges.publish(tx, change);
      return result;
    });
    this.configChanges.tellHere(change);
    return written;
  }
}

function noSuchGateway(): GatewayError {
  return new GatewayError('not_found', { message: 'No such provider gateway.', reason: 'provider_gateway_not_found' });
}

function stale(): GatewayError {
  return new GatewayError('conflict', {
    message: 'The provider gateway changed since you read it; read it again and decide anew.',
    reason: 'stale_revision',
  });
}
