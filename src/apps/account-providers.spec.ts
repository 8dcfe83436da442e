import { describe, expect, it } from '@jest/globals';
import type { ListedProvider } from '../providers/provider-listing.service.js';
import type { ProviderType } from '../upstreams/provider-types.js';
import { AccountProviders } from './account-providers.js';

const provider = (slug: string, type: ProviderType): ListedProvider => ({
  id: `id-${slug}`,
  slug,
  type,
  status: 'active',
  routeKind: 'direct',
  apiStyles: ['responses'],
  endpointStyles: ['responses'],
  costStyles: [],
  customPrices: new Map(),
});

const CATALOG_PRICE = { tokens: undefined, longContext: undefined, nanoUsdPerMinute: 1, nanoUsdPerHour: undefined };

/** Prices `<type>-model` of each type in the catalog, and `own` on the instance `backup`. */
function accountOf(...all: ListedProvider[]) {
  const isBillable = (listed: ListedProvider, model: string) =>
    model === `${listed.type}-model` || (listed.slug === 'backup' && model === 'own');
  const find = (type: ProviderType, model: string) => (model === `${type}-model` ? CATALOG_PRICE : undefined);
  return new AccountProviders(all, { isBillable }, { find });
}

describe('AccountProviders prices', () => {
  const backup = provider('backup', 'openai');

  it('instance → its own prices and the catalog; an instance of another account → none', () => {
    const account = accountOf(backup);
    expect(account.isBillable(backup, 'own')).toBe(true);
    expect(account.isBillable(backup, 'groq-model')).toBe(false);
    expect(account.isBillable(provider('foreign', 'openai'), 'openai-model')).toBe(false);
  });

  it('anywhere → any type of the catalog, or an instance of the account', () => {
    expect(accountOf().isBillableAnywhere('groq-model')).toBe(true);
    expect(accountOf().isBillableAnywhere('own')).toBe(false);
    expect(accountOf(backup).isBillableAnywhere('own')).toBe(true);
  });
});
