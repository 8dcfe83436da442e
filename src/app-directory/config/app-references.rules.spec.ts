import { describe, expect, it } from '@jest/globals';
import { type RawObject, rawSelection, rawServerConfig } from '../../../test/support/apps/app-configs.js';
import type { ApiStyle } from '../../upstreams/api-style.rules.js';
import { parseAppConfig } from './app-config.js';
import { checkReferences, type KnownProvider, type KnownProviders } from './app-references.rules.js';

const openai: KnownProvider = {
  id: 'p1',
  slug: 'openai',
  type: 'openai',
  status: 'active',
  endpointStyles: ['responses', 'transcription'],
  apiStyles: ['responses', 'chat_completions', 'audio_transcription', 'other'],
};
const second: KnownProvider = { ...openai, id: 'p2', slug: 'second', status: 'disabled' };
const groq: KnownProvider = { ...openai, id: 'p3', slug: 'fast-lane', type: 'groq', endpointStyles: [] };
const router: KnownProvider = {
  ...openai,
  id: 'p4',
  slug: 'router',
  type: 'openrouter',
  endpointStyles: [],
  apiStyles: ['chat_completions'],
};

/** Any provider can bill a `priced` model, `second` prices one more, and the router reports costs. */
class Account implements KnownProviders {
  readonly all = [openai, second, groq, router];

  constructor(private readonly priced: readonly string[] = ['gpt-4.1', 'whisper-1']) {}

  isBillable(provider: KnownProvider, model: string, styles: readonly ApiStyle[] = provider.apiStyles) {
    if (provider.type === 'openrouter') return styles.includes('chat_completions');
    return styles.length > 0 && (this.priced.includes(model) || (provider.slug === 'second' && model === 'own-price'));
  }

  isBillableAnywhere(model: string) {
    return [...this.priced, 'own-price'].includes(model);
  }
}

const check = (raw: RawObject, stored?: RawObject) =>
  checkReferences(parseAppConfig(raw), new Account(), stored && parseAppConfig(stored));
const policy = (allowed_models: string[] = [], allowed_paths: unknown[] = []) => ({ allowed_models, allowed_paths });
const withEndpoint = (endpoint: RawObject) => ({
  ...rawServerConfig(),
  endpoints: { e: { api_style: 'responses', provider: 'openai', model: 'gpt-4.1', ...endpoint } },
});

describe('checkReferences: selected providers', () => {
  it.each([
    ['slug', rawSelection({ second: policy() })],
    ['provider type with another slug', rawSelection({ groq: policy() })],
    ['disabled instance', rawSelection({ second: policy(['gpt-4.1']) })],
    ['mode all', rawServerConfig()],
  ])('%s → accepted', (_title, raw) => {
    expect(() => check(raw)).not.toThrow();
  });

  it.each(['missing', 'anthropic'])('%s: neither a slug nor a type in the account → refused', (key) => {
    expect(() => check(rawSelection({ [key]: policy() }))).toThrow(
      `config.routing.providers.selected.${key}: is not a provider of this account`,
    );
  });
});

describe('checkReferences: grandfathering', () => {
  const gone = { gone: policy(['model-without-price']) };

  it('stored configuration selects the missing provider → its checks are skipped', () => {
    expect(() => check(rawSelection(gone), rawSelection(gone))).not.toThrow();
  });

  it('stored configuration names it in a fallback only → accepted as a selection and as a target', () => {
    const stored = withEndpoint({ fallback: [{ provider: 'gone', model: 'x' }] });
    expect(() => check({ ...rawSelection(gone), endpoints: stored.endpoints }, stored)).not.toThrow();
    expect(() => check(withEndpoint({ provider: 'gone' }), stored)).not.toThrow();
  });

  it('stored configuration names another provider → refused', () => {
    expect(() => check(rawSelection(gone), rawSelection({ other: policy() }))).toThrow(
      'selected.gone: is not a provider',
    );
  });

  it('provider still there → its prices are checked, stored or not', () => {
    const raw = rawSelection({ openai: policy(['free-model']) });
    expect(() => check(raw, raw)).toThrow('selected.openai.allowed_models.0: "free-model" has no price');
  });
});

