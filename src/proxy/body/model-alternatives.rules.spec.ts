import { describe, expect, it } from '@jest/globals';
import { GatewayError } from '../../common/errors/gateway-error.js';
import { REQUEST_NAMES } from '../json/checked-members.js';
import { scanJson } from '../json/json-scan.js';
import { type AlternativesTarget, validateModelAlternatives } from './body-models.rules.js';

const openrouter: AlternativesTarget = { type: 'openrouter', routeKind: 'direct', allowedModels: new Set() };
const allowing = { ...openrouter, allowedModels: new Set(['a/one', 'b/two']) };
const vercel: AlternativesTarget = { type: 'openai', routeKind: 'vercel', allowedModels: new Set() };

/** `accepted`, or code and message of the refusal. */
function validate(body: string | object, target: AlternativesTarget): string {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  try {
    validateModelAlternatives(scanJson(Buffer.from(text), REQUEST_NAMES), target);
  } catch (error) {
    if (error instanceof GatewayError) return `${error.status} ${error.code} ${error.message}`;
    throw error;
  }
  return 'accepted';
}

describe('openrouter: models to fall back to', () => {
  it.each([
    [{}],
    [{ models: null }],
    [{ models: [] }],
    [{ models: ['a/one'] }],
    [{ models: ['b/two', 'a/one'] }],
    [{ messages: [{ models: ['c/three'] }] }],
  ])('%j: absent, or all models allowed → accepted', (body) => {
    expect(validate(body, allowing)).toBe('accepted');
  });

  it.each([
    [{ models: ['a/one', 'c/three'] }, '"c/three", which models.1 names'],
    [{ models: ['A/one'] }, '"A/one", which models.0 names'],
    [{ models: ['constructor'] }, '"constructor", which models.0 names'],
  ])('%j: one is not allowed → 403 model_not_allowed', (body, named) => {
    expect(validate(body, allowing)).toBe(`403 model_not_allowed The application does not allow the model ${named}.`);
  });

  it('no list of allowed models → any', () => {
    expect(validate({ models: ['c/three'] }, openrouter)).toBe('accepted');
  });

  it.each([
    ['{"models":"a/one"}', '400 invalid_request models: must be an array'],
    ['{"models":{"0":"a/one"}}', '400 invalid_request models: must be an array'],
    ['{"models":[["a/one"]]}', '400 invalid_request models.0: must be a non-empty string'],
    ['{"models":["a/one",null]}', '400 invalid_request models.1: must be a non-empty string'],
    ['{"models":[""]}', '400 invalid_request models.0: must be a non-empty string'],
    [`{"models":["${'x'.repeat(16 * 1024)}"]}`, '400 invalid_request models: longer than 16384 bytes'],
    ['{"models":null,"m\\u006fdels":["c/three"]}', '400 invalid_request models: named twice, again at byte 15'],
    ['{"Models":["c/three"]}', '400 invalid_request models: "Models" at byte 1 differs'],
  ])('%s → %s', (body, refused) => {
    for (const target of [openrouter, allowing]) expect(validate(body, target).slice(0, refused.length)).toBe(refused);
  });

  it('other providers, which do not use the member → unchanged', () => {
    expect(validate({ models: 'anything' }, { ...allowing, type: 'openai' })).toBe('accepted');
    expect(validate({ models: 'anything' }, { ...allowing, type: 'anthropic', routeKind: 'cf_aig' })).toBe('accepted');
  });
});

describe('perplexity: models that replace the validated one', () => {
  const perplexity: AlternativesTarget = { type: 'perplexity', routeKind: 'direct', allowedModels: new Set() };

  it.each([[{}], [{ models: null }], [{ input: [{ models: ['a'] }] }]])('%j → accepted', (body) => {
    expect(validate(body, perplexity)).toBe('accepted');
  });

  it('named → 400, allowed or not, on every route', () => {
    for (const target of [perplexity, { ...perplexity, routeKind: 'cf_aig' as const }]) {
      expect(validate({ models: ['a/dear'] }, target)).toContain('400 invalid_request models: cannot be used');
    }
    expect(validate({ models: ['a/one'] }, { ...perplexity, allowedModels: new Set(['a/one']) })).toContain('400');
  });
});

describe('vercel: models to fall back to', () => {
  it.each([[{}], [{ models: null }], [{ gateway: { models: ['a'] } }]])('%j → accepted', (body) => {
    expect(validate(body, vercel)).toBe('accepted');
  });

  it('named → 400; on other routes → unchanged', () => {
    expect(validate({ models: ['a'] }, vercel)).toContain('400 invalid_request models: cannot be used');
    expect(validate({ models: ['a'] }, { ...vercel, routeKind: 'direct' })).toBe('accepted');
    expect(validate({ models: ['a'] }, { ...vercel, routeKind: 'cf_aig' })).toBe('accepted');
  });
});
