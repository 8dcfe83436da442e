import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { toCustomPriceMap } from './custom-pricing.rules.js';
import { compilePrice } from './model-price.js';
import { PriceBook } from './price-book.js';
import { buildPriceCatalog } from './price-catalog.js';

const CATALOG = buildPriceCatalog('2026-11-20');
const BOOK = new PriceBook(CATALOG);
const GPT_4O = compilePrice({ input: 2.5, output: 10, cached_input: 1.25 });

describe('PriceBook.find', () => {
  it('name: exactly the catalog entry → its price', () => {
    expect(BOOK.find('openai', 'gpt-4o')).toEqual(GPT_4O);
  });

  it('name: a dated snapshot → the price of its model, the same on the second call', () => {
    expect(BOOK.find('openai', 'gpt-4o-2024-08-06')).toEqual(GPT_4O);
    expect(BOOK.find('openai', 'gpt-4o-2024-08-06')).toBe(BOOK.find('openai', 'gpt-4o'));
  });

  it('name: a snapshot with an entry of its own → that entry, not the family', () => {
    expect(BOOK.find('openai', 'gpt-4o-2024-05-13')?.tokens?.input).toBe(5_000_000_000);
  });

  it('alias: its model has a correction of ours → the corrected price', () => {
    expect(BOOK.find('openai', 'gpt-5.6')?.longContext?.thresholdTokens).toBe(272_000);
  });

  it('type: the model of another provider type, or a type without a section → no price', () => {
    expect(BOOK.find('anthropic', 'gpt-4o')).toBeUndefined();
    expect(BOOK.find('openrouter', 'openai/gpt-4o')).toBeUndefined();
    expect(BOOK.find('bytedance', 'seed')).toBeUndefined();
    expect(BOOK.find('gemini', 'claude-opus-4-5-20251101')).toBeUndefined();
    expect(BOOK.find('gemini', 'claude-sonnet-4-5')).toBeUndefined();
  });

  it('free of charge in the library, so without a price → no price under an alias either', () => {
    expect(BOOK.find('openai', 'omni-moderation-latest')).toBeUndefined();
  });

  it('custom: a price of the row → replaces the catalog entry, cached and long rates included', () => {
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

  it('hostile: any text as a model → an answer, never an error', () => {
    const types = fc.constantFrom('openai', 'gemini', 'anthropic', 'xai', 'huggingface');
    const model = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc
        .tuple(fc.constantFrom('gpt-4o-', 'claude-sonnet-5', 'gemini-2.5-pro-', 'grok-4.5-'), fc.string())
        .map((s) => s.join('')),
    );
    fc.assert(fc.property(types, model, (type, name) => expect(() => BOOK.find(type, name)).not.toThrow()));
  });

  it('hostile: a name longer than any model → no price, although it begins like one', () => {
    expect(BOOK.find('anthropic', `claude-sonnet-5${'-'.repeat(100)}`)).toBeDefined();
    expect(BOOK.find('anthropic', `claude-sonnet-5${'-'.repeat(200)}`)).toBeUndefined();
  });

  it('hostile: more names than are remembered → every answer stays right', () => {
    for (let index = 0; index < 2000; index++) expect(BOOK.find('openai', `unknown-${index}`)).toBeUndefined();
    expect(BOOK.find('openai', 'gpt-4o-2024-08-06')).toEqual(GPT_4O);
  });
});

describe('PriceBook.list', () => {
  it('list: as JSON → the wire shape, without names that were only looked up', () => {
    const wire = JSON.parse(JSON.stringify(BOOK.list()));
    expect(wire.openai['gpt-4o']).toEqual({ input: 2.5, output: 10, cached_input: 1.25 });
    expect(Object.hasOwn(wire.openai, 'gpt-4o-2024-08-06')).toBe(false);
    expect(Object.hasOwn(wire, 'openrouter')).toBe(false);
  });
});
