import { describe, expect, it } from '@jest/globals';
import type { RawObject } from '../../../test/support/apps/app-configs.js';
import { objectOf } from '../../common/fields/config-fields.js';
import { Routing } from './routing-config.js';

const policy = { allowed_paths: [], allowed_models: [] };
const read = (raw: RawObject) => objectOf(Routing)({ model_rewrites: {}, ...raw }, 'r');
const select = (selected: unknown) => read({ providers: { mode: 'selected', selected } });
const withPolicy = (changes: RawObject) => select({ openai: { ...policy, ...changes } });

describe('routing: providers', () => {
  it.each([
    [{ mode: 'all' }, { mode: 'all' }],
    [
      { mode: 'selected', selected: {} },
      { mode: 'selected', selected: {} },
    ],
    [
      { mode: 'selected', selected: { openai: policy } },
      { mode: 'selected', selected: { openai: policy } },
    ],
  ])('%j → accepted', (sent, parsed) => {
    expect(read({ providers: sent }).providers).toEqual(parsed);
  });

  it.each([
    [undefined, 'r.providers: is required'],
    [{}, 'r.providers.mode: is required'],
    [{ mode: 'none' }, 'r.providers.mode: must be "all" or "selected"'],
    [{ mode: 'selected' }, 'r.providers.selected: is required'],
    [{ mode: 'all', selected: {} }, 'r.providers.selected: only with mode "selected"'],
    [{ mode: 'selected', selected: [] }, 'r.providers.selected: must be an object'],
    [{ mode: 'all', except: [] }, 'r.providers.except: is not a known field'],
  ])('%j → %s', (providers, message) => {
    expect(() => read({ providers })).toThrow(message);
  });

  it.each(['OpenAI', '-a', 'a_b', 'a'.repeat(64), '', 'a b'])('key %j → must be a provider slug', (key) => {
    expect(() => select({ [key]: policy })).toThrow('must be a provider slug');
  });
});

describe('routing: policy', () => {
  it('paths in both forms, models and ceiling → kept', () => {
    const full = {
      allowed_paths: [
        'v1/responses',
        { path: 'v1/files', methods: ['GET', 'DELETE'] },
        { path: 'v1/models/{model}:generateContent', clamp: 'gemini_native' },
      ],
      allowed_models: ['a/b', 'constructor'],
      max_output_tokens: 1,
    };
    expect(withPolicy(full).providers).toEqual({ mode: 'selected', selected: { openai: full } });
  });

  it.each([
    [{ allowed_paths: undefined }, 'allowed_paths: is required'],
    [{ allowed_models: undefined }, 'allowed_models: is required'],
    [{ allowed_paths: [''] }, 'allowed_paths.0: must not be blank'],
    [{ allowed_paths: ['/v1/responses'] }, 'allowed_paths.0: must be a provider path'],
    [{ allowed_paths: ['v1/a b'] }, 'allowed_paths.0: must be a provider path'],
    [{ allowed_paths: ['v1/é'] }, 'allowed_paths.0: must be a provider path'],
    [{ allowed_paths: ['v1/a?b=c'] }, 'allowed_paths.0: must not have a query'],
    [{ allowed_paths: ['v1/a#b'] }, 'allowed_paths.0: must not have a query'],
    [{ allowed_paths: ['{model}/{model}'] }, 'allowed_paths.0: must have {model} or {object} only once'],
    [{ allowed_paths: ['{model}/{object}'] }, 'allowed_paths.0: must have {model} or {object} only once'],
    [{ allowed_paths: [7] }, 'allowed_paths.0: must be a path or an object with a path'],
    [{ allowed_paths: [null] }, 'allowed_paths.0: must be a path or an object with a path'],
    [{ allowed_paths: [{}] }, 'allowed_paths.0.path: is required'],
    [{ allowed_paths: [{ path: 'a', clamp: 'openai' }] }, 'allowed_paths.0.clamp: must be "responses"'],
    [{ allowed_paths: [{ path: 'a', fixed_model: '' }] }, 'allowed_paths.0.fixed_model: must not be blank'],
    [{ allowed_paths: [{ path: 'a', methods: [] }] }, 'allowed_paths.0.methods: must have at least 1 entry'],
    [{ allowed_paths: [{ path: 'a', methods: 'GET' }] }, 'allowed_paths.0.methods: must be a list'],
    [{ allowed_paths: [{ path: 'a', methods: null }] }, 'allowed_paths.0.methods: must be a list'],
    [
      { allowed_paths: [{ path: 'a', methods: ['GET', 'GET'] }] },
      'allowed_paths.0.methods: must not name a method twice',
    ],
    [
      { allowed_paths: [{ path: 'a', methods: ['POST', 'get'] }] },
      'allowed_paths.0.methods.1: must be "GET" or "POST" or',
    ],
    [{ allowed_paths: [{ path: 'a', methods: ['HEAD'] }] }, 'allowed_paths.0.methods.0: must be "GET"'],
    [{ allowed_paths: [{ path: 'a', method: 'GET' }] }, 'allowed_paths.0.method: is not a known field'],
    [{ allowed_models: ['a', 'm'.repeat(201)] }, 'allowed_models.1: must have at most 200 characters'],
    [{ max_output_tokens: 0 }, 'max_output_tokens: must be at least 1'],
    [{ max_output_tokens: null }, 'max_output_tokens: must be an integer'],
    [{ max_output_tokens: 1.5 }, 'max_output_tokens: must be an integer'],
    [{ allowed_methods: [] }, 'allowed_methods: is not a known field'],
  ])('%j → %s', (changes, message) => {
    expect(() => withPolicy(changes)).toThrow(`r.providers.selected.openai.${message}`);
  });
});

describe('routing: model_rewrites', () => {
  const rewrite = (model_rewrites: unknown) => read({ providers: { mode: 'all' }, model_rewrites }).model_rewrites;

  it('names → the key as sent, the replacement trimmed', () => {
    expect(rewrite({ 'my/model 1': ' gpt-4.1 ' })).toEqual({ 'my/model 1': 'gpt-4.1' });
  });

  it.each([
    [undefined, 'r.model_rewrites: is required'],
    [{ '': 'a' }, 'r.model_rewrites."": must be a model name'],
    [{ ['k'.repeat(201)]: 'a' }, 'must be a model name'],
    [{ a: '' }, 'r.model_rewrites.a: must not be blank'],
    [{ a: null }, 'r.model_rewrites.a: must be text'],
    [{ 'a\u0000': 'b' }, 'r.model_rewrites."a\\u0000": must not have NUL'],
    [JSON.parse('{"__proto__":"a"}'), 'r.model_rewrites.__proto__: is a reserved name'],
  ])('%j → %s', (model_rewrites, message) => {
    expect(() => rewrite(model_rewrites)).toThrow(message);
  });
});
