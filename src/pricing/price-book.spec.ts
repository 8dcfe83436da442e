import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { FakeClock } from '../../test/support/clock.js';
import { aPriceBook } from '../../test/support/providers/price-books.js';
import { toCustomPriceMap } from './custom-pricing.rules.js';
import { compilePrice } from './model-price.js';
import { PriceBook } from './price-book.js';
import { buildPriceCatalog, priceChangeDays } from './price-catalog.js';

const CATALOG = buildPriceCatalog('2026-11-20');
const BOOK = aPriceBook(CATALOG);
const GPT_4O_PRICE = { input: 2.5, output: 10, cached_input: 1.25, per_1k_web_searches: 10, per_1k_file_searches: 2.5 };
const GPT_4O = compilePrice(GPT_4O_PRICE);

describe('PriceBook.find', () => {
  it('name: exactly the catalog entry → its price', () => {
    expect(BOOK.find('openai', 'gpt-4o')).toEqual(GPT_4O);
  });

  it('name: a dated snapshot → the price of its model, the same on the second call', () => {
    expect(BOOK.find('openai', 'gpt-4o-2024-08-06')).toEqual(GPT_4O);
    expect(BOOK.find('openai', 'gpt-4o-2024-08-06')).toBe(BOOK.find('openai', 'gpt-4o'));
  });

  it('name: a snapshot with its own entry → that entry, not the family’s', () => {
    expect(BOOK.find('openai', 'gpt-4o-2024-05-13')?.tokens?.input).toBe(5_000_000_000);
  });

  it('alias: its model has a corrected price → the corrected price', () => {
    expect(BOOK.find('openai', 'gpt-5.6')?.longContext?.thresholdTokens).toBe(272_000);
  });

  it.each([
    ['openai', 'gpt-4.1-2025-04-14', 'gpt-4.1'],
    ['openai', 'gpt-5-nano-2025-08-07', 'gpt-5-nano'],
    ['openai', 'gpt-4-0613', 'gpt-4'],
    ['openai', 'ft:gpt-4o-2024-08-06:acme::abc123', 'ft:gpt-4o'],
    ['openai', 'ft:gpt-4o-mini-2024-07-18:acme:notes:abc123', 'ft:gpt-4o-mini'],
    ['openai', 'computer-use-preview-2025-03-11', 'computer-use'],
    ['anthropic', 'claude-sonnet-4-20250514', 'claude-sonnet-4-0'],
    ['anthropic', 'claude-sonnet-4-5-20250929', 'claude-sonnet-4-5'],
    ['anthropic', 'claude-sonnet-4.5', 'claude-sonnet-4-5'],
    ['anthropic', 'claude-3-5-haiku-20241022', 'claude-3-5-haiku-latest'],
    ['mistral', 'mistral-large-2411', 'mistral-large'],
    ['gemini', 'gemini-2.0-flash-001', 'gemini-2.0-flash'],
    ['gemini', 'gemini-2.5-flash-lite-preview-06-17', 'gemini-2.5-flash-lite'],
    ['gemini', 'gemini-2.5-flash-preview-09-2025', 'gemini-2.5-flash'],
    ['gemini', 'gemini-2.5-flash-native-audio-preview-09-2025', 'gemini-live-2.5-flash'],
    ['gemini', 'models/gemini-2.5-flash', 'gemini-2.5-flash'],
    ['gemini', 'models/gemini-2.5-pro-preview-06-05', 'gemini-2.5-pro'],
    ['gemini', 'gemini-flash-latest', 'gemini-3.5-flash'],
    ['gemini', 'models/gemini-pro-latest', 'gemini-3.1-pro-preview'],
    ['deepseek', 'deepseek-r1', 'deepseek-reasoner'],
  ] as const)('name: %s %s → the entry %s', (type, model, entry) => {
    expect(BOOK.find(type, entry)).toBeDefined();
    expect(BOOK.find(type, model)).toBe(BOOK.find(type, entry));
  });

  it.each([
    ['anthropic', 'claude-sonnet-5-5'],
    ['anthropic', 'claude-sonnet-5-turbo'],
    ['anthropic', 'claude-opus-4-55'],
    ['anthropic', 'claude-2.1'],
    ['openai', 'gpt-5-nano-x'],
    ['openai', 'gpt-4o-audio-preview-pro-2025-01-01'],
    ['openai', 'my-moderation'],
    ['openai', 'ft:gpt-4.1-2025-04-14:acme::abc'],
    ['openai', 'models/gpt-4o'],
    ['gemini', 'gemini-3.8-flash-ultra'],
    ['gemini', 'tuned-gemini-1.5-pro'],
    ['gemini', 'models/models/gemini-2.5-flash'],
    ['deepseek', 'deepseek-v4-pro-max'],
    ['moonshot', 'kimi-k2.5-highspeed'],
    ['cerebras', 'cerebras/gpt-oss-120b-fast'],
  ] as const)('name: %s %s only starts or ends like a listed one → no price', (type, model) => {
    expect(BOOK.find(type, model)).toBeUndefined();
  });

  it('custom: Gemini’s resource name → the custom price of the model, or of exactly that name', () => {
    const custom = toCustomPriceMap({ 'gemini-2.5-flash': { input: 1, output: 2 } });
    expect(BOOK.find('gemini', 'models/gemini-2.5-flash', custom)).toEqual(compilePrice({ input: 1, output: 2 }));
  });

  it('type: the model of another provider type, or a type without a section → no price', () => {
    expect(BOOK.find('anthropic', 'gpt-4o')).toBeUndefined();
    expect(BOOK.find('openrouter', 'openai/gpt-4o')).toBeUndefined();
    expect(BOOK.find('bytedance', 'seed')).toBeUndefined();
    expect(BOOK.find('gemini', 'claude-opus-4-5-20251101')).toBeUndefined();
    expect(BOOK.find('gemini', 'claude-sonnet-4-5')).toBeUndefined();
  });

  it('moderation, which is free → a price of zero, under every alias', () => {
    for (const model of ['omni-moderation-latest', 'omni-moderation-2024-09-26', 'text-moderation-stable']) {
      expect(BOOK.find('openai', model)).toEqual(compilePrice({ input: 0, output: 0 }));
    }
  });

  it('custom: a price of the instance → replaces the catalog entry, cached and long rates included', () => {
    const custom = toCustomPriceMap({ 'gpt-5.6-sol': { input: 1, output: 2 } });
    expect(BOOK.find('openai', 'gpt-5.6-sol', custom)).toEqual(compilePrice({ input: 1, output: 2 }));
    expect(BOOK.find('openai', 'gpt-4o', custom)).toEqual(GPT_4O);
    expect(BOOK.find('openai', 'gpt-5.6-sol')?.longContext).toBeDefined();
  });

  it.each(['__proto__', 'constructor', 'toString', 'prototype', ''])(
    'hostile: a model called %p → no price',
    (model) => {
      expect(BOOK.find('openai', model)).toBeUndefined();
      expect(BOOK.find('openai', model, toCustomPriceMap(null))).toBeUndefined();
    },
  );

  it('hostile: any text as a model → a price or none, never an error', () => {
    const types = fc.constantFrom('openai', 'gemini', 'anthropic', 'xai', 'huggingface');
    const model = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc
        .tuple(fc.constantFrom('gpt-4o-', 'claude-sonnet-5', 'gemini-2.5-pro-', 'grok-4.5-'), fc.string())
        .map((s) => s.join('')),
    );
    fc.assert(fc.property(types, model, (type, name) => expect(() => BOOK.find(type, name)).not.toThrow()));
  });

  it('hostile: a name longer than any model → no price, even if it starts like one', () => {
    const custom = toCustomPriceMap({ [`m${'-'.repeat(199)}`]: { input: 1, output: 2 } });
    expect(BOOK.find('anthropic', `m${'-'.repeat(199)}`, custom)).toBeDefined();
    expect(BOOK.find('anthropic', `claude-sonnet-5${'-'.repeat(200)}`)).toBeUndefined();
  });

  it('hostile: more names than are cached → every answer stays correct', () => {
    for (let index = 0; index < 2000; index++) expect(BOOK.find('openai', `unknown-${index}`)).toBeUndefined();
    expect(BOOK.find('openai', 'gpt-4o-2024-08-06')).toEqual(GPT_4O);
  });
});

