import { describe, expect, it } from '@jest/globals';
import { parseAppConfig } from '../../app-directory/config/app-config.js';
import { kotlinSnippet } from './kotlin-snippet.rules.js';
import { shellSnippet } from './shell-snippet.rules.js';
import { type CallableProvider, type SnippetCall, snippetTarget } from './snippet-target.rules.js';
import { swiftSnippet } from './swift-snippet.rules.js';

const DEVICE = {
  type: 'device_app_attest',
  end_user: { source: 'app_install' },
  app_attest: { team_id: 'ABCDE12345', bundle_id: 'com.example.app', environments: ['production'] },
} as const;
const CALL: SnippetCall = {
  origin: 'https://gateway.example.com',
  appId: 'notes-abc123',
  authentication: { type: 'api_key' },
  target: { path: 'proxy/openai/v1/responses', body: { model: "it's $HOME" }, headers: [], notes: [] },
};

function configOf(selected?: object, endpoints = {}) {
  const providers = selected === undefined ? { mode: 'all' } : { mode: 'selected', selected };
  return parseAppConfig({
    authentication: { type: 'api_key' },
    routing: { providers, model_rewrites: {} },
    endpoints,
  });
}

function aProvider(overrides: Partial<CallableProvider> = {}): CallableProvider {
  const common = { id: 'p', slug: 'one', type: 'openai', status: 'active' } as const;
  return { ...common, endpointStyles: [], apiStyles: [], routeKind: 'direct', ...overrides };
}

const policy = (members: object) => ({ one: { allowed_paths: [], allowed_models: [], ...members } });

describe('snippetTarget: the path of a provider', () => {
  it.each<[string, Partial<CallableProvider>, object, string, object]>([
    ['openai', {}, {}, 'v1/responses', { model: 'm', input: 'Say hello.' }],
    ['groq', { type: 'groq' }, {}, 'openai/v1/chat/completions', { model: 'm' }],
    ['mistral', { type: 'mistral' }, {}, 'v1/chat/completions', { model: 'm' }],
    ['anthropic', { type: 'anthropic' }, {}, 'v1/messages', { model: 'm', max_tokens: 100 }],
    ['anthropic, a low ceiling', { type: 'anthropic' }, { max_output_tokens: 9 }, 'v1/messages', { max_tokens: 9 }],
    ['openai through vercel', { routeKind: 'vercel' }, {}, 'v1/chat/completions', { model: 'm' }],
    ['an allowed path', {}, { allowed_paths: ['v1/files', 'v1/chat/completions'] }, 'v1/chat/completions', {}],
    [
      'gemini’s own path',
      { type: 'gemini' },
      { allowed_paths: ['v1beta/models/{model}:generateContent'] },
      'v1beta/models/m:generateContent',
      { contents: [{ parts: [{ text: 'Say hello.' }] }] },
    ],
  ])('%s', (_, provider, selected, path, body) => {
    const config = configOf(policy({ allowed_models: ['m'], ...selected }));
    const target = snippetTarget(config, [aProvider(provider)], { provider: 'one' });
    expect(target).toMatchObject({ path: `proxy/one/${path}`, body, notes: [] });
  });

  it('no model in the configuration → a placeholder to fill in', () => {
    const target = snippetTarget(configOf(), [aProvider()], {});
    expect(target).toMatchObject({ body: { model: 'MODEL' }, notes: [expect.stringContaining('Replace MODEL')] });
  });
});

describe('snippetTarget: the choice', () => {
  const endpoints = {
    ask: { api_style: 'responses', provider: 'one', model: 'gpt-4.1' },
    hear: { api_style: 'transcription', provider: 'one', model: 'whisper-1' },
  };

  it('nothing named → the first active provider with an example, else the first endpoint', () => {
    const providers = [aProvider({ slug: 'off', status: 'disabled' }), aProvider({ slug: 'on' })];
    expect(snippetTarget(configOf(undefined, endpoints), providers, {}).path).toBe('proxy/on/v1/responses');
    expect(snippetTarget(configOf({}, endpoints), providers, {}).path).toBe('endpoints/ask');
  });

  it('an endpoint → JSON or a form, without a model', () => {
    const ask = (endpoint: string) => snippetTarget(configOf({}, endpoints), [], { endpoint });
    expect(ask('ask')).toMatchObject({ path: 'endpoints/ask', body: { input: 'Say hello.' } });
    expect(ask('hear').body).toBeUndefined();
  });

  it.each<[object, string]>([
    [{ endpoint: 'toString' }, 'endpoint_not_found'],
    [{ provider: 'none' }, 'provider_not_found'],
    [{ provider: 'two' }, 'provider_not_found'],
    [{ provider: 'one' }, 'unsupported_snippet'],
    [{}, 'unsupported_snippet'],
    [{ provider: 'one', endpoint: 'ask' }, 'invalid_request'],
  ])('%j → %s', (question, code) => {
    const config = configOf(policy({ allowed_paths: ['v1/files', { path: 'v1/responses', methods: ['GET'] }] }));
    const ask = () => snippetTarget(config, [aProvider(), aProvider({ slug: 'two', type: 'groq' })], question);
    expect(ask).toThrow(expect.objectContaining({ code }));
  });
});

