import type { components } from '../../console/src/api/schema.d.ts';
import { type Api, read } from '../api/client.js';
import type { AccountState } from './account-state.js';

/** How many applications can reach a provider, and the names of some. */
export interface Reach {
  readonly count: number;
  readonly names: readonly string[];
}

/** Finds who can reach a provider in any way: by its slug, by its type, or because all providers are allowed. */
export type ReachOf = (slug: string) => Promise<Reach>;

/** Queries the service once, for the first provider. */
export function reachIn(api: Api, { apps }: AccountState): ReachOf {
  let asked: Promise<components['schemas']['ProviderUseResponse']> | undefined;
  const handles = new Map(apps.map(({ id, handle }) => [id, handle]));
  return async (slug) => {
    asked ??= read(api.GET('/v1/admin/providers/usage'));
    const provider = (await asked).providers.find((used) => used.slug === slug);
    if (provider === undefined) return { count: 0, names: [] };
    return { count: provider.appCount, names: provider.apps.map(({ id }) => handles.get(id) ?? id) };
  };
}
