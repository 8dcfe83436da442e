import { describe, expect, it } from '@jest/globals';
import { rawServerConfig } from '../../test/support/apps/app-configs.js';
import { aPriceBook } from '../../test/support/providers/price-books.js';
import { aProvider } from '../../test/support/providers/provider-instances.js';
import { type ReadableApp, requireReadable, toAppSnapshot } from '../app-directory/app-snapshot.js';
import { parseAppConfig } from '../app-directory/config/app-config.js';
import { compilePrice, NO_CHARGE } from '../pricing/model-price.js';
import type { ProviderRow } from '../providers/provider.entity.js';
import { classifyPath } from '../upstreams/api-style.rules.js';
import { compilePathPolicy, matchPath } from '../upstreams/path-policy.rules.js';
import type { ProviderType } from '../upstreams/provider-types.js';
import { chooseModel, modelWithoutBody } from './model-choice.rules.js';
import type { ProxyPlan } from './proxy-plans.js';

const RATE = { input: 1, output: 2 };
const PRICES = aPriceBook({ openai: { 'gpt-a': RATE, 'gpt-b': { input: 3, output: 4 } } });

interface Situation {
  readonly type?: ProviderType;
  readonly path?: string;
  readonly entry?: { readonly path: string; readonly fixedModel?: string };
  readonly allowedModels?: readonly string[];
  readonly pricing?: ProviderRow['pricing'];
}

function planOf({
  type = 'openai',
  path = 'v1/responses',
  entry,
  allowedModels = [],
  pricing = null,
}: Situation): ProxyPlan {
  const paths = compilePathPolicy([entry ?? { path }]);
  const match = matchPath(paths, path);
  if (match === undefined) throw new Error('the path must match its entry');
  return {
    provider: aProvider({ type, slug: 'main', pricing }),
    access: { paths, allowedModels: new Set(allowedModels) },
    match,
    endpointSlug: null,
    method: 'POST',
    takesBody: true,
    style: classifyPath(path),
    path,
    query: '',
    credential: [],
  };
}

function appWith(model_rewrites: Record<string, string> = {}): ReadableApp {
  const config = parseAppConfig({ ...rawServerConfig(), routing: { providers: { mode: 'all' }, model_rewrites } });
  const row = { id: 'otter', organizationId: 'account-1', status: 'active' } as const;
  return requireReadable(toAppSnapshot(row, { config, configError: null }));
}

function choose(situation: Situation, inBody: string | undefined, rewrites: Record<string, string> = {}) {
  const plan = planOf(situation);
  const { type, customPrices } = plan.provider;
  return chooseModel(plan, appWith(rewrites), inBody, (model) => PRICES.find(type, model, customPrices));
}

