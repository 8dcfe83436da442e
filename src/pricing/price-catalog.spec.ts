import { describe, expect, it } from '@jest/globals';
import { fastestMs } from '../../test/support/fastest-ms.js';
import { compilePrice, isBillable } from './model-price.js';
import { buildPriceCatalog, findModelId } from './price-catalog.js';

const TODAY = '2026-11-20';
const CATALOG = buildPriceCatalog(TODAY);

describe('buildPriceCatalog', () => {
  it.each([
    ['gpt-5.6-sol', { input: 4, output: 20, cached_input: 0.4, cache_write: 5, long_context_threshold: 272_000 }],
    ['gpt-5.6-sol', { long_input: 8, long_output: 30 }],
    ['gpt-4.1', { input: 2, output: 8, cached_input: 0.5 }],
    ['gpt-4o-mini-transcribe', { input: 1.25, output: 5 }],
  ])('sample: openai %s → %p', (model, price) => {
    expect(CATALOG.openai?.[model]).toMatchObject(price);
  });

  it('sample: whisper-1 → per minute only', () => {
    expect(CATALOG.openai?.['whisper-1']).toEqual({ per_minute: 0.006 });
  });

  it('sample: the other providers → as documented', () => {
    expect(CATALOG.anthropic?.['claude-sonnet-5']).toMatchObject({
      ...{ input: 2, output: 10, cached_input: 0.2, cache_write: 2.5 },
    });
    expect(CATALOG.xai?.['grok-4.5']).toMatchObject({
      ...{ input: 2, output: 6, cached_input: 0.3, long_context_threshold: 200_000 },
    });
    expect(CATALOG.xai?.['grok-transcribe']).toEqual({ per_hour: 0.1 });
    expect(CATALOG.gemini?.['gemini-2.5-flash']).toMatchObject({ input: 0.3, output: 2.5, cached_input: 0.03 });
    expect(CATALOG.gemini?.['gemini-2.5-pro']).toMatchObject({
      ...{ input: 1.25, output: 10, long_context_threshold: 200_000 },
    });
    expect(CATALOG.perplexity?.sonar).toMatchObject({ input: 1, output: 1 });
  });

  it('sections: the library contains every mapped provider → none is empty', () => {
    const types = 'openai anthropic xai gemini perplexity deepseek groq mistral together cerebras moonshot baseten';
    for (const [type, section] of Object.entries(CATALOG)) {
      expect([type, Object.keys(section).length > 3]).toEqual([type, type !== 'bytedance']);
    }
    expect(Object.keys(CATALOG).sort()).toEqual([...types.split(' '), 'bytedance'].sort());
  });

  it('entries: every one → billable, compiles, has one unit', () => {
    for (const [type, section] of Object.entries(CATALOG)) {
      for (const [model, price] of Object.entries(section)) {
        const byTime = price.per_minute !== undefined || price.per_hour !== undefined;
        expect([type, model, isBillable(price), byTime]).toEqual([type, model, true, price.input === undefined]);
        expect(() => compilePrice(price)).not.toThrow();
      }
    }
  });

  it('gemini: models of another author in the same cloud → not listed', () => {
    expect(Object.keys(CATALOG.gemini ?? {}).filter((model) => !/^gem/.test(model))).toEqual([]);
  });

  it('hostile: names that every object inherits → not present', () => {
    for (const name of ['__proto__', 'toString', 'constructor', 'hasOwnProperty']) {
      expect(Object.entries(CATALOG).map(([, section]) => section[name])).toEqual(
        Object.keys(CATALOG).map(() => undefined),
      );
      expect(name in CATALOG).toBe(false);
    }
  });

  it('speed: one build, best of five → under 50 ms', () => {
    const run = () => {
      buildPriceCatalog(TODAY);
    };
    expect(fastestMs(run)).toBeLessThan(50);
  });
});

describe('findModelId', () => {
  it.each([
    ['openai', 'gpt-4o-2024-08-06', 'gpt-4o'],
    ['openai', 'gpt-5.6', 'gpt-5.6-sol'],
    ['anthropic', 'claude-sonnet-4-5-20250929', 'claude-sonnet-4-5'],
    ['xai', 'grok-4.5-latest', 'grok-4.5'],
  ] as const)('alias: %s %s → %s', (type, alias, id) => {
    expect(findModelId(type, alias)).toBe(id);
  });

  it.each([
    ['openai', 'no-such-model'],
    ['openai', ''],
    ['openai', '__proto__'],
    ['bytedance', 'seed'],
    ['openrouter', 'openai/gpt-4o'],
    ['fireworks', 'toString'],
  ] as const)('alias: %s %s → unknown', (type, alias) => {
    expect(findModelId(type, alias)).toBeUndefined();
  });
});
