import { describe, expect, it } from '@jest/globals';
import { compilePrice, HIGHEST_RATE_USD } from './model-price.js';
import { buildPriceCatalog } from './price-catalog.js';
import { parsePriceFile } from './price-file.rules.js';

const NO_PRICE = ': needs per_minute, per_hour, per_image, per_request, per_1k_characters, or both input and output';
const RATES = { input: 1, output: 2 };
const parse = (content: unknown) => parsePriceFile(Buffer.from(JSON.stringify(content)));
const parsePrice = (price: unknown) => parse({ prices: { openai: { 'gpt-new': price } } });

function problemOf(read: () => unknown): string {
  try {
    read();
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
  return 'none';
}

describe('parsePriceFile', () => {
  it('the whole catalog in the format of the API → unchanged', () => {
    const prices = JSON.parse(JSON.stringify(buildPriceCatalog('2026-11-20')));
    expect(JSON.parse(JSON.stringify(parse({ prices })))).toEqual(prices);
  });

  it('some sections, some models, a type without its own section, an empty file → its contents', () => {
    const prices = { openrouter: { 'a/b': { per_minute: 0.1 } }, openai: { m: { per_hour: 0 }, n: RATES } };
    expect(parse({ prices })).toEqual(prices);
    expect(parse({ prices: {} })).toEqual({});
  });

  it('informative members → kept', () => {
    const price = {
      ...RATES,
      author: 'Lab',
      deprecated: true,
      retirement_date: '2027-01-31',
      long_context_threshold: 200_000,
    };
    expect(parsePrice(price).openai?.['gpt-new']).toEqual(price);
  });

  it('rates for quantities in a request, searches and tiers → kept', () => {
    const tiers = { flex: { input: 0.5 }, priority: { input: 2, output: 4, per_request: 0.2 }, batch: {} };
    const price = { ...RATES, per_request: 0.1, per_1k_web_searches: 14, tiers };
    expect(parsePrice(price).openai?.['gpt-new']).toEqual(price);
    for (const alone of [{ per_image: 0.04 }, { per_request: 0.1 }, { per_1k_characters: 0.015 }])
      expect(parsePrice(alone).openai?.['gpt-new']).toEqual(alone);
  });

  it.each([
    [{}, 'file.prices: is required'],
    [{ prices: {}, date: 'x' }, 'file.date: is not a known field'],
    [{ prices: [] }, 'file.prices: must be an object'],
    [{ prices: { acme: {} } }, 'file.prices.acme: is not a provider type'],
    [{ prices: { openai: { '': RATES } } }, 'file.prices.openai."": must be a model name of 1 to 200 characters'],
    [{ prices: { openai: { constructor: RATES } } }, 'file.prices.openai.constructor: is a reserved name'],
  ])('%j → %s', (content, problem) => {
    expect(problemOf(() => parse(content))).toBe(problem);
  });

  it.each([
    [{ ...RATES, inputs: 1 }, '.inputs: is not a known field'],
    [{ ...RATES, input: -1 }, '.input: must be at least 0'],
    [{ ...RATES, cached_input: '1' }, '.cached_input: must be a number'],
    [{ ...RATES, output: null }, '.output: must be a number'],
    [{ ...RATES, output: HIGHEST_RATE_USD + 1 }, `.output: must be at most ${HIGHEST_RATE_USD}`],
    [{ ...RATES, long_context_threshold: 0.5 }, '.long_context_threshold: must be an integer'],
    [{ ...RATES, tiers: { turbo: RATES } }, '.tiers.turbo: is not a known field'],
    [{ ...RATES, tiers: { flex: { input: -1 } } }, '.tiers.flex.input: must be at least 0'],
    [{ ...RATES, tiers: { flex: { author: 'Lab' } } }, '.tiers.flex.author: is not a known field'],
    [{ per_1k_web_searches: 1 }, NO_PRICE],
    [{ tiers: { flex: RATES } }, NO_PRICE],
    [{ ...RATES, deprecated: 'yes' }, '.deprecated: must be true or false'],
    [{ ...RATES, retirement_date: 'soon' }, '.retirement_date: must be a day such as 2027-01-31'],
    [{ input: 1 }, NO_PRICE],
    [{}, NO_PRICE],
  ])('a price %j → %s', (price, problem) => {
    expect(problemOf(() => parsePrice(price))).toBe(`file.prices.openai.gpt-new${problem}`);
  });

  it.each([
    ['1e400', 'file.prices.openai.m.per_minute: does not fit into double precision; send fewer digits, or a text'],
    ['NaN', 'file: is not valid JSON'],
  ])('a rate of %s → %s', (rate, problem) => {
    const text = `{"prices":{"openai":{"m":{"per_minute":${rate}}}}}`;
    expect(problemOf(() => parsePriceFile(Buffer.from(text)))).toBe(problem);
  });

  it('the highest rate, with and without decimals → compiles', () => {
    for (const rate of [HIGHEST_RATE_USD, HIGHEST_RATE_USD - 0.000000001, 5e-324]) {
      const price = parsePrice({ per_minute: rate }).openai?.['gpt-new'];
      expect(() => compilePrice(price ?? {})).not.toThrow();
    }
  });
});
