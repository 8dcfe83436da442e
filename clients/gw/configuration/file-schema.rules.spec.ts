import { expect, it } from '@jest/globals';
import type { AppConfig } from './configuration-files.js';
import { appProblems, providerProblems } from './file-schema.rules.js';

const CONFIG = { authentication: { type: 'api_key' }, routing: { providers: { mode: 'all' }, model_rewrites: {} } };
const told = (config: object) =>
  appProblems({
    ...{ handle: 'notes', name: 'Notes', status: 'active', movedFrom: [] },
    config: { ...CONFIG, ...config } as AppConfig,
  }).map(({ path, problem }) => `${path}: ${problem}`);

it('a valid application → nothing', () => {
  expect(told({})).toEqual([]);
});

it.each([
  [
    { limts: {} },
    ['config.limts: is not a known member; use authentication, routing, limits, endpoints, allowed_origins, streams'],
  ],
  [
    { limits: { per_user: { requests: { per_day: 'many', per_hour: 1 } } } },
    [
      expect.stringContaining('per_hour: is not a known'),
      'config.limits.per_user.requests.per_day: must be a whole number or null',
    ],
  ],
  [
    { authentication: { type: 'api_kye' } },
    ['config.authentication.type: must be one of device_app_attest, device_proofs, api_key'],
  ],
  [{ authentication: {} }, ['config.authentication.type: is missing']],
  [
    { authentication: { type: 'api_key', end_user: { source: 'header', heeder: 'x' } } },
    [expect.stringMatching(/^config\.authentication\.end_user\.heeder: is not a known member; use .*header/)],
  ],
  [
    { routing: { providers: { mode: 'selected' }, model_rewrites: {} } },
    ['config.routing.providers.selected: is missing'],
  ],
])('%j → %j', (config, problems) => {
  expect(told(config)).toEqual(problems);
});

it('a value that matches no form → lists the forms once', () => {
  const issuer = {
    jwks_url: 'https://x',
    issuer: 7,
    audience: 'a',
    user_id_claim: 'sub',
    required_claims: [],
    max_token_lifetime_seconds: 1,
  };
  expect(told({ authentication: { type: 'api_key', end_user: { source: 'issuer', issuer } } })).toEqual([
    'config.authentication.end_user.issuer.issuer: must have one of these forms: text, or a list',
  ]);
});

it('a provider → its prices are checked', () => {
  const provider = {
    slug: 'openai',
    type: 'openai',
    name: 'OpenAI',
    status: 'active',
    baseUrl: null,
    providerGateway: null,
    gatewayRoute: null,
    secret: null,
    movedFrom: ['openai-1'],
  } as const;
  expect(providerProblems({ ...provider, pricing: null })).toEqual([]);
  expect(providerProblems({ ...provider, pricing: { m: { input: -1, colour: 1 } } }).map(({ path }) => path)).toContain(
    'pricing.m.colour',
  );
});
