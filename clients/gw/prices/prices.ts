import { read } from '../api/client.js';
import { sessionOf } from '../api/session.js';
import type { Action } from '../program/command.js';
import { Failure } from '../program/failure.js';
import type { Invocation } from '../program/invocation.js';
import { listed } from '../program/lists.js';
import { providerOf } from '../providers/providers.js';
import { facts } from '../terminal/table.js';

/** Rates by name, as in the API. */
type Rates = Readonly<Record<string, unknown>>;

const MAIN = ['input', 'output', 'cached_input'];

/** `gw price list` */
export const list: Action = async (gw) => {
  const { api } = await sessionOf(gw);
  const type = gw.text('provider');
  const catalog = Object.entries((await read(api.GET('/v1/admin/prices'))).prices)
    .filter(([name]) => type === undefined || name === type)
    .map(([name, models]) => [name, Object.entries(models).filter(([model]) => isNamed(gw, model))] as const)
    .filter(([, models]) => models.length > 0)
    .sort(byName);
  const rows = catalog.flatMap(([name, models]) =>
    [...models].sort(byName).map(([model, price]) => [model, name, ...ratesOf(price)]),
  );
  const prices = Object.fromEntries(catalog.map(([name, models]) => [name, Object.fromEntries(models)]));
  return listed(
    gw,
    { prices },
    {
      headings: ['MODEL', 'TYPE', 'INPUT', 'OUTPUT', 'CACHED', 'OTHER'],
      ...{ rows, none: 'The catalog has no prices.', filters: ['provider', 'query'] },
    },
  );
};

/** `gw price show` */
export const show: Action = async (gw) => {
  const [provider, model] = [gw.argument(0), gw.argument(1)];
  const { api } = await sessionOf(gw);
  const { prices } = await read(api.GET('/v1/admin/prices'));
  const models = Object.hasOwn(prices, provider) ? (prices[provider] ?? {}) : {};
  const price = Object.hasOwn(models, model) ? models[model] : undefined;
  if (price === undefined) {
    const nextAction = `List them: gw price list --provider ${provider}`;
    throw Failure.input('not_found', `The catalog has no price of "${model}" at "${provider}".`, { nextAction });
  }
  const rates = Object.fromEntries(Object.entries(price).map(([name, rate]) => [name, String(rate)]));
  const unit = 'US dollars per million tokens, or what the name of a rate says';
  return { result: { provider, model, price }, text: `${model} (${provider})\n\n${facts(rates)}\n\n${unit}` };
};

/** `gw model list` */
export const models: Action = async (gw) => {
  const { api } = await sessionOf(gw);
  const named = gw.text('provider');
  const [{ providers }, { prices }] = await Promise.all([
    read(api.GET('/v1/admin/providers')),
    read(api.GET('/v1/admin/prices')),
  ]);
  const only = named === undefined ? undefined : (await providerOf(api, named)).id;
  const found = providers
    .filter(({ id, status }) => (only === undefined ? status === 'active' : id === only))
    .flatMap(({ slug, type, pricing }) => {
      const own: Readonly<Record<string, Rates>> = pricing ?? {};
      const priced = new Map<string, Rates>([...Object.entries(prices[type] ?? {}), ...Object.entries(own)]);
      return [...priced]
        .filter(([model]) => isNamed(gw, model))
        .map(([model, price]) => ({
          ...{ model, provider: slug, type, price },
          source: Object.hasOwn(own, model) ? 'provider' : 'catalog',
        }));
    })
    .sort((one, other) => byName([one.model], [other.model]) || byName([one.provider], [other.provider]));
  const rows = found.map(({ model, provider, price, source }) => [model, provider, ...ratesOf(price), source]);
  return listed(
    gw,
    { models: found },
    {
      headings: ['MODEL', 'PROVIDER', 'INPUT', 'OUTPUT', 'CACHED', 'OTHER', 'PRICE OF'],
      ...{ rows, none: 'No active provider has a model with a price. Add one: gw provider add' },
      filters: ['provider', 'query'],
    },
  );
};

const isNamed = (gw: Invocation, model: string) => model.toLowerCase().includes((gw.text('query') ?? '').toLowerCase());

const byName = ([one]: readonly [string, ...unknown[]], [other]: readonly [string, ...unknown[]]) =>
  one < other ? -1 : one > other ? 1 : 0;

/** The rates that most models have, and how many others there are. */
function ratesOf(price: Rates): readonly string[] {
  const others = Object.entries(price).filter(([name, rate]) => typeof rate === 'number' && !MAIN.includes(name));
  const main = MAIN.map((name) => (typeof price[name] === 'number' ? String(price[name]) : '-'));
  return [...main, others.length === 0 ? '-' : `+${others.length}`];
}