describe('the model of a call', () => {
  it.each<[string, Situation, string | undefined, string, string]>([
    ['only in the body', {}, 'gpt-a', 'gpt-a', 'body'],
    [
      'in the path and the body',
      { path: 'v1/m/gpt-b:go', entry: { path: 'v1/m/{model}:go' } },
      'gpt-b',
      'gpt-b',
      'path',
    ],
    [
      'in the path and, as a resource, in the body',
      { path: 'v1/m/gpt-b:go', entry: { path: 'v1/m/{model}:go' } },
      'models/gpt-b',
      'gpt-b',
      'path',
    ],
    ['in the body and the rule', { entry: { path: 'v1/responses', fixedModel: 'gpt-b' } }, 'gpt-a', 'gpt-a', 'body'],
    ['only in the rule', { entry: { path: 'v1/responses', fixedModel: 'gpt-b' } }, undefined, 'gpt-b', 'rule'],
  ])('named %s → the strongest source', (_name, situation, inBody, requested, source) => {
    expect(choose(situation, inBody)).toMatchObject({ requested, canonical: requested, source });
  });

  it.each(['gpt-a', '', 'GPT-B', 'models/gpt-a', 'models/models/gpt-b', 'tunedModels/gpt-b', '/gpt-b'])(
    'another one in the body than in the path (%p) → 400',
    (inBody) => {
      const situation = { path: 'v1/m/gpt-b:go', entry: { path: 'v1/m/{model}:go' } };
      expect(() => choose(situation, inBody)).toThrow('model: must be the model of the path');
    },
  );

  it.each([undefined, ''])('not named (%p) → 400', (inBody) => {
    expect(() => choose({}, inBody)).toThrow(
      expect.objectContaining({ code: 'invalid_request', message: 'model: is required', reason: 'model_missing' }),
    );
  });

  it('a name beyond 200 characters → 400, not repeated', () => {
    expect(() => choose({}, 'm'.repeat(201))).toThrow('model: has more than 200 characters');
    expect(() => choose({}, 'm'.repeat(200))).toThrow(expect.objectContaining({ code: 'pricing_not_configured' }));
  });

  it.each(['gpt-b', 'GPT-A', 'gpt-a ', 'gpt', 'gpt-*', 'constructor'])('allowed are gpt-a, gpt-*: %s', (model) => {
    const call = () => choose({ allowedModels: ['gpt-a', 'gpt-*'], pricing: { 'gpt-*': RATE } }, model);
    if (model === 'gpt-*') expect(call().requested).toBe('gpt-*');
    else expect(call).toThrow(expect.objectContaining({ code: 'model_not_allowed', status: 403 }));
  });

  it('a rewrite → after the allowlist, by the exact name; its target need not be allowed', () => {
    const choice = choose({ allowedModels: ['fast'] }, 'fast', { fast: 'gpt-b' });
    expect(choice).toMatchObject({
      requested: 'fast',
      canonical: 'gpt-b',
      price: compilePrice({ input: 3, output: 4 }),
    });
    expect(() => choose({ allowedModels: ['gpt-b'] }, 'fast', { fast: 'gpt-b' })).toThrow(
      expect.objectContaining({ code: 'model_not_allowed' }),
    );
    expect(choose({}, 'gpt-a', { 'gpt-A': 'gpt-b' }).canonical).toBe('gpt-a');
  });

  it('a rewrite of a rewrite → only the first', () => {
    expect(choose({}, 'a', { a: 'gpt-a', 'gpt-a': 'gpt-b' }).canonical).toBe('gpt-a');
  });
});

describe('model of a request without a body', () => {
  const bare = (situation: Situation, rewrites: Record<string, string> = {}) =>
    modelWithoutBody(planOf(situation), appWith(rewrites));
  const ofPath = { path: 'v1/models/gpt-a', entry: { path: 'v1/models/{model}' } };

  it('not named → no model, and no cost', () => {
    const none = { requested: '(none)', canonical: '(none)', price: NO_CHARGE, source: 'rule' };
    expect(bare({ path: 'v1/models', allowedModels: ['gpt-a'] })).toMatchObject(none);
  });

  it('named in the path → checked and rewritten; no price is needed', () => {
    expect(bare(ofPath, { 'gpt-a': 'unpriced' })).toMatchObject({
      requested: 'gpt-a',
      canonical: 'unpriced',
      price: NO_CHARGE,
      source: 'path',
    });
    expect(() => bare({ ...ofPath, allowedModels: ['gpt-b'] })).toThrow(
      expect.objectContaining({ code: 'model_not_allowed' }),
    );
  });

  it('named by the rule → recorded under it', () => {
    const entry = { path: 'v1/models', fixedModel: 'gpt-b' };
    expect(bare({ path: 'v1/models', entry })).toMatchObject({ canonical: 'gpt-b', price: NO_CHARGE, source: 'rule' });
  });
});

describe('price of the model', () => {
  it('no price for the rewritten name → 400 that names it and the provider', () => {
    expect(() => choose({}, 'gpt-a', { 'gpt-a': 'unknown' })).toThrow(
      expect.objectContaining({
        code: 'pricing_not_configured',
        status: 400,
        message: 'The model "unknown" has no price. Add custom pricing for it on the provider "main".',
      }),
    );
  });

  it('price of the instance → overrides that of the catalog', () => {
    expect(choose({ pricing: { 'gpt-a': { input: 9, output: 9 } } }, 'gpt-a').price?.tokens?.input).toBe(9_000_000_000);
  });

  it('provider that reports the cost itself → no price needed on those paths, needed on others', () => {
    expect(choose({ type: 'xai', path: 'v1/chat/completions' }, 'grok-x')).toMatchObject({ price: undefined });
    expect(() => choose({ type: 'openai', path: 'v1/chat/completions' }, 'grok-x')).toThrow(
      expect.objectContaining({ code: 'pricing_not_configured' }),
    );
  });
});
