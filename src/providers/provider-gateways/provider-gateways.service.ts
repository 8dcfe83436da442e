import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import type { AdminPrincipal } from '../../accounts/access/admin-principal.js';
import { auditedChanges } from '../../accounts/audit/audited-changes.rules.js';
import { type ConfigurationWrite, ConfigurationWrites } from '../../accounts/audit/configuration-writes.js';
import { Clock } from '../../common/clock.js';
import { GatewayError } from '../../common/errors/gateway-error.js';
import type { Write } from '../../idempotency/creation.js';
import { Ceilings } from '../../limits/plans/ceilings.service.js';
import { violatesForeignKey } from '../../platform/database/database-errors.js';
import { ProvidersRepository } from '../providers.repository.js';
import type {
  CreateGatewayRequest,
  RenameGatewayRequest,
  RotateGatewayRequest,
} from './dto/provider-gateway.request.js';
import {
  NOT_USED,
  type ProviderGatewayChange,
  type ProviderGatewayRow,
  type ProviderGatewayUse,
} from './provider-gateway.entity.js';
import { ProviderGatewayDrafts } from './provider-gateway-drafts.js';
import { noSuchGateway, providerGatewaysChange } from './provider-gateway-listing.js';
import { gatewayInUse } from './provider-gateway-write.rules.js';
import { ProviderGatewaysRepository } from './provider-gateways.repository.js';

/** A gateway and the number of providers that are routed through it. */
export interface CountedProviderGateway {
  readonly row: ProviderGatewayRow;
  readonly use: ProviderGatewayUse;
}

type GatewayAction = `provider_gateway.${'created' | 'renamed' | 'rotated' | 'deleted'}`;

interface AskedChange {
  readonly id: string;
  readonly revision: number | undefined;
  readonly action: GatewayAction;
}

/** Manages upstream gateways, each call within the caller's own account. */
@Injectable()
export class ProviderGatewaysService {
  constructor(
    private readonly gateways: ProviderGatewaysRepository,
    private readonly providers: ProvidersRepository,
    private readonly drafts: ProviderGatewayDrafts,
    private readonly ceilings: Ceilings,
    private readonly writes: ConfigurationWrites,
    private readonly clock: Clock,
  ) {}

  /** Oldest first, including revoked ones. */
  async list({ organizationId }: AdminPrincipal): Promise<CountedProviderGateway[]> {
    const [rows, uses] = await Promise.all([
      this.gateways.list(organizationId),
      this.providers.useByGateway(organizationId),
    ]);
    return rows.map((row) => ({ row, use: uses.get(row.id) ?? NOT_USED }));
  }

  /**
   * Stores a new gateway without calling it.
   *
   * @throws invalid_request, provider_unavailable as `ProviderGatewayDrafts.create`.
   * @throws billing_plan_limit_reached, billing_payment_required, billing_unavailable as `Ceilings`.
   */
  async create(
    admin: AdminPrincipal,
    body: CreateGatewayRequest,
    write: Write<CountedProviderGateway>,
  ): Promise<CountedProviderGateway> {
    const draft = await this.drafts.create(admin, body);
    const { organizationId } = admin;
    const statements = async (tx: EntityManager) => {
      await this.ceilings.requireRoom(tx, organizationId, 'provider_gateways', () =>
        this.gateways.countOf(tx, organizationId),
      );
      const row = await this.gateways.insert(tx, draft, this.clock.now());
      return written({ row, use: NOT_USED }, 'provider_gateway.created', row);
    };
    return this.writes.run(admin, statements, write);
  }

  /**
   * Renames a gateway. With `revision` only that revision is overwritten, without it any.
   *
   * @throws not_found unknown, or another account's.
   * @throws conflict the stored revision differs.
   */
  rename(admin: AdminPrincipal, id: string, { name, revision }: RenameGatewayRequest): Promise<CountedProviderGateway> {
    return this.change(admin, { id, revision, action: 'provider_gateway.renamed' }, () => ({ name }));
  }

