import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import {
  type Answer,
  type CallOptions,
  documentedRefusals,
  exchangeBytes,
  openTarget,
  ProxyClient,
  read,
  refusalOf,
} from '../../support/proxy/proxy-client.js';
import { startWorld, type World } from '../../support/world.js';

const PATH = 'v1/chat/completions';
const POLICY = {
  allowed_paths: [PATH, 'v1/responses'],
  allowed_models: ['gpt-4.1', 'unpriced'],
  max_output_tokens: 100,
};
const NO_CREDENTIAL = { credential: [] };
const BAD_KEY = { credential: ['authorization', 'Bearer gw_nobody'] };
const NOT_JSON = { body: '{"model":' };
const TOO_LARGE = { headers: ['content-length', String(20 * 1024 * 1024 + 1)] };

let world: World;
let documented: (answer: Answer) => void;
/** May call only its own provider, under `POLICY`. */
let listed: ProxyClient;
/** A provider of the same account that `listed` may not call. */
let unlisted: ProxyClient;
let named: ProxyClient;
let disabled: ProxyClient;
let unreadable: ProxyClient;
let paused: ProxyClient;
let sealed: ProxyClient;
let onlyChat: ProxyClient;

beforeAll(async () => {
  world = await startWorld();
  documented = documentedRefusals(world);
  const pricing = { unpriced: { input: 1, output: 1 } };
  listed = await ProxyClient.create(world, { provider: { pricing }, policy: POLICY });
  await world.api.put(`/v1/admin/providers/${listed.providerId}`, { pricing: null });
  unlisted = await ProxyClient.create(world);
  named = await ProxyClient.create(world, { authentication: { type: 'api_key', end_user: { source: 'header' } } });
  disabled = await ProxyClient.create(world);
  unreadable = await ProxyClient.create(world);
  paused = await ProxyClient.create(world);
  sealed = await ProxyClient.create(world);
  onlyChat = await ProxyClient.create(world, {
    provider: { type: 'openrouter' },
    policy: { allowed_paths: ['v1/responses'] },
  });
  const { dataSource, api } = world;
  const { body } = await api.get(`/v1/admin/apps/${disabled.appId}`);
  const { name, config, revision } = body.app;
  await api.put(`/v1/admin/apps/${disabled.appId}`, { name, config, revision, status: 'disabled' });
  await api.put(`/v1/admin/providers/${paused.providerId}`, { status: 'disabled' });
  await dataSource.query(`UPDATE apps SET config = '{"routing":7}', status = 'disabled' WHERE id = $1`, [
    unreadable.appId,
  ]);
  await dataSource.query(
    'UPDATE providers SET secret_blob = (SELECT secret_blob FROM providers WHERE id = $2) WHERE id = $1',
    [sealed.providerId, listed.providerId],
  );
});

beforeEach(() => {
  world.logs.length = 0;
  world.upstream.forget();
});

afterAll(() => world.stop());

interface TwoWrongs {
  readonly client?: () => ProxyClient;
  readonly path?: string;
  readonly call?: CallOptions;
  readonly body?: object;
}

/**
 * Each is wrong in two ways: the check that comes first answers. In the order of
 * docs/reference/application-api.md#order-of-checks.
 */
