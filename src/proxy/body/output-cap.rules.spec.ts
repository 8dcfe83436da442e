import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { fuzzRuns } from '../../../test/support/jest/fuzz-runs.js';
import { GatewayError } from '../../common/errors/gateway-error.js';
import { REQUEST_NAMES } from '../json/checked-members.js';
import { applyEdits } from '../json/json-edit.js';
import { scanJson } from '../json/json-scan.js';
import { type OutputCap, validateOutputCap } from './output-cap.rules.js';

const CAP = 100;
type Style = OutputCap['style'];

function capped(text: string, style: Style, options: Partial<OutputCap> = {}): string {
  const body = scanJson(Buffer.from(text), REQUEST_NAMES);
  const { edits } = validateOutputCap(body, { style, cap: CAP, chatField: 'max_tokens', ...options });
  return applyEdits(body.bytes, edits).toString();
}

function refusal(text: string, style: Style, options: Partial<OutputCap> = {}): string {
  try {
    return `passed as ${capped(text, style, options)}`;
  } catch (error) {
    if (error instanceof GatewayError) return `${error.code} ${error.message}`;
    throw error;
  }
}

describe('output cap: set if the body has none', () => {
  it.each<[Style, string, string]>([
    ['responses', '{"model":"m"}', '{"model":"m","max_output_tokens":100}'],
    ['responses', '{"max_output_tokens":null}', '{"max_output_tokens":100}'],
    ['responses', '{"max_tokens":500}', '{"max_tokens":500,"max_output_tokens":100}'],
    ['anthropic', '{}', '{"max_tokens":100}'],
    ['chat_completions', '{}', '{"max_tokens":100}'],
    ['chat_completions', '{"max_tokens":null}', '{"max_tokens":100}'],
    [
      'chat_completions',
      '{"max_tokens":null,"max_completion_tokens":5}',
      '{"max_tokens":null,"max_completion_tokens":5}',
    ],
    ['chat_completions', '{"n":3}', '{"n":3,"max_tokens":33}'],
    ['chat_completions', '{"n":2,"best_of":5}', '{"n":2,"best_of":5,"max_tokens":20}'],
    ['chat_completions', '{"n":null}', '{"n":null,"max_tokens":100}'],
    ['gemini_native', '{}', '{"generationConfig":{"maxOutputTokens":100}}'],
    ['gemini_native', '{"generationConfig":null}', '{"generationConfig":{"maxOutputTokens":100}}'],
    ['gemini_native', '{"generationConfig":"x"}', '{"generationConfig":{"maxOutputTokens":100}}'],
    ['gemini_interactions', '{}', '{"generation_config":{"max_output_tokens":100}}'],
    ['gemini_interactions', '{"generation_config":null}', '{"generation_config":{"max_output_tokens":100}}'],
    ['gemini_interactions', '{"generation_config":5}', '{"generation_config":{"max_output_tokens":100}}'],
    [
      'gemini_interactions',
      '{"generation_config":{"seed":1,"max_output_tokens":null}}',
      '{"generation_config":{"seed":1,"max_output_tokens":100}}',
    ],
    ['gemini_native', '{"generation_config":{"topK":1}}', '{"generation_config":{"topK":1,"maxOutputTokens":100}}'],
    [
      'gemini_native',
      '{"generationConfig":{"max_output_tokens":null}}',
      '{"generationConfig":{"max_output_tokens":100}}',
    ],
    [
      'gemini_native',
      '{"generationConfig":{"maxOutputTokens":7},"generation_config":{"candidate_count":4}}',
      '{"generationConfig":{"maxOutputTokens":7},"generation_config":{"candidate_count":4,"maxOutputTokens":25}}',
    ],
    ['none', '{"max_tokens":"x"}', '{"max_tokens":"x"}'],
  ])('%s: %s → %s', (style, text, sent) => {
    expect(capped(text, style)).toBe(sent);
  });

  it('chat completions of the openai type → the field that this type expects', () => {
    expect(capped('{}', 'chat_completions', { chatField: 'max_completion_tokens' })).toBe(
      '{"max_completion_tokens":100}',
    );
  });

  it.each<[Style, string]>([
    ['responses', '{"max_output_tokens":100}'],
    ['anthropic', '{"max_tokens":1e2}'],
    ['chat_completions', '{"max_completion_tokens":25,"n":4}'],
    ['gemini_native', '{"generation_config":{"max_output_tokens":50,"candidateCount":2}}'],
  ])('%s: %s is within the cap → unchanged', (style, text) => {
    expect(capped(text, style)).toBe(text);
  });
});

