import { describe, expect, it } from '@jest/globals';
import { creationMeaning, meaningOf } from './change-effects.rules.js';
import type { AppConfig } from './configuration-files.js';

const ISSUER = {
  ...{ jwks_url: 'https://i.example.com/keys', issuer: ['https://i.example.com'], audience: ['app'] },
  ...{ user_id_claim: 'sub', required_claims: [], max_token_lifetime_seconds: 3600 },
};
const SERVER = {
  authentication: { type: 'api_key' },
  routing: { providers: { mode: 'all' }, model_rewrites: {} },
} as const satisfies AppConfig;
const as = (end_user: unknown, config: object = SERVER) =>
  ({ ...config, authentication: { type: 'api_key', ...(end_user !== undefined && { end_user }) } }) as AppConfig;
const reaching = (policy: object) =>
  ({
    ...SERVER,
    routing: {
      providers: { mode: 'selected', selected: { openai: { allowed_paths: [], allowed_models: [], ...policy } } },
      model_rewrites: {},
    },
  }) as AppConfig;
const serving = (endpoint: object) =>
  ({
    ...SERVER,
    endpoints: { sum: { provider: 'openai', model: 'm', api_style: 'responses', ...endpoint } },
  }) as AppConfig;
const limited = (limits: object) => ({ ...SERVER, limits }) as AppConfig;
const meant = (before: AppConfig, after: AppConfig) =>
  meaningOf({ status: 'active', config: before }, { status: 'active', config: after }, 3);

describe('what a change means', () => {
  it('users are added → every caller loses access until it sends the required data', () => {
    expect(meant(SERVER, as({ source: 'header', header: 'x-user' }))).toEqual([
      'Every caller loses access until it names its user.',
      'Calls without the user in the header x-user are refused.',
    ]);
    expect(meant(SERVER, as({ source: 'issuer', issuer: ISSUER }))).toEqual([
      'Every caller loses access until it names its user.',
      'Calls without a signed-in user are refused: a token of https://i.example.com.',
    ]);
  });

  it('no users, in two spellings → nothing', () => {
    expect(meant(SERVER, as({ source: 'none' }))).toEqual([]);
  });

  it('users are removed, or identified differently → who is affected', () => {
    const header = as({ source: 'header', header: 'x-user' });
    expect(meant(header, SERVER)).toEqual(['Calls no longer belong to a user: 3 users and their limits do not count.']);
    expect(meant(header, as({ source: 'header', header: 'x-other' }))).toEqual([
      'Callers must name the user in another header.',
      'Calls without the user in the header x-other are refused.',
    ]);
  });

  it.each([
    [{ audience: ['other'] }, ['Users whose tokens do not fit the new issuer settings lose access (up to 3 users).']],
    [{ audience: ['app', 'other'] }, ['Tokens that were refused before are accepted.']],
    [{ max_token_lifetime_seconds: 60 }, [expect.stringContaining('lose access')]],
    [{ required_claims: [{ path: 'plan', equals: 'pro' }] }, [expect.stringContaining('lose access')]],
    [{ user_id_claim: 'email' }, ['Users are identified differently: 3 users and their counts are not carried over.']],
    [{ token_header: 'x-token' }, ['Callers must send the token of the user in another header.']],
    [{ provider: 'firebase' }, []],
  ])('an issuer with %j → %j', (change, lines) => {
    const issuer = (settings: object) => as({ source: 'issuer', issuer: { ...ISSUER, ...settings } });
    expect(meant(issuer({}), issuer(change))).toEqual(lines);
  });

  it.each([
    [
      {},
      { max_output_tokens: 100 },
      'Through openai, calls that ask for more than 100 output tokens are refused (ceiling before: none).',
    ],
    [{ max_output_tokens: 100 }, {}, 'Through openai, the number of output tokens is no longer limited.'],
    [{ allowed_models: ['a'] }, { allowed_models: ['a', 'b'] }, 'Through openai, calls of b are allowed.'],
    [{ allowed_models: ['a'] }, {}, 'Through openai, calls of every kind are allowed.'],
    [
      { allowed_paths: [{ path: 'v1/models', methods: ['GET'] }] },
      { allowed_paths: [{ path: 'v1/models', methods: ['GET', 'DELETE'] }] },
      'Through openai, the path v1/models has other methods, or another model.',
    ],
  ])('a provider within %j, then %j → %s', (before, after, line) => {
    expect(meant(reaching(before), reaching(after))).toEqual([line]);
  });

  it('all providers, then one with rules → the rules too', () => {
    expect(meant(SERVER, reaching({ allowed_models: ['a'] }))).toEqual([
      'Calls of every provider but openai are refused.',
      'Through openai, calls of everything but a are refused.',
    ]);
  });

  it.each([
    [
      {},
      { max_output_tokens: 9 },
      'At the endpoint sum, calls that ask for more than 9 output tokens are refused (ceiling before: none).',
    ],
    [{}, { params: { text: { verbosity: 'low' } } }, 'The endpoint sum sets text.verbosity to "low".'],
    [{ params: { temperature: 1 } }, {}, 'The endpoint sum no longer sets temperature.'],
    [{}, { fallback: [{ provider: 'b', model: 'n' }] }, 'The endpoint sum falls back to b with n.'],
    [{ fallback: [{ provider: 'b', model: 'n' }] }, {}, 'The endpoint sum falls back to nothing.'],
    [{}, { model: 'n' }, 'The endpoint sum is served by openai with n.'],
  ])('an endpoint with %j, then %j → %s', (before, after, line) => {
    expect(meant(serving(before), serving(after))).toEqual([line]);
  });

  it('a whole set of limits is added → each of them', () => {
    const limits = {
      per_user: { requests: { per_day: 5, per_minute: null } },
      per_app: { spending: { monthly_usd: 2 } },
    };
    expect(meant(SERVER, limited(limits))).toEqual([
      'Requests per day: no limit becomes 5, for each of 3 users.',
      'Budget per month, in US dollars: no limit becomes 2, for the application as a whole.',
    ]);
  });

  it('thresholds of budgets → those before and after, or the default ones', () => {
    const at = (thresholds: readonly number[]) =>
      limited({ per_app: { spending: { monthly_usd: 2, thresholds: [...thresholds] } } });
    const plain = limited({ per_app: { spending: { monthly_usd: 2 } } });
    const line = (change: string) => [
      `Shares of a budget that webhooks report: ${change}, for the application as a whole.`,
    ];
    expect(meant(plain, at([0.9]))).toEqual(line('0.5, 0.8, 1 (as usual) becomes 0.9'));
    expect(meant(at([0.25, 1]), plain)).toEqual(line('0.25, 1 becomes 0.5, 0.8, 1 (as usual)'));
    expect(meant(at([0.9]), at([]))).toEqual(line('0.9 becomes none'));
  });
});

