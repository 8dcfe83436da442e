import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { Clock } from '../common/clock.js';
import { GatewayError } from '../common/errors/gateway-error.js';
import type { AdminPrincipal } from '../identity/admin-principal.js';
import { violates } from '../platform/database/violates.js';
import { ProviderDrafts } from './drafts/provider-drafts.js';
import type { CreateProviderRequest } from './dto/create-provider.request.js';
import type { UpdateProviderRequest } from './dto/update-provider.request.js';
import { ProviderDirectory } from './provider-directory.js';
import type { NewProvider, ProviderRow, ProviderState } from './provider-row.js';
import { ProvidersRepository } from './providers.repository.js';

/** Writers without a revision follow each other; this many overtakings in a row are no accident. */
const MAX_OVERTAKEN = 5;

/** The write side of provider instances, each call within the caller's own account. */
@Injectable()
export class ProvidersService {
  constructor(
    private readonly dataSource: DataSource,
    private readonly providers: ProvidersRepository,
    private readonly drafts: ProviderDrafts,
    private readonly directory: ProviderDirectory,
    private readonly clock: Clock,
  ) {}

  /** Oldest first, disabled ones included. */
  list(admin: AdminPrincipal): Promise<ProviderRow[]> {
    return this.providers.list(admin.organizationId);
  }

  /**
   * Stores a new instance; the provider itself is not called.
   *
   * @throws invalid_request, not_found, provider_unavailable as `ProviderDrafts.create` says.
   * @throws slug_taken also for the loser of two creates at once.
   */
  async create(admin: AdminPrincipal, body: CreateProviderRequest): Promise<ProviderRow> {
    const draft = await this.drafts.create(admin, body);
    try {
      return await this.insert(draft);
    } catch (error) {
      throw violates(error, 'providers_slug_key') ? await this.slugTaken(draft) : error;
    }
  }

  /**
   * Changes the members given. With `revision` only over exactly that revision (decision 6.2); without one over
   * whatever is stored at that moment.
   *
   * @throws invalid_request, provider_unavailable as `ProviderDrafts` says.
   * @throws not_found unknown, or another account's.
   * @throws conflict the stored revision is another.
   */
  async update(admin: AdminPrincipal, id: string, body: UpdateProviderRequest): Promise<ProviderRow> {
    const change = this.drafts.readChange(body);
    for (let attempt = 0; attempt < MAX_OVERTAKEN; attempt++) {
      const row = await this.providers.find(admin.organizationId, id);
      if (row === undefined) throw noSuchProvider();
      if (body.revision !== undefined && body.revision !== row.revision) break;
      const written = await this.replace(row, await this.drafts.revise(row, change));
      if (written !== undefined) return written;
    }
    throw new GatewayError('conflict', {
      message: 'The provider changed since you read it; read it again and merge.',
      reason: 'stale_revision',
    });
  }

  /**
   * Deletes the instance, its key and its prices for good, and frees its slug. Nobody asks whether it is in use.
   *
   * @throws not_found unknown, or another account's.
   */
  async delete(admin: AdminPrincipal, id: string): Promise<void> {
    await this.dataSource.transaction(async (tx) => {
      if (!(await this.providers.delete(tx, admin.organizationId, id))) throw noSuchProvider();
      await this.directory.announceChange(tx, admin.organizationId);
    });
    this.directory.forget(admin.organizationId);
  }

  private async insert(draft: NewProvider): Promise<ProviderRow> {
    const row = await this.dataSource.transaction(async (tx) => {
      const inserted = await this.providers.insert(tx, draft, this.clock.now().toISOString());
      await this.directory.announceChange(tx, draft.organizationId);
      return inserted;
    });
    this.directory.forget(draft.organizationId);
    return row;
  }

  private async replace(row: ProviderRow, state: ProviderState): Promise<ProviderRow | undefined> {
    const written = await this.dataSource.transaction(async (tx) => {
      const replaced = await this.providers.replaceIfRevision(tx, row, state, this.clock.now().toISOString());
      if (replaced !== undefined) await this.directory.announceChange(tx, row.organizationId);
      return replaced;
    });
    if (written !== undefined) this.directory.forget(row.organizationId);
    return written;
  }

  private async slugTaken({ organizationId, slug }: NewProvider): Promise<GatewayError> {
    const status = await this.providers.findStatusBySlug(organizationId, slug);
    return new GatewayError('slug_taken', {
      message:
        status === 'disabled'
          ? `slug: "${slug}" belongs to a disabled provider; enable or delete that one, or choose another slug.`
          : `slug: "${slug}" is already used by another provider; choose another slug.`,
    });
  }
}

function noSuchProvider(): GatewayError {
  return new GatewayError('not_found', { message: 'No such provider.', reason: 'provider_not_found' });
}