  /**
   * Replaces the token of a gateway without a test; every provider that is routed through it uses it from now on.
   *
   * @param write the transaction; one of its own when absent.
   * @throws invalid_request, provider_unavailable as `ProviderGatewayDrafts.seal`.
   * @throws not_found, conflict as `rename`.
   */
  rotate(
    admin: AdminPrincipal,
    id: string,
    { token, revision }: RotateGatewayRequest,
    write?: Write<CountedProviderGateway>,
  ): Promise<CountedProviderGateway> {
    const asked = { id, revision, action: 'provider_gateway.rotated' } as const;
    return this.change(admin, asked, (row) => this.drafts.seal(token, row), write);
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
      await this.writes.run(admin, async (tx) => {
        const deleted = await this.gateways.delete(tx, admin.organizationId, id);
        if (deleted === undefined) throw noSuchGateway();
        return written(undefined, 'provider_gateway.deleted', { organizationId: admin.organizationId, ...deleted });
      });
    } catch (error) {
      throw violatesForeignKey(error, 'providers_gateway_fkey') ? gatewayInUse(await this.useOf(admin, id)) : error;
    }
  }

  private async change(
    admin: AdminPrincipal,
    { id, revision, action }: AskedChange,
    makeChange: (row: ProviderGatewayRow) => ProviderGatewayChange | Promise<ProviderGatewayChange>,
    write?: Write<CountedProviderGateway>,
  ): Promise<CountedProviderGateway> {
    const before = await this.requireGateway(admin, id);
    requireRevision(before, revision);
    const change = await makeChange(before);
    const target = { id, organizationId: admin.organizationId, revision };
    const use = await this.useOf(admin, id);
    const statements = async (tx: EntityManager) => {
      const row = await this.gateways.change(tx, target, change, this.clock.now());
      // Deleted or changed since it was read; with a revision the client must read again.
      if (row === undefined) throw revision === undefined ? noSuchGateway() : stale();
      if (change.secretBlob !== undefined) await this.providers.forgetTestsThrough(tx, row.organizationId, id);
      return written<CountedProviderGateway>({ row, use }, action, row, { name: before.name });
    };
    return this.writes.run<CountedProviderGateway>(admin, statements, write);
  }

  /** @throws not_found unknown, or another account's. */
  async get(admin: AdminPrincipal, id: string): Promise<CountedProviderGateway> {
    return { row: await this.requireGateway(admin, id), use: await this.useOf(admin, id) };
  }

  private async requireGateway({ organizationId }: AdminPrincipal, id: string): Promise<ProviderGatewayRow> {
    const row = await this.gateways.find(organizationId, id);
    if (row === undefined) throw noSuchGateway();
    return row;
  }

  private async useOf({ organizationId }: AdminPrincipal, id: string): Promise<ProviderGatewayUse> {
    return (await this.providers.useByGateway(organizationId)).get(id) ?? NOT_USED;
  }
}

function written<T>(
  result: T,
  action: GatewayAction,
  { organizationId, id, name }: Pick<ProviderGatewayRow, 'organizationId' | 'id' | 'name'>,
  before: Pick<ProviderGatewayRow, 'name'> = { name },
): ConfigurationWrite<T> {
  const changes = auditedChanges({ name: before.name }, { name }, ['name']);
  const entry = { action, targetType: 'provider_gateway', targetId: id, details: { name }, changes };
  return { result, entry, changes: [providerGatewaysChange(organizationId)] };
}

/**
 * @param revision that the client read; absent: any.
 * @throws conflict the stored revision differs.
 */
export function requireRevision({ revision: stored }: Pick<ProviderGatewayRow, 'revision'>, revision?: number): void {
  if (revision !== undefined && revision !== stored) throw stale();
}

function stale(): GatewayError {
  return new GatewayError('conflict', {
    message: 'The provider gateway changed since you read it; read it again and merge.',
    reason: 'stale_revision',
  });
}