describe('shellSnippet', () => {
  it('texts of the configuration → words that the shell does not expand', () => {
    const { snippet } = shellSnippet(CALL);
    expect(snippet).toContain(String.raw`-d '{"model":"it'\''s $HOME"}'`);
    expect(snippet).toContain('-H "Authorization: Bearer $APP_KEY"');
  });
});

describe('swiftSnippet', () => {
  it('texts of the configuration → literals without interpolation', () => {
    const body = { model: 'a\\(b)\u0001\b"' };
    const { snippet } = swiftSnippet({
      ...CALL,
      authentication: DEVICE,
      target: { ...CALL.target, body, headers: [['x', 'a\tb']] },
    });
    expect(snippet).toContain(String.raw`version, "x": "a\u{9}b"])`);
    expect(snippet).toContain(String.raw`Data("{\"model\":\"a\\\\(b)\\u0001\\b\\\"\"}".utf8)`);
    expect(snippet).not.toContain('issuerToken');
  });

  it('users of an issuer → their token is a parameter', () => {
    const issuer = parseAppConfig({
      authentication: {
        ...DEVICE,
        end_user: {
          source: 'issuer',
          issuer: {
            ...{ jwks_url: 'https://id.example.com/jwks.json', issuer: 'https://id.example.com', audience: 'a' },
            ...{ user_id_claim: 'sub', required_claims: [], max_token_lifetime_seconds: 3600 },
          },
        },
      },
      routing: { providers: { mode: 'all' }, model_rewrites: {} },
    });
    const { snippet, notes } = swiftSnippet({ ...CALL, authentication: issuer.authentication });
    expect(snippet).toContain('func registerDevice(issuerToken: String)');
    expect(snippet).toContain('func gatewayToken(keyId: String, issuerToken: String)');
    expect(notes.join(' ')).toContain('issuerToken');
  });

  it('an upload → none', () => {
    const { body: _body, ...target } = CALL.target;
    const ask = () => swiftSnippet({ ...CALL, authentication: DEVICE, target });
    expect(ask).toThrow(expect.objectContaining({ code: 'unsupported_snippet' }));
  });
});

describe('kotlinSnippet', () => {
  const android = { package_names: ['com.example.app'], signing_certificates: ['ab'.repeat(32)] };
  const play = { package_name: 'com.example.app', require: ['MEETS_DEVICE_INTEGRITY'] };
  const of = (proofs: object, source = 'app_install') => {
    const issuer = {
      ...{ jwks_url: 'https://id.example.com/jwks.json', issuer: 'https://id.example.com', audience: 'a' },
      ...{ user_id_claim: 'sub', required_claims: [], max_token_lifetime_seconds: 3600 },
    };
    const end_user = source === 'issuer' ? { source, issuer } : { source };
    const routing = { providers: { mode: 'all' }, model_rewrites: {} };
    return parseAppConfig({ authentication: { type: 'device_proofs', end_user, proofs }, routing }).authentication;
  };
  const code = (proofs: object, source?: string) =>
    kotlinSnippet({ ...CALL, authentication: of(proofs, source) }).snippet;

  it('texts of the configuration → literals without templates', () => {
    const body = { model: 'a\\$b\u0001"' };
    const target = { ...CALL.target, body, headers: [['x', 'a\tb']] as const };
    const { snippet } = kotlinSnippet({ ...CALL, authentication: of({ key_attestation: android }), target });
    expect(snippet).toContain(String.raw`to appVersion, "x" to "a\u0009b"))`);
    expect(snippet).toContain(String.raw`val body = "{\"model\":\"a\\\\\$b\\u0001\\\"\"}"`);
    expect(snippet).not.toContain('issuerToken');
  });

  it('both proofs → key attestation is preferred to Play Integrity → a key with the bytes of the challenge, and its chain', () => {
    const snippet = code({ key_attestation: android, play_integrity: { ...play, decode: 'vendor' } });
    expect(snippet).toContain('.setAttestationChallenge(Base64.getUrlDecoder().decode(challenge))');
    expect(snippet).toContain('.put("certificate_chain", JSONArray(chain))');
    expect(snippet).toContain('fun registerDevice() {');
  });

  it.each([
    ['vendor', 'StandardIntegrityTokenRequest.builder().setRequestHash(hash)'],
    ['local', 'IntegrityTokenRequest.builder().setNonce(hash)'],
  ])('Play Integrity that %s decodes → a token bound to challenge and key', (decode, request) => {
    const snippet = code({ play_integrity: { ...play, decode } });
    expect(snippet).toContain(request);
    expect(snippet).toContain('sha256(clientData(challenge).toByteArray())');
    expect(snippet).toContain('fun registerDevice(context: Context) {');
    expect(snippet).not.toMatch(/JSONArray|AttestationChallenge/);
  });

  it('users of an issuer → their token is a parameter', () => {
    expect(code({ key_attestation: android }, 'issuer')).toContain('fun gatewayToken(issuerToken: String): String');
  });

  it('no proof of Android devices, an upload → none', () => {
    const unsupported = expect.objectContaining({ code: 'unsupported_snippet' });
    expect(() => kotlinSnippet({ ...CALL, authentication: DEVICE })).toThrow(unsupported);
    const { body: _body, ...target } = CALL.target;
    const authentication = of({ key_attestation: android });
    expect(() => kotlinSnippet({ ...CALL, authentication, target })).toThrow(unsupported);
  });
});
