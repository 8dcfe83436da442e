import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import type { AdminPrincipal } from '../accounts/access/admin-principal.js';
import type { AuditEntry } from '../accounts/audit/audit-trail.js';
import { auditedChanges } from '../accounts/audit/audited-changes.rules.js';
import { type ConfigurationWrite, ConfigurationWrites } from '../accounts/audit/configuration-writes.js';
import { Clock } from '../common/clock.js';
import { GatewayError } from '../common/errors/gateway-error.js';
import type { Write } from '../idempotency/creation.js';
import { Ceilings } from '../limits/plans/ceilings.service.js';
import { violatesForeignKey, violatesUnique } from '../platform/database/database-errors.js';
import type { CreateProviderRequest, UpdateProviderRequest } from './dto/provider.request.js';
import type { NewProvider, ProviderRow, ProviderStatus, ProviderWrite } from './provider.entity.js';
import { providersChange } from './provider-directory.js';
import { ProviderDrafts } from './provider-drafts.js';
import type { ProviderGatewayRow } from './provider-gateways/provider-gateway.entity.js';
import { noSuchGateway } from './provider-gateways/provider-gateway-listing.js';
import { ProviderRoutes, type RoutedProvider } from './provider-routes.service.js';
import { requireAllowedChange } from './provider-write.rules.js';
import { type DeletedProvider, ProvidersRepository } from './providers.repository.js';

/** The members whose values are recorded in the audit trail: neither the key, nor an address, nor route options. */
const AUDITED = ['name', 'status', 'pricing.**'];

/** Maximum number of attempts of an update that concurrent address or key changes overtake; more indicate abuse. */
const MAX_OVERTAKEN = 100;

interface Revising {
  readonly admin: AdminPrincipal;
  /** The revision that the update requires, if any. */
  readonly revision: number | undefined;
  /** The names of the updated members. */
  readonly members: readonly string[];
  /** The gateways of the account, where the instance is routed through one. */
  readonly gateways: ReadonlyMap<string, ProviderGatewayRow>;
}

/** Write side of provider instances, each call within the caller's own account. */
@Injectable()
export class ProvidersService {
  constructor(
    private readonly providers: ProvidersRepository,
    private readonly drafts: ProviderDrafts,
    private readonly routes: ProviderRoutes,
    private readonly ceilings: Ceilings,
    private readonly writes: ConfigurationWrites,
    private readonly clock: Clock,
  ) {}

  /**
   * One instance of the account.
   *
   * @param name its id or slug.
   * @throws not_found unknown, or another account's.
   */
  async get({ organizationId }: AdminPrincipal, name: string): Promise<RoutedProvider> {
    const row = await this.providers.findByIdOrSlug(organizationId, name);
    if (row === undefined) throw noSuchProvider();
    return this.routes.route(row, await this.routes.gatewaysOf(organizationId, [row]));
  }

  /**
   * Validates a new instance as `create` does, without sealing or storing anything.
   *
   * @throws as `create`, except for races.
   */
  async validateNew({ organizationId }: AdminPrincipal, body: CreateProviderRequest): Promise<void> {
    const read = this.drafts.readNew(body);
    await this.requireFreeSlug(organizationId, read.slug);
    await this.drafts.requireRoutable(organizationId, read);
  }

  /**
   * Validates a change of an instance as `update` does, without sealing or storing anything.
   *
   * @throws as `update`, except for races.
   */
  validateChange({ row, gateway }: RoutedProvider, body: UpdateProviderRequest): void {
    const change = this.drafts.readChange(body);
    requireRevision(row, body.revision);
    requireAllowedChange(row, change, gateway?.type ?? null);
  }

  /** Oldest first, including disabled ones. */
  async list({ organizationId }: AdminPrincipal): Promise<RoutedProvider[]> {
    return this.routes.routed(organizationId, await this.providers.list(organizationId));
  }

  /**
   * Stores a new instance without calling the provider.
   *
   * @throws invalid_request, not_found, provider_not_supported_by_gateway, provider_unavailable as `ProviderDrafts`;
   * not_found also when the gateway is deleted concurrently.
   * @throws slug_taken also for the loser of two concurrent creates.
   * @throws billing_plan_limit_reached, billing_payment_required, billing_unavailable as `Ceilings`.
   * Source: docs/reference/management-api.md#provider-writes.
   */
  async create(
    admin: AdminPrincipal,
    body: CreateProviderRequest,
    write: Write<RoutedProvider>,
  ): Promise<RoutedProvider> {
    const read = this.drafts.readNew(body);
    await this.requireFreeSlug(admin.organizationId, read.slug);
    const draft = await this.drafts.create(admin, read);
    const gateways = await this.routes.gatewaysOf(admin.organizationId, [draft]);
    try {
      return await this.writes.run(admin, (tx) => this.insert(tx, draft, gateways), write);
    } catch (error) {
      if (violatesUnique(error, 'providers_slug_key')) throw await this.slugTaken(draft);
      throw violatesForeignKey(error, 'providers_gateway_fkey') ? noSuchGateway() : error;
    }
  }