describe('what an added application means', () => {
  it('who may call it, what they reach, and that no limit applies', () => {
    expect(creationMeaning({ status: 'active', config: SERVER })).toEqual([
      'Anyone with its key may call it.',
      'Calls may reach every provider of the account.',
      'It has no limit on requests or spending.',
    ]);
  });

  it('its rules, its endpoints and its limits', () => {
    const config = {
      ...reaching({ allowed_models: ['a'] }),
      ...as({ source: 'header' }, reaching({ allowed_models: ['a'] })),
      endpoints: serving({ max_output_tokens: 9 }).endpoints,
      limits: { per_user: { requests: { per_day: 5 } } },
    } as AppConfig;
    expect(creationMeaning({ status: 'disabled', config })).toEqual([
      'It becomes disabled: its calls are refused.',
      'Anyone with its key may call it.',
      'Calls without the user in the header x-end-user-id are refused.',
      'Calls may reach openai alone.',
      'Through openai, calls of everything but a are refused.',
      'The endpoint sum is new, served by openai with m.',
      'At the endpoint sum, calls that ask for more than 9 output tokens are refused (ceiling before: none).',
      'Requests per day: 5, for each user.',
    ]);
  });
});

describe('proofs of devices', () => {
  const apple = { team_id: 'ABCDE12345', bundle_id: 'com.example.ios' };
  const android = { package_names: ['com.example.android'], signing_certificates: ['ab'.repeat(32)] };
  const plain = (app_attest: object = apple) =>
    ({
      ...SERVER,
      authentication: { type: 'device_app_attest', end_user: { source: 'app_install' }, app_attest },
    }) as AppConfig;
  const proving = (proofs: object) =>
    ({
      ...SERVER,
      authentication: { type: 'device_proofs', end_user: { source: 'app_install' }, proofs },
    }) as AppConfig;

  it('added → who may call', () => {
    const config = proving({ app_attest: apple, key_attestation: android });
    expect(creationMeaning({ status: 'active', config })).toContain(
      'Devices with the apps com.example.ios, com.example.android may call it (app_attest, key_attestation).',
    );
  });

  it('Play Integrity besides another proof → its devices get, lose and keep access', () => {
    const play = { package_name: 'com.example.android', require: ['MEETS_DEVICE_INTEGRITY'], decode: 'local' };
    const [without, first] = [
      proving({ key_attestation: android }),
      proving({ key_attestation: android, play_integrity: play }),
    ];
    const other = proving({ key_attestation: android, play_integrity: { ...play, allow_unlicensed: true } });
    expect(creationMeaning({ status: 'active', config: first })).toContain(
      'Devices with the apps com.example.android may call it (key_attestation, play_integrity).',
    );
    expect(meant(without, first)).toEqual(['Android devices with Play Integrity get access.']);
    expect(meant(first, without)).toEqual(['Android devices with Play Integrity lose access (up to 3 users).']);
    expect(meant(first, other)).toEqual([
      'Android devices with Play Integrity are judged by the new rules from their next token on (up to 3 users).',
    ]);
  });

  it('Android besides App Attest → only Android devices are concerned', () => {
    expect(meant(plain(), proving({ app_attest: apple, key_attestation: android }))).toEqual([
      'Android devices get access.',
    ]);
  });

  it.each([
    [
      { app_attest: apple },
      { key_attestation: android },
      ['Every caller loses access: the authentication changes (3 users).'],
    ],
    [
      { app_attest: apple, key_attestation: android },
      { app_attest: apple },
      ['Android devices lose access (up to 3 users).'],
    ],
    [
      { app_attest: apple, key_attestation: android },
      { key_attestation: android },
      ['Apple devices lose access (up to 3 users).'],
    ],
    [{ key_attestation: android }, { app_attest: apple, key_attestation: android }, ['Apple devices get access.']],
    [
      { app_attest: apple },
      { app_attest: { ...apple, framework_client: true } },
      ["Apps that call through Apple's language-model framework get tokens."],
    ],
    [
      { key_attestation: android },
      { key_attestation: { ...android, min_os_patch: 202_601 } },
      ['Android devices are judged by the new rules from their next token on (up to 3 users).'],
    ],
  ])('%j to %j → %j', (before, after, meaning) => {
    const isPlain = !('key_attestation' in before);
    expect(meant(isPlain ? plain() : proving(before), proving(after))).toEqual(meaning);
  });
});

