import { describe, expect, it } from '@jest/globals';
import type { ListedProvider } from '../providers/provider-listing.service.js';
import type { ProviderType } from '../upstreams/provider-types.js';
import { AccountProviders } from './account-providers.js';

const provider = (slug: string, type: ProviderType): ListedProvider => ({
  id: `id-${slug}`,
  slug,
  type,
  status: 'active',
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

describe('AccountProviders.find', () => {
  const account = accountOf(provider('openai', 'openai'), provider('backup', 'openai'), provider('g1', 'groq'));
  const slugsOf = (slugOrType: string) => account.find(slugOrType).map(({ slug }) => slug);

  it('slug → that instance only, even when it is also a type (decision 3.1)', () => {
    expect(slugsOf('openai')).toEqual(['openai']);
    expect(slugsOf('backup')).toEqual(['backup']);
  });

  it('type without an instance of that slug → every instance of the type', () => {
    expect(accountOf(provider('a', 'groq'), provider('b', 'groq')).find('groq')).toHaveLength(2);
    expect(slugsOf('groq')).toEqual(['g1']);
  });

  it('neither → none', () => {
    expect(slugsOf('constructor')).toEqual([]);
  });
});

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