const ORDER: [string, [number, string], TwoWrongs][] = [
  [
    'unknown application, and no credential',
    [404, 'app_not_found'],
    {
      client: () => new ProxyClient(world, 'nobody-has-this', '', listed.slug, ''),
      call: NO_CREDENTIAL,
    },
  ],
  ['configuration unreadable, and disabled', [500, 'internal_error'], { client: () => unreadable }],
  ['application disabled, and no credential', [403, 'app_disabled'], { client: () => disabled, call: NO_CREDENTIAL }],
  ['no credential, and end-user header missing', [401, 'auth_required'], { client: () => named, call: NO_CREDENTIAL }],
  ['end-user header missing, and bad key', [400, 'invalid_request'], { client: () => named, call: BAD_KEY }],
  ['bad key, and bad provider slug', [401, 'auth_required'], { client: () => listed.at('NoSlug'), call: BAD_KEY }],
  ['bad provider slug, and not JSON', [403, 'path_not_allowed'], { client: () => listed.at('NoSlug'), call: NOT_JSON }],
  ['empty path, and unknown provider', [403, 'path_not_allowed'], { client: () => listed.at('nowhere'), path: '' }],
  ['unknown provider, and not in the policy', [502, 'provider_not_configured'], { client: () => listed.at('nowhere') }],
  ['a prototype name for a provider', [502, 'provider_not_configured'], { client: () => listed.at('constructor') }],
  ['provider disabled, and not in the policy', [502, 'provider_disabled'], { client: () => listed.at(paused.slug) }],
  [
    'provider key not readable, and not in the policy',
    [502, 'provider_unavailable'],
    { client: () => listed.at(sealed.slug) },
  ],
  [
    'provider not in the policy, and not JSON',
    [403, 'path_not_allowed'],
    { client: () => listed.at(unlisted.slug), call: NOT_JSON },
  ],
  ['path not in the policy, and too large', [403, 'path_not_allowed'], { path: 'v1/files', call: TOO_LARGE }],
  [
    'style the provider does not serve, and not JSON',
    [403, 'api_style_not_supported'],
    { client: () => onlyChat, path: 'v1/responses', call: NOT_JSON },
  ],
  ['too large, and not JSON', [413, 'payload_too_large'], { call: TOO_LARGE }],
  ['not JSON, and no model', [400, 'invalid_request'], { call: NOT_JSON }],
  ['no model, and above the cap', [400, 'invalid_request'], { body: { max_tokens: 101 } }],
  ['model not allowed, and without a price', [403, 'model_not_allowed'], { body: { model: 'other', max_tokens: 101 } }],
  [
    'model without a price, and above the cap',
    [400, 'pricing_not_configured'],
    { body: { model: 'unpriced', max_tokens: 101 } },
  ],
  ['above the cap alone', [403, 'max_output_tokens_exceeded'], { body: { model: 'gpt-4.1', max_tokens: 101 } }],
];

describe('order of checks', () => {
  it.each(ORDER)('%s → %j, one log line, nothing is sent', async (_name, refusal, wrongs) => {
    const { client = () => listed, path = PATH, call = {}, body = { model: 'gpt-4.1' } } = wrongs;
    const answer = await client().call(path, call === TOO_LARGE ? call : { body, ...call });
    expect(refusalOf(answer)).toEqual(refusal);
    documented(answer);
    expect(world.upstream.requests).toHaveLength(0);
    const [status, code] = refusal;
    const { reason, timestamp, ...line } = world.logs.find(({ message }) => message === 'gateway_error') ?? {};
    expect(line).toEqual({
      level: status < 500 ? 'warn' : 'error',
      message: 'gateway_error',
      code,
      status,
      path: `/v1/apps/${client().appId}/proxy/${client().slug}/${path}`,
      method: 'POST',
      app: client().appId,
    });
    expect([undefined, 'string']).toContain(reason === undefined ? undefined : typeof reason);
    expect(new Date(String(timestamp)).toISOString()).toBe(timestamp);
    expect(world.logs.filter(({ message }) => message === 'gateway_error')).toHaveLength(1);
  });

  it('a query and a long version → the line contains neither the query nor more than 64 characters', async () => {
    await listed.call('v1/files?key=secret', { body: {}, headers: ['x-app-version', `1.${'9'.repeat(100)}`] });
    expect(listed.lines('gateway_error')).toMatchObject([
      { path: `/v1/apps/${listed.appId}/proxy/${listed.slug}/v1/files`, appVersion: `1.${'9'.repeat(62)}` },
    ]);
    expect(JSON.stringify(world.logs)).not.toContain('secret');
  });

  it('control characters and quotes in a version → question marks in the log', async () => {
    await listed.call('v1/files', { headers: ['x-app-version', 'a\tb"c'] });
    expect(listed.lines('gateway_error')).toMatchObject([{ appVersion: 'a?b?c' }]);
  });
});

