import { Injectable } from '@nestjs/common';
import type { CreateProviderRequest } from './dto/provider.request.js';
import { ProviderDrafts } from './provider-drafts.js';
import { type ListedProvider, toListed } from './provider-listing.service.js';
import { ProviderRoutes, type RoutableRow } from './provider-routes.service.js';
import { ProvidersRepository } from './providers.repository.js';

/** The provider instances of an account as they would be after changes that are not made yet. */
@Injectable()
export class AssumedProviders {
  constructor(
    private readonly providers: ProvidersRepository,
    private readonly routes: ProviderRoutes,
    private readonly drafts: ProviderDrafts,
  ) {}

  /**
   * @param assumed creations without keys, each in place of the stored instance with its slug.
   * @throws invalid_request as a creation.
   */
  async list(organizationId: string, assumed: readonly CreateProviderRequest[]): Promise<readonly ListedProvider[]> {
    const rows: readonly RoutableRow[] = assumed.map((body) => this.drafts.readAssumed(body));
    const slugs = new Set(rows.map(({ slug }) => slug));
    const kept = (await this.providers.list(organizationId)).filter(({ slug }) => !slugs.has(slug));
    return (await this.routes.routed<RoutableRow>(organizationId, [...kept, ...rows])).map(toListed);
  }
}