describe('PriceBook.list', () => {
  it('list: as JSON → the response format, without names that were only looked up', () => {
    const wire = JSON.parse(JSON.stringify(BOOK.list()));
    expect(wire.openai['gpt-4o']).toEqual(GPT_4O_PRICE);
    expect(Object.hasOwn(wire.openai, 'gpt-4o-2024-08-06')).toBe(false);
    expect(Object.hasOwn(wire, 'openrouter')).toBe(false);
  });
});

describe('PriceBook by day', () => {
  const DAY_MS = 24 * 60 * 60 * 1000;
  const GEMINI_CHANGE_MS = Date.UTC(2027, 0, 1);

  function aDatedBook(nowMs: number) {
    const built: string[] = [];
    const clock = new FakeClock(nowMs);
    const catalogOn = (day: string) => {
      built.push(day);
      return buildPriceCatalog(day);
    };
    return { book: new PriceBook({ changeDays: priceChangeDays(), catalogOn }, clock), clock, built };
  }

  it('change days: of the library, ascending, each once', () => {
    const days = priceChangeDays();
    expect(days).toEqual(expect.arrayContaining(['2025-06-10', '2026-07-30', '2026-08-21', '2027-01-01']));
    expect(days).toEqual([...new Set(days)].sort());
  });

  it('midnight of a change passes → the new price, in calls and in the list, without a restart', () => {
    const { book, clock } = aDatedBook(GEMINI_CHANGE_MS - 1);
    expect(book.find('gemini', 'gemini-3.6-flash')?.tokens?.input).toBe(750_000_000);
    expect(book.list().gemini?.['gemini-3.6-flash']?.output).toBe(3.75);
    expect(book.list(clock.nowMs())).not.toBe(book.list(GEMINI_CHANGE_MS));
    expect(book.list(clock.nowMs())).toBe(book.list(GEMINI_CHANGE_MS - DAY_MS));
    clock.advance(1);
    expect(book.find('gemini', 'gemini-3.6-flash')?.tokens?.input).toBe(1_500_000_000);
    expect(book.list().gemini?.['gemini-3.6-flash']?.output).toBe(7.5);
  });

  it('an alias that was looked up before the change → the new price of its model', () => {
    const { book, clock } = aDatedBook(GEMINI_CHANGE_MS - 1);
    const alias = 'gemini-3.6-flash-001';
    expect(book.find('gemini', alias)?.tokens?.input).toBe(750_000_000);
    clock.advance(1);
    expect(book.find('gemini', alias)?.tokens?.input).toBe(1_500_000_000);
  });

  it('past days → the price of each, whatever today is', () => {
    const { book } = aDatedBook(GEMINI_CHANGE_MS);
    const outputOn = (...day: [number, number, number]) =>
      book.find('openai', 'gpt-5.6-sol', undefined, Date.UTC(...day))?.tokens?.output;
    expect([outputOn(2026, 7, 20), outputOn(2026, 7, 21), outputOn(2025, 0, 1)]).toEqual([
      ...[30_000_000_000, 20_000_000_000, 30_000_000_000],
    ]);
    expect(book.find('gemini', 'gemini-3.6-flash')?.tokens?.input).toBe(1_500_000_000);
  });

  it('corrections → apply on every day', () => {
    const { book } = aDatedBook(GEMINI_CHANGE_MS);
    const before = book.find('openai', 'gpt-5.6-sol', undefined, Date.UTC(2026, 7, 1));
    expect(before?.longContext?.thresholdTokens).toBe(272_000);
  });

  it('property: a day → the catalog of that very day; built once between two changes', () => {
    const { book, built } = aDatedBook(GEMINI_CHANGE_MS);
    const instants = fc.integer({ min: Date.UTC(2025, 0, 1), max: Date.UTC(2027, 11, 31) });
    const models = fc.constantFrom(
      ...([
        ['openai', 'gpt-5.6-luna'],
        ['openai', 'o3'],
        ['anthropic', 'claude-opus-4-6'],
        ['deepseek', 'deepseek-v4-pro'],
        ['mistral', 'mistral-medium-latest'],
        ['gemini', 'gemini-3.8-flash'],
      ] as const),
    );
    fc.assert(
      fc.property(instants, models, (atMs, [type, model]) => {
        const ofDay = buildPriceCatalog(new Date(atMs).toISOString().slice(0, 10))[type]?.[model];
        expect(book.find(type, model, undefined, atMs)).toEqual(ofDay && compilePrice(ofDay));
      }),
    );
    expect(built.length).toBeLessThanOrEqual(priceChangeDays().length + 1);
  });

  it('a custom price → the same on every day', () => {
    const { book } = aDatedBook(GEMINI_CHANGE_MS);
    const custom = toCustomPriceMap({ 'gemini-3.6-flash': { input: 1, output: 2 } });
    for (const atMs of [0, GEMINI_CHANGE_MS - DAY_MS, GEMINI_CHANGE_MS]) {
      expect(book.find('gemini', 'gemini-3.6-flash', custom, atMs)?.tokens?.input).toBe(1_000_000_000);
    }
  });
});
