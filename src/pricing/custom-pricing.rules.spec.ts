import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { GatewayError } from '../common/errors/gateway-error.js';
import { parseCustomPricing, toCustomPriceMap } from './custom-pricing.rules.js';
import { compilePrice } from './model-price.js';

const PRICE = { input: 1, output: 2 };

function refusalOf(raw: unknown, path?: string): string {
  try {
    parseCustomPricing(raw, path);
  } catch (error) {
    if (error instanceof GatewayError && error.code === 'invalid_request') return error.message;
    throw error;
  }
  return 'accepted';
}

describe('parseCustomPricing: accepted', () => {
  it('null → null, which clears', () => {
    expect(parseCustomPricing(null)).toBeNull();
  });

  it('every field → kept; model name trimmed', () => {
    const full = { ...PRICE, cached_input: 0, cache_write: 3, audio_input: 4, audio_output: 5, cached_audio_input: 6 };
    const parsed = parseCustomPricing({ ' gpt-x ': { ...full, per_minute: 7 }, whisper: { per_minute: 0 } });
    expect(Object.entries(parsed ?? {})).toEqual([
      ['gpt-x', { ...full, per_minute: 7 }],
      ['whisper', { per_minute: 0 }],
    ]);
  });

  it('rates of images, requests, characters, searches and tiers → stored and compiled', () => {
    const tiers = { flex: { input: 0.5, output: 1 }, priority: { per_image: 1 }, batch: {} };
    const pricing = {
      ...{ picture: { per_image: 0.04 }, fee: { per_request: 0.01 }, voice: { per_1k_characters: 0.015 } },
      all: { ...PRICE, per_image: 1, per_request: 2, per_1k_characters: 3, per_1k_web_searches: 4, tiers },
    };
    expect({ ...parseCustomPricing(pricing) }).toEqual(pricing);
    expect(toCustomPriceMap(pricing).get('all')?.tiers?.flex?.tokens?.input).toBe(500_000_000);
  });

  it('limits: a name of 200 characters, a rate of 0 and of 1 000 000 → accepted', () => {
    expect(refusalOf({ ['x'.repeat(200)]: { input: 0, output: 1_000_000 } })).toBe('accepted');
  });

  it('hostile: models called constructor, prototype and toString → plain entries', () => {
    const parsed = parseCustomPricing({ constructor: PRICE, prototype: PRICE, toString: PRICE });
    expect(Object.getPrototypeOf(parsed)).toBeNull();
    const prices = toCustomPriceMap(parsed);
    expect([...prices.keys()]).toEqual(['constructor', 'prototype', 'toString']);
    expect(prices.get('hasOwnProperty')).toBeUndefined();
  });
});

describe('parseCustomPricing: refused', () => {
  it.each<[string, unknown]>([
    ['pricing.gpt-x.input: must be a number of at least 0', { 'gpt-x': { input: -1, output: 1 } }],
    ['pricing.gpt-x.input: must be a number of at least 0', { 'gpt-x': { input: '1', output: 1 } }],
    ['pricing.gpt-x.output: must be a number of at least 0', { 'gpt-x': { input: 1, output: null } }],
    ['pricing.gpt-x.output: must be a number of at least 0', { 'gpt-x': { input: 1, output: Number.NaN } }],
    ['pricing.gpt-x.input: must be a number of at least 0', { 'gpt-x': { input: Number.POSITIVE_INFINITY } }],
    ['pricing.gpt-x.input: must be at most 1000000', { 'gpt-x': { input: 1_000_000.1, output: 1 } }],
    ['pricing.gpt-x.output: is required', { 'gpt-x': { input: 1 } }],
    ['pricing.gpt-x.input: is required', { 'gpt-x': {} }],
    ['pricing.gpt-x.input: is required', { 'gpt-x': { per_minute: 1, cached_input: 1 } }],
    ['pricing.gpt-x.input: is required', { 'gpt-x': { per_1k_web_searches: 1 } }],
    ['pricing.gpt-x.output: is required', { 'gpt-x': { input: 1, per_image: 1 } }],
    ['pricing.gpt-x.input: is required', { 'gpt-x': { tiers: { flex: PRICE } } }],
    ['pricing.gpt-x.per_image: must be a number of at least 0', { 'gpt-x': { per_image: '1' } }],
    ['pricing.gpt-x.tiers: must be an object', { 'gpt-x': { ...PRICE, tiers: null } }],
    ['pricing.gpt-x.tiers.fast: must be flex, priority, batch', { 'gpt-x': { ...PRICE, tiers: { fast: PRICE } } }],
    ['pricing.gpt-x.tiers.flex: must be an object', { 'gpt-x': { ...PRICE, tiers: { flex: 1 } } }],
    [
      'pricing.gpt-x.tiers.flex.input: must be at most 1000000',
      { 'gpt-x': { ...PRICE, tiers: { flex: { input: 1e9 } } } },
    ],
    [
      'pricing.gpt-x.tiers.flex.tiers: is not a known member',
      { 'gpt-x': { ...PRICE, tiers: { flex: { tiers: {} } } } },
    ],
    ['pricing.gpt-x.per_hour: is not a known member', { 'gpt-x': { ...PRICE, per_hour: 1 } }],
    ['pricing.gpt-x.toString: is not a known member', { 'gpt-x': { ...PRICE, toString: 1 } }],
    ['pricing.gpt-x.__proto__: is not a known member', { 'gpt-x': JSON.parse('{"input":1,"output":1,"__proto__":1}') }],
    ['pricing.gpt-x: must be an object', { 'gpt-x': 5 }],
    ['pricing.gpt-x: must be an object', { 'gpt-x': [] }],
    ['pricing.gpt-x: must be an object', { 'gpt-x': null }],
    ['pricing.gpt-x: is given twice', { 'gpt-x': PRICE, 'gpt-x ': PRICE }],
    ['pricing: a model name must have 1 to 200 characters', { '  ': PRICE }],
    ['pricing: a model name must have 1 to 200 characters', { ['x'.repeat(201)]: PRICE }],
    ['pricing: a model name must be plain text', { 'a\0b': PRICE }],
    ['pricing: a model name must be plain text', { 'a\ud800': PRICE }],
    ['pricing: __proto__ is not a model name', JSON.parse('{" __proto__":{"input":1,"output":1}}')],
    ['pricing: must be an object', []],
    ['pricing: must be an object', 'free'],
    ['pricing: must be an object', undefined],
  ])('%s', (message, raw) => {
    expect(refusalOf(raw)).toBe(message);
  });

  it('path: given by the caller → used in the message', () => {
    expect(refusalOf({ m: 1 }, 'provider.pricing')).toBe('provider.pricing.m: must be an object');
  });

  it('any JSON → parsed prices that compile, or invalid_request; nothing else', () => {
    const rate = fc.oneof(fc.double({ min: 0, max: 100 }), fc.jsonValue());
    const price = fc.record({ input: rate, output: rate, per_minute: rate }, { requiredKeys: [] });
    const raw = fc.oneof(fc.jsonValue(), fc.dictionary(fc.string(), price));
    fc.assert(
      fc.property(raw, (value) => {
        if (refusalOf(value) === 'accepted') expect(() => toCustomPriceMap(parseCustomPricing(value))).not.toThrow();
      }),
    );
  });
});

describe('toCustomPriceMap', () => {
  it('stored prices → compiled; nothing stored → empty', () => {
    expect(toCustomPriceMap({ m: PRICE })).toEqual(new Map([['m', compilePrice(PRICE)]]));
    expect(toCustomPriceMap(null).size).toBe(0);
  });
});
