import { describe, expect, it } from '@jest/globals';
import { OutputLimits, outputLimitOf } from './output-limits.service.js';

const FALLBACK = 131_072;

describe('the longest answer of a model (ADR 0017)', () => {
  it.each([
    ['openai', 'gpt-4o', 16_384],
    ['openai', 'gpt-4o-2024-08-06', 16_384],
    ['openai', 'gpt-3.5-turbo-0125', 4_096],
    ['openai', 'gpt-4o-64k-output-alpha', undefined],
    ['openai', 'gpt-5-pro', 272_000],
    ['anthropic', 'claude-sonnet-4-20250514', 64_000],
    ['anthropic', 'claude-3-5-haiku-latest', 8_192],
    ['anthropic', 'claude-3-7-sonnet-20250219', 128_000],
    ['gemini', 'gemini-2.0-flash-001', 8_192],
    ['deepseek', 'deepseek-reasoner', 65_536],
    ['groq', 'gpt-4o', undefined],
    ['openai', 'constructor', undefined],
    ['anthropic', 'claude-of-tomorrow', undefined],
  ] as const)('%s %s → %s', (type, model, expected) => {
    expect(outputLimitOf(type, model, undefined, FALLBACK)).toBe(expected);
  });

  it.each([
    ['a small one, rounded by the library → the next power of two', 32_000, 32_768],
    ['as large as the default → the default', 128_000, undefined],
    ['a large one → the default', 1_000_000, undefined],
    ['none', 0, undefined],
  ])('only the context is known, %s', (_name, context, expected) => {
    expect(outputLimitOf('openai', 'another', context, FALLBACK)).toBe(expected);
    expect(outputLimitOf('openai', 'gpt-4o', context, FALLBACK)).toBe(16_384);
  });

  it('called again → the same, even for unknown models', () => {
    const limits = new OutputLimits();
    const ask = () => [limits.find('openai', 'gpt-4o'), limits.find('openai', 'x'), limits.find('bytedance', 'x')];
    expect([ask(), ask()]).toEqual([
      [16_384, undefined, undefined],
      [16_384, undefined, undefined],
    ]);
  });
});