describe('Server-Timing', () => {
  it('a served call → three marks, the provider’s above zero', async () => {
    const answer = await listed.call(PATH, { body: { model: 'gpt-4.1' } });
    expect(answer.status).toBe(200);
    expect(answer.headers['server-timing']).toMatch(
      /^auth;dur=\d+\.\d, limiter;dur=\d+\.\d, provider_ttfb;dur=\d+\.\d$/,
    );
  });

  it('a refusal before authentication → the marks, all zero', async () => {
    const answer = await listed.call(PATH, { headers: ['authorization', 'Bearer again'], body: {} });
    expect(refusalOf(answer)).toEqual([400, 'invalid_request']);
    expect(listed.lines('gateway_error')).toHaveLength(1);
  });

  it('an invalid escape in the path → the marks, and one log line', async () => {
    const answer = await listed.call('v1/models/%zz:generateContent', { body: {} });
    expect(refusalOf(answer)).toEqual([403, 'path_not_allowed']);
    expect(listed.lines('gateway_error')).toHaveLength(1);
  });
});

describe('routes around the proxy', () => {
  it.each([
    ['an escaped letter in the prefix', '/v1/%61pps/APP/proxy/SLUG/v1/chat/completions'],
    ['an escaped letter in the route', '/v1/apps/APP/%70roxy/SLUG/v1/chat/completions'],
    ['an escaped slash', '/v1/apps/APP%2fproxy/SLUG/v1/chat/completions'],
    ['a doubled slash', '/v1//apps/APP/proxy/SLUG/v1/chat/completions'],
    ['a dot segment', '/v1/apps/../apps/APP/proxy/SLUG/v1/chat/completions'],
  ])('%s → refused at once, nothing is sent', async (_name, target) => {
    const filled = target.replace('APP', listed.appId).replace('SLUG', listed.slug);
    const credential = ['authorization', `Bearer ${listed.key}`];
    const answer = await read(await openTarget(world, filled, { credential, body: { model: 'gpt-4.1' } }).head);
    expect([answer.status, JSON.parse(answer.body.toString()).error.code]).toEqual([404, 'invalid_request']);
    expect(world.upstream.requests).toHaveLength(0);
  });

  it.each([
    ['two lengths', 'Content-Length: 2\r\nContent-Length: 2\r\n\r\n{}'],
    ['length and chunks', 'Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n'],
    ['a chunk size that is not a number', 'Transfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n'],
    ['a transfer coding of which chunked is not the last', 'Transfer-Encoding: chunked, identity\r\n\r\n{}'],
    ['two hosts', 'Host: b\r\nContent-Length: 2\r\n\r\n{}'],
    ['a blank before the colon', 'Content-Length : 2\r\n\r\n{}'],
  ])('%s → 400, nothing is sent', async (_name, rest) => {
    const target = `/v1/apps/${listed.appId}/proxy/${listed.slug}/${PATH}`;
    const head = `POST ${target} HTTP/1.1\r\nHost: a\r\nConnection: close\r\nAuthorization: Bearer ${listed.key}\r\n`;
    expect(await exchangeBytes(world, head + rest)).toMatch(/^HTTP\/1\.1 400 /);
    expect(world.upstream.requests).toHaveLength(0);
  });

  it('a body that ends before its length → nothing is sent', async () => {
    const target = `/v1/apps/${listed.appId}/proxy/${listed.slug}/${PATH}`;
    const head = `POST ${target} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${listed.key}\r\nContent-Length: 99\r\n\r\n`;
    expect(await exchangeBytes(world, `${head}{"model":"gpt-4.1"}`)).not.toMatch(/^HTTP\/1\.1 2/);
    expect(world.upstream.requests).toHaveLength(0);
  });
});
