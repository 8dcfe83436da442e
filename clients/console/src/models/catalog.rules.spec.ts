import { describe, expect, it } from '@jest/globals';
import type { Provider } from '../api/queries';
import { catalogOf, costWords, isFound, lifeOf, otherWords, pricesOf, priceWords } from './catalog.rules';

const TODAY = '2026-11-28';
const provider = (slug: string, type: string, pricing: Provider['pricing'] = null) =>
  ({ id: slug, slug, type, name: slug.toUpperCase(), pricing }) as Provider;
const PRICES = {
  openai: { 'gpt-a': { input: 1, output: 2, author: 'OpenAI' }, 'gpt-b': { input: 3, output: 4 } },
  mistral: { mixtral: { input: 5, output: 6, retirement_date: '2026-12-31' } },
};
const MINE = [provider('main', 'openai'), provider('cheap', 'openai', { 'gpt-a': { input: 0.5, output: 1 } })];

const lines = (providers: readonly Provider[]) =>
  catalogOf(providers, PRICES).map(({ model, providers: by, isOwn }) => [model, by.map(({ slug }) => slug), isOwn]);

describe('catalogOf', () => {
  it('a provider with its own price → its own line, and no longer on the line of the list price', () => {
    expect(lines(MINE)).toEqual([
      ['gpt-a', ['cheap'], true],
      ['gpt-a', ['main'], false],
      ['gpt-b', ['main', 'cheap'], false],
      ['mixtral', [], false],
    ]);
  });

  it('no provider → the list price alone', () => {
    expect(lines([]).map(([model]) => model)).toEqual(['gpt-a', 'gpt-b', 'mixtral']);
  });
});

describe('pricesOf', () => {
  it('models of these providers only, each with every price that is charged', () => {
    const found = pricesOf(MINE, PRICES);
    expect([...found.keys()]).toEqual(['gpt-a', 'gpt-b']);
    expect(costWords(found.get('gpt-a'), TODAY)).toBe('the price depends on the provider');
    expect(costWords(found.get('gpt-b'), TODAY)).toBe('$3 in · $4 out per 1M tokens');
    expect(costWords(found.get('mixtral'), TODAY)).toBeUndefined();
  });
});

it.each([
  [{ input: 0.5, output: 2 }, '$0.50 in · $2 out per 1M tokens', ''],
  [{ per_minute: 0.006 }, '$0.006 a minute', '$0.006 a minute'],
  [{ input: 1, output: 2, audio_input: 32, cached_input: 0.1 }, '$1 in · $2 out per 1M tokens', 'audio input $32'],
  [{ input: 1, output: 2, per_1k_web_searches: 10 }, '$1 in · $2 out per 1M tokens', '1,000 web searches $10'],
  [{ per_image: 0.04 }, '$0.04 an image', '$0.04 an image'],
  [
    { input: 1, output: 2, tiers: { flex: { input: 0.5, output: 1 }, priority: { per_request: 0.1 } } },
    '$1 in · $2 out per 1M tokens',
    'flex: input $0.50, output $1 · priority: $0.10 a request',
  ],
  [{ image_output: 40 }, 'priced by other measures', 'image output $40'],
])('%j → %s; also: %s', (price, words, other) => {
  expect([priceWords(price), otherWords(price)]).toEqual([words, other]);
});

it.each([
  [undefined, 'open'],
  ['2026-11-29', 'ending'],
  ['2026-11-28', 'ended'],
  ['2025-01-01', 'ended'],
])('retirement on %s → %s', (retirement_date, life) => {
  expect(lifeOf(retirement_date === undefined ? {} : { retirement_date }, TODAY)).toBe(life);
});

it('deprecated, with or without an end → the end counts', () => {
  expect(lifeOf({ deprecated: true }, TODAY)).toBe('deprecated');
  expect(lifeOf({ deprecated: true, retirement_date: '2027-01-31' }, TODAY)).toBe('ending');
  expect(costWords([{ input: 1, output: 2, deprecated: true }], TODAY)).toBe(
    '$1 in · $2 out per 1M tokens, deprecated',
  );
  expect(otherWords({ input: 1, output: 2, deprecated: true })).toBe('');
});

it('a search → words of model, author, type and providers, in any order and case', () => {
  const [own, listed] = catalogOf(MINE, PRICES);
  if (own === undefined || listed === undefined) throw new Error('no models');
  expect([isFound(listed, 'MAIN gpt'), isFound(listed, 'openai a'), isFound(listed, '')]).toEqual([true, true, true]);
  expect([isFound(own, 'main'), isFound(listed, 'gpt-b')]).toEqual([false, false]);
});