describe('modes of proofs', () => {
  const apple = { team_id: 'ABCDE12345', bundle_id: 'com.example.ios' };
  const proving = (mode: string, members: object = {}) =>
    ({
      ...SERVER,
      authentication: {
        ...{ type: 'device_proofs', end_user: { source: 'app_install' } },
        proofs: { app_attest: { ...apple, mode } },
        ...members,
      },
    }) as AppConfig;

  it.each([
    [
      'enforce',
      'observe',
      'Warning: app_attest becomes looser (observe): devices whose proof fails get a token like any other.',
    ],
    [
      'enforce',
      'tier',
      'Warning: app_attest becomes looser (tier): devices whose proof fails get a token with the limits of limits.unproven.',
    ],
    [
      'observe',
      'enforce',
      'app_attest becomes stricter (enforce): devices whose proof fails are refused, and tokens without a proof end.',
    ],
  ])('%s to %s → %s', (before, after, meaning) => {
    expect(meant(proving(before), proving(after))).toEqual([meaning]);
  });

  it('the minimum version → which devices get no more tokens', () => {
    expect(meant(proving('enforce'), proving('enforce', { min_app_version: '2.1' }))).toEqual([
      'Versions of the app below 2.1 get no more tokens (lowest before: any).',
    ]);
    expect(meant(proving('enforce', { min_app_version: '2.1' }), proving('enforce'))).toEqual([
      'Every version of the app gets tokens.',
    ]);
  });

  it('limits of devices without a proof → limits for all of them together', () => {
    const limits = { unproven: { requests: { per_minute: 5 }, allowed_endpoints: ['ask'] } };
    expect(meant(proving('tier'), { ...proving('tier'), limits } as AppConfig)).toEqual([
      'Requests per minute: no limit becomes 5, for all devices without a proof together.',
      'Endpoints that are left: no limit becomes ask, for all devices without a proof together.',
    ]);
  });
});
