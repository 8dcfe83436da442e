import type { Schemas } from '../api/client';
import type { Provider } from '../api/queries';
import { priceText } from '../design/amounts.rules';

export type Price = Schemas['ModelPriceResponse'];
export type Prices = Schemas['PriceListResponse']['prices'];

/** A model at one price, and the providers of the account that charge it. */
export interface CatalogModel {
  readonly model: string;
  /** Of its providers; the price list also has models of types that the account does not use. */
  readonly type: string;
  readonly price: Price;
  readonly providers: readonly Provider[];
  /** Whether a provider has this price of its own, in place of the catalog's. */
  readonly isOwn: boolean;
}

/**
 * Every model with a price, by name: those of the price list, and those that providers have prices of their own for.
 */
export function catalogOf(providers: readonly Provider[], prices: Prices): readonly CatalogModel[] {
  const own = providers.flatMap((provider) =>
    Object.entries(provider.pricing ?? {}).map(([model, price]) => ({
      ...{ model, price, type: provider.type as string, providers: [provider], isOwn: true },
    })),
  );
  const listed = Object.entries(prices).flatMap(([type, models]) =>
    Object.entries(models ?? {}).map(([model, price]) => ({
      ...{ model, price, type, isOwn: false },
      providers: providers.filter((one) => one.type === type && !Object.hasOwn(one.pricing ?? {}, model)),
    })),
  );
  return [...own, ...listed].sort((a, b) => a.model.localeCompare(b.model) || a.type.localeCompare(b.type));
}

/** What each model of some providers costs, by name: several prices where they differ. */
export function pricesOf(providers: readonly Provider[], prices: Prices): ReadonlyMap<string, readonly Price[]> {
  const found = new Map<string, readonly Price[]>();
  for (const { model, price, providers: chargedBy } of catalogOf(providers, prices)) {
    if (chargedBy.length > 0) found.set(model, [...(found.get(model) ?? []), price]);
  }
  return found;
}

/** The price of a model in words; undefined without a price in the list. @param today UTC, `YYYY-MM-DD`. */
export function costWords(prices: readonly Price[] = [], today: string): string | undefined {
  const [first] = prices;
  if (first === undefined) return undefined;
  const words = priceWords(first);
  if (prices.some((other) => priceWords(other) !== words)) return 'the price depends on the provider';
  const life = lifeOf(first, today);
  if (life === 'open') return words;
  return life === 'deprecated'
    ? `${words}, deprecated`
    : `${words}, ${life === 'ended' ? 'retired' : 'retires'} ${first.retirement_date}`;
}

/** The UTC day, `YYYY-MM-DD`. */
export function utcToday(): string {
  return new Date().toISOString().slice(0, 'YYYY-MM-DD'.length);
}

const TOKEN_RATES = ['input', 'output', 'cached_input'];
const NO_RATES = ['author', 'deprecated', 'retirement_date', 'long_context_threshold'];
const UNITS: Readonly<Record<string, string>> = {
  per_minute: 'a minute',
  per_hour: 'an hour',
  per_image: 'an image',
  per_request: 'a request',
  per_1k_characters: 'a thousand characters',
};

/** Every rate beside input, cached input and output, as `audio input $32 · $0.006 a minute · priority: input $4`. */
export function otherWords({ tiers = {}, ...price }: Price): string {
  const ofTiers = Object.entries(tiers).map(([tier, rates]) => `${tier}: ${ratesOf(rates).join(', ')}`);
  return [...ratesOf(price, TOKEN_RATES), ...ofTiers].join(' · ');
}

function ratesOf(rates: object, without: readonly string[] = []): string[] {
  return Object.entries(rates)
    .filter(([name]) => !without.includes(name) && !NO_RATES.includes(name))
    .map(([name, usd]) => {
      const unit = UNITS[name];
      if (unit !== undefined) return `${priceText(Number(usd))} ${unit}`;
      return `${name.replace(/^per_1k/, '1,000').replaceAll('_', ' ')} ${priceText(Number(usd))}`;
    });
}

/** The price in few words: `$0.50 in · $2 out per 1M tokens`, or what else it is charged by. */
export function priceWords(price: Price): string {
  const rates = [
    [price.input, price.output === undefined ? 'in per 1M tokens' : 'in'],
    [price.output, 'out per 1M tokens'],
    [price.per_minute, 'a minute'],
    [price.per_hour, 'an hour'],
    [price.per_1k_requests, 'a thousand requests'],
    [price.per_request, 'a request'],
    [price.per_image, 'an image'],
    [price.per_1k_characters, 'a thousand characters'],
  ] as const;
  const words = rates.flatMap(([usd, unit]) => (usd === undefined ? [] : [`${priceText(usd)} ${unit}`]));
  return words.length === 0 ? 'priced by other measures' : words.join(' · ');
}

/** `deprecated`: without an announced end. */
type Life = 'open' | 'deprecated' | 'ending' | 'ended';

/** The lifecycle state of a model. @param today UTC, `YYYY-MM-DD`. */
export function lifeOf({ retirement_date: ends, deprecated }: Price, today: string): Life {
  if (ends === undefined) return deprecated === true ? 'deprecated' : 'open';
  return ends <= today ? 'ended' : 'ending';
}

/** Words that a model is found by, in any order and case. */
export function isFound({ model, type, price, providers }: CatalogModel, search: string): boolean {
  const text = [model, type, price.author ?? '', ...providers.flatMap(({ name, slug }) => [name, slug])].join(' ');
  return search
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.toLowerCase().includes(word));
}