  /**
   * Changes the given members. With `revision` only that revision is overwritten. Without it the current row is, and
   * concurrent writers never conflict.
   *
   * @param write the transaction; one of its own when absent.
   * @throws invalid_request, provider_gateway_managed, provider_unavailable as `ProviderDrafts`.
   * @throws not_found unknown, or another account's.
   * @throws conflict the stored revision differs.
   * @throws service_unavailable concurrent address or key changes overtook every attempt.
   */
  async update(
    admin: AdminPrincipal,
    id: string,
    body: UpdateProviderRequest,
    write?: Write<RoutedProvider>,
  ): Promise<RoutedProvider> {
    const change = this.drafts.readChange(body);
    for (let attempt = 0; attempt < MAX_OVERTAKEN; attempt++) {
      const row = await this.providers.find(admin.organizationId, id);
      if (row === undefined) throw noSuchProvider();
      requireRevision(row, body.revision);
      const gateways = await this.routes.gatewaysOf(row.organizationId, [row]);
      const { gateway } = this.routes.route(row, gateways);
      const revised = await this.drafts.revise(row, change, gateway?.type ?? null);
      const revising = { admin, revision: body.revision, members: Object.keys(change), gateways };
      const written = await this.write(row, revised, revising, write);
      if (written !== undefined) return written;
    }
    throw new GatewayError('service_unavailable', { reason: 'provider_always_moving', retryAfterSeconds: 1 });
  }

  /**
   * Deletes the instance, its key and its prices permanently, and frees its slug. There is no check for use.
   *
   * @throws not_found unknown, or another account's.
   */
  async delete(admin: AdminPrincipal, id: string): Promise<void> {
    await this.writes.run(admin, async (tx) => {
      const deleted = await this.providers.delete(tx, admin.organizationId, id);
      if (deleted === undefined) throw noSuchProvider();
      const entry = { action: 'provider.deleted', ...targetOf(deleted) } as const;
      return { result: undefined, entry, changes: [providersChange(admin.organizationId)] };
    });
  }

  private async insert(
    tx: EntityManager,
    draft: NewProvider,
    gateways: ReadonlyMap<string, ProviderGatewayRow>,
  ): Promise<ConfigurationWrite<RoutedProvider>> {
    const { organizationId } = draft;
    await this.ceilings.requireRoom(tx, organizationId, 'providers', () => this.providers.countOf(tx, organizationId));
    const inserted = await this.providers.insert(tx, draft, this.clock.now());
    const entry = { action: 'provider.created', ...targetOf(inserted) } as const;
    return { result: this.routes.route(inserted, gateways), entry, changes: [providersChange(organizationId)] };
  }

  private write(
    { id, organizationId }: ProviderRow,
    revised: ProviderWrite,
    { admin, revision, members, gateways }: Revising,
    write?: Write<RoutedProvider>,
  ): Promise<RoutedProvider | undefined> {
    const row = { id, organizationId, revision };
    const statements = async (tx: EntityManager): Promise<ConfigurationWrite<RoutedProvider | undefined>> => {
      const before = await this.providers.lock(tx, organizationId, id);
      const changed = await this.providers.change(tx, row, revised, this.clock.now());
      if (before === undefined || changed === undefined) return { result: undefined };
      const target = targetOf(changed);
      const details = { ...target.details, changed: members.join(', ') };
      const changes = auditedChanges(auditedOf(before), auditedOf(changed), AUDITED);
      const entry = { action: 'provider.updated', ...target, details, changes } as const;
      return { result: this.routes.route(changed, gateways), entry, changes: [providersChange(organizationId)] };
    };
    return this.writes.run(admin, statements, write);
  }

  private async requireFreeSlug(organizationId: string, slug: string): Promise<void> {
    const holder = await this.providers.findStatusBySlug(organizationId, slug);
    if (holder !== undefined) throw slugTaken(slug, holder);
  }

  /** After a lost race; the winner may already be deleted again. */
  private async slugTaken({ organizationId, slug }: NewProvider): Promise<GatewayError> {
    return slugTaken(slug, await this.providers.findStatusBySlug(organizationId, slug));
  }
}

/** The members of a provider by the names of the management API; a new key shows as another sealed text. */
function auditedOf({ name, status, pricing, baseUrl, gatewayRoute, secretBlob: secret }: ProviderRow): object {
  return { name, status, pricing, baseUrl, gatewayRoute, secret };
}

function targetOf({ id, slug, type }: DeletedProvider): Pick<AuditEntry, 'targetType' | 'targetId' | 'details'> {
  return { targetType: 'provider', targetId: id, details: { slug, type } };
}

function slugTaken(slug: string, holder: ProviderStatus | undefined): GatewayError {
  return new GatewayError('slug_taken', {
    message:
      holder === 'disabled'
        ? `slug: "${slug}" belongs to a disabled provider; enable or delete that one, or choose another slug.`
        : `slug: "${slug}" is already used by another provider; choose another slug.`,
  });
}

/**
 * @param revision that the client read; absent: any.
 * @throws conflict the stored revision differs.
 */
function requireRevision({ revision: stored }: Pick<ProviderRow, 'revision'>, revision: number | undefined): void {
  if (revision === undefined || revision === stored) return;
  throw new GatewayError('conflict', {
    message: 'The provider changed since you read it; read it again and merge.',
    reason: 'stale_revision',
  });
}

function noSuchProvider(): GatewayError {
  return new GatewayError('not_found', { message: 'Provider not found.', reason: 'provider_not_found' });
}