describe('output cap: refusals', () => {
  it.each<[Style, string, string]>([
    ['responses', '{"max_output_tokens":101}', 'max_output_tokens: 101 is above the 100'],
    ['responses', '{"max_output_tokens":99999999999999999999}', 'max_output_tokens: 100000000000000000000 is above'],
    ['anthropic', '{"max_tokens":101}', 'max_tokens: 101'],
    ['chat_completions', '{"max_tokens":5,"max_completion_tokens":101}', 'max_completion_tokens: 101'],
    ['chat_completions', '{"max_tokens":26,"n":4}', 'max_tokens: 26 times n: 4 is above the 100'],
    ['chat_completions', '{"max_tokens":26,"n":1,"best_of":4}', 'times best_of: 4'],
    ['chat_completions', '{"n":101}', 'n: 101 choices do not fit'],
    ['chat_completions', '{"n":101,"max_tokens":0}', 'n: 101 choices do not fit'],
    [
      'gemini_native',
      '{"generationConfig":{"maxOutputTokens":5,"max_output_tokens":101}}',
      'generationConfig.max_output_tokens: 101',
    ],
    [
      'gemini_native',
      '{"generationConfig":{"maxOutputTokens":51},"generation_config":{"candidate_count":2}}',
      'times generation_config.candidate_count: 2',
    ],
  ])('%s: %s → 403, saying %p', (style, text, message) => {
    expect(refusal(text, style)).toMatch(/^max_output_tokens_exceeded /);
    expect(refusal(text, style)).toContain(message);
  });

  it.each<[Style, string, string]>([
    ['responses', '{"max_output_tokens":"5"}', 'max_output_tokens: must be a number'],
    ['anthropic', '{"max_tokens":true}', 'max_tokens: must be a number'],
    ['chat_completions', '{"max_completion_tokens":{}}', 'max_completion_tokens: must be a number'],
    ['chat_completions', '{"max_tokens":1.5}', 'max_tokens: must be a whole number of at least 0'],
    ['chat_completions', '{"max_tokens":-1}', 'max_tokens: must be a whole number'],
    ['chat_completions', '{"max_tokens":1e999}', 'max_tokens: must be a whole number'],
    ['chat_completions', '{"n":0}', 'n: must be a whole number of at least 1'],
    ['chat_completions', '{"best_of":"2"}', 'best_of: must be a number'],
    [
      'gemini_native',
      '{"generationConfig":{"maxOutputTokens":"5"}}',
      'generationConfig.maxOutputTokens: must be a number',
    ],
  ])('%s: %s → 400 with a cap and without, saying %p', (style, text, message) => {
    expect(refusal(text, style)).toContain(`invalid_request ${message}`);
    expect(refusal(text, style, { cap: undefined })).toContain(`invalid_request ${message}`);
  });

  it('gemini: zero, which means "not set" there → 400 with a cap, unchanged without', () => {
    const text = '{"generationConfig":{"maxOutputTokens":0}}';
    expect(refusal(text, 'gemini_native')).toContain('at least 1');
    expect(capped(text, 'gemini_native', { cap: undefined })).toBe(text);
  });

  it.each<[Style, string]>([
    ['chat_completions', '{"max_tokens":1000,"n":50}'],
    ['responses', '{}'],
    ['gemini_native', '{"generationConfig":null}'],
  ])('no cap configured, %s: %s → unchanged', (style, text) => {
    expect(capped(text, style, { cap: undefined })).toBe(text);
  });

  it('any chat body → the body sent never allows more than the cap', () => {
    const value = fc.option(fc.integer({ min: 0, max: 150 }), { nil: null });
    const body = fc.record(
      { max_tokens: value, max_completion_tokens: value, n: value, best_of: value },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(body, (named) => {
        const outcome = refusal(JSON.stringify(named), 'chat_completions');
        if (!outcome.startsWith('passed as ')) return;
        const sent: Record<string, number | null> = JSON.parse(outcome.slice('passed as '.length));
        const limits = [sent.max_tokens, sent.max_completion_tokens].filter((limit) => typeof limit === 'number');
        expect(limits.length).toBeGreaterThan(0);
        expect(Math.max(...limits) * Math.max(sent.n ?? 1, sent.best_of ?? 1)).toBeLessThanOrEqual(CAP);
      }),
      { numRuns: fuzzRuns(1000) },
    );
  });
});

describe('output cap: the maximum output of an answer', () => {
  const bound = (style: Style, text: string, cap: number | undefined) => {
    const body = scanJson(Buffer.from(text), REQUEST_NAMES);
    const { maxTokens, choices } = validateOutputCap(body, { style, cap, chatField: 'max_tokens' });
    return [maxTokens, choices];
  };

  it.each<[Style, string, number | undefined, number | undefined, number]>([
    ['responses', '{}', undefined, undefined, 1],
    ['responses', '{}', 100, 100, 1],
    ['responses', '{"max_output_tokens":7}', undefined, 7, 1],
    ['responses', '{"max_output_tokens":7}', 100, 7, 1],
    ['responses', '{"max_output_tokens":0}', undefined, undefined, 1],
    ['responses', '{"max_output_tokens":0}', 100, 100, 1],
    ['anthropic', '{"max_tokens":30}', undefined, 30, 1],
    ['chat_completions', '{"max_tokens":5,"max_completion_tokens":9}', undefined, 9, 1],
    ['chat_completions', '{"max_tokens":5,"max_completion_tokens":0}', undefined, undefined, 1],
    ['chat_completions', '{"max_tokens":5,"n":3,"best_of":4}', undefined, 20, 4],
    ['chat_completions', '{"n":3}', undefined, undefined, 3],
    ['chat_completions', '{"n":3}', 100, 100, 3],
    ['gemini_native', '{"generationConfig":{"maxOutputTokens":8,"candidateCount":2}}', undefined, 16, 2],
    ['gemini_native', '{"generationConfig":{"maxOutputTokens":0}}', undefined, undefined, 1],
    ['gemini_interactions', '{"generation_config":{"max_output_tokens":8}}', undefined, 8, 1],
    ['gemini_interactions', '{"generation_config":{"max_output_tokens":8}}', 100, 8, 1],
    ['gemini_interactions', '{"generation_config":{"max_output_tokens":0}}', undefined, undefined, 1],
    ['gemini_interactions', '{}', undefined, undefined, 1],
    ['gemini_interactions', '{}', 100, 100, 1],
    ['gemini_native', '{"generationConfig":{"maxOutputTokens":8},"generation_config":{}}', undefined, undefined, 1],
    ['gemini_native', '{"generationConfig":{"maxOutputTokens":8},"generation_config":{}}', 100, 100, 1],
    ['none', '{"max_tokens":5}', 100, undefined, 1],
  ])('%s: %s with the cap %p → %p tokens, %i choices', (style, text, cap, most, choices) => {
    expect(bound(style, text, cap)).toEqual([most, choices]);
  });
});