describe('checkReferences: prices of policies', () => {
  it('allowed model → checked under the name it is rewritten to', () => {
    expect(() => check(rawSelection({ openai: policy(['fast']) }, { fast: 'gpt-4.1' }))).not.toThrow();
    expect(() => check(rawSelection({ openai: policy(['gpt-4.1']) }, { 'gpt-4.1': 'nope' }))).toThrow(
      '"nope" has no price',
    );
  });

  it('fixed model without price → refused at its path', () => {
    const paths = ['v1/responses', { path: 'v1/embeddings', fixed_model: 'nope' }];
    expect(() => check(rawSelection({ openai: policy([], paths) }))).toThrow(
      'allowed_paths.1.fixed_model: "nope" has no',
    );
  });

  it('type key that is also a slug → a price on any instance it covers is enough', () => {
    const fixed = { path: 'v1/fixed', fixed_model: 'own-price' };
    expect(() => check(rawSelection({ openai: policy(['own-price'], [fixed]) }))).not.toThrow();
    expect(() => check(rawSelection({ openai: policy(['fast']) }, { fast: 'own-price' }))).not.toThrow();
  });

  it('type key next to a key for the only instance with the price → refused: that instance has its own', () => {
    const raw = rawSelection({ openai: policy(['own-price']), second: policy() });
    expect(() => check(raw)).toThrow('selected.openai.allowed_models.0: "own-price" has no price');
  });

  it('type key while every instance has its own key → checked against those instances', () => {
    const both = { groq: policy(['gpt-4.1']), 'fast-lane': policy() };
    expect(() => check(rawSelection(both))).not.toThrow();
    expect(() => check(rawSelection({ ...both, groq: policy(['nope']) }))).toThrow('"nope" has no price');
  });

  it('slug key → no other instance of its type counts', () => {
    expect(() => check(rawSelection({ 'fast-lane': policy(['own-price']) }))).toThrow('"own-price" has no price');
  });

  it('provider that reports its cost in one style → billable only if the policy allows that style', () => {
    expect(() => check(rawSelection({ router: policy(['any/model']) }))).not.toThrow();
    expect(() => check(rawSelection({ router: policy(['any/model'], ['v1/chat/completions']) }))).not.toThrow();
    expect(() => check(rawSelection({ router: policy(['any/model'], ['v1/responses']) }))).toThrow('has no price');
  });
});

describe('checkReferences: model rewrites', () => {
  it('target without a price → refused by key, names inherited by objects included', () => {
    const raw = { ...rawServerConfig(), routing: { providers: { mode: 'all' }, model_rewrites: { 'a.b': 'nope' } } };
    expect(() => check(raw)).toThrow('config.routing.model_rewrites.a.b: "nope" has no price');
    expect(() => check(rawSelection({ openai: policy(['toString']) }))).toThrow('"toString" has no price');
  });
});

describe('checkReferences: named endpoints', () => {
  it.each([
    [{}],
    [{ provider: 'second', model: 'own-price' }],
    [{ api_style: 'transcription', model: 'whisper-1' }],
    [{ fallback: [{ provider: 'second', model: 'own-price' }] }],
  ])('%j → accepted', (endpoint) => {
    expect(() => check(withEndpoint(endpoint))).not.toThrow();
  });

  it.each([
    [{ provider: 'gone' }, 'config.endpoints.e.provider: is not a provider of this account'],
    [{ provider: 'groq' }, 'config.endpoints.e.provider: is not a provider of this account'],
    [{ provider: 'fast-lane' }, 'config.endpoints.e.provider: cannot serve endpoints of style "responses"'],
    [{ model: 'nope' }, 'config.endpoints.e.model: "nope" has no price'],
    [
      { fallback: [{ provider: 'gone', model: 'gpt-4.1' }] },
      'config.endpoints.e.fallback.0.provider: is not a provider',
    ],
    [{ fallback: [{ provider: 'openai', model: 'nope' }] }, 'config.endpoints.e.fallback.0.model: "nope" has no price'],
  ])('%j → %s', (endpoint, message) => {
    expect(() => check(withEndpoint(endpoint))).toThrow(message);
  });

  it('model rewrites → not applied to endpoints', () => {
    const raw = { ...withEndpoint({ model: 'fast' }), routing: rawSelection({}, { fast: 'gpt-4.1' }).routing };
    expect(() => check(raw)).toThrow('config.endpoints.e.model: "fast" has no price');
  });
});
