import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { type Answer, exchangeBytes, ProxyClient } from '../../support/proxy/proxy-client.js';
import { garbage, json, redirect, type Script, sse, unaskedGzip } from '../../support/proxy/upstream-scripts.js';
import { startWorld, type World } from '../../support/world.js';

const PATH = 'v1/responses';
const BODY = { model: 'gpt-4.1' };
const SECRET = 'sk-abcabcabd-provider-secret';
const MASKED = '*'.repeat(SECRET.length);
/** Always present: headers of the connection, our own requests, and the provider's key. */
const OURS = [
  ['host', ''],
  ['cdn-loop', ''],
  ['connection', 'keep-alive'],
  ['content-type', 'application/json'],
  ['accept-encoding', 'identity'],
  ['authorization', `Bearer ${SECRET}`],
  ['content-length', '19'],
];

let world: World;
let client: ProxyClient;

beforeAll(async () => {
  world = await startWorld();
  client = await ProxyClient.create(world, { provider: { secret: SECRET } });
});

beforeEach(() => {
  world.upstream.forget();
  world.upstream.script(json(200, { ok: true }));
});

afterAll(() => world.stop());

const pairsOf = (flat: readonly string[]): [string, string][] =>
  flat.flatMap((text, at) => (at % 2 === 0 ? [[text.toLowerCase(), flat[at + 1] ?? ''] as [string, string]] : []));

/** The header lines the provider got, in the order of their names. */
async function sentWith(headers: readonly string[], of = client): Promise<string[]> {
  expect((await of.call(PATH, { body: BODY, headers })).status).toBe(200);
  return linesOf(pairsOf(world.upstream.requests[0]?.rawHeaders ?? []));
}

/** Their values differ with the suite. */
const OF_THIS_RUN: ReadonlySet<string> = new Set(['host', 'cdn-loop']);

const linesOf = (pairs: readonly (readonly string[])[]): string[] =>
  pairs.map(([name, value]) => (OF_THIS_RUN.has(name ?? '') ? (name ?? '') : `${name}: ${value}`)).sort();

/** Node's own lines of an answer: those of the connection, and the date where the provider sent none. */
const OF_THE_CONNECTION = new Set([
  'connection',
  'keep-alive',
  'transfer-encoding',
  'date',
  'server-timing',
  'content-length',
  'x-content-type-options',
]);

const relayed = (answer: Answer): string[] =>
  linesOf(pairsOf(answer.rawHeaders).filter(([name]) => !OF_THE_CONNECTION.has(name)));

describe('request headers', () => {
  it('nothing but the credential → the provider gets only the fixed headers', async () => {
    expect(await sentWith([])).toEqual(linesOf(OURS));
  });

  it('every header on the list → sent unchanged', async () => {
    const allowed = [
      ['accept', 'text/event-stream'],
      ['accept-language', 'de'],
      ['user-agent', 'SDK/1.0 (é)'],
      ['anthropic-version', '2023-06-01'],
      ['anthropic-beta', 'a,b'],
      ['anthropic-dangerous-direct-browser-access', 'true'],
      ['openai-beta', 'assistants=v2'],
      ['x-goog-api-client', 'gl-node/24'],
      ['idempotency-key', 'k-1'],
      ['x-stainless-lang', 'js'],
      ['x-stainless-anything', '1'],
    ].map(([name = '', value = '']) => [name, Buffer.from(value).toString('latin1')]);
    expect(await sentWith(allowed.flat())).toEqual(linesOf([...OURS, ...allowed]));
  });

  it('every other header → not forwarded', async () => {
    const others = [
      ...['cookie', 'origin', 'referer', 'x-request-id', 'forwarded', 'via', 'x-real-ip', 'x-forwarded-for'],
      ...['x-forwarded-host', 'x-forwarded-proto', 'openai-organization', 'openai-project', 'x-goog-user-project'],
      ...['x-api-key', 'x-goog-api-key', 'x-end-user-id', 'x-app-version', 'x-openrouter-metadata', 'accept-encoding'],
      ...['cf-aig-authorization', 'cf-aig-metadata', 'cf-aig-cache-ttl', 'ai-reporting-user', 'ai-reporting-tags'],
      ...[
        'x-stainless',
        'xx-stainless-lang',
        'anthropic-version-2',
        'te',
        'upgrade',
        'proxy-authorization',
        'keep-alive',
      ],
      ...['proxy-connection', 'range', 'if-none-match', 'priority', 'traceparent', 'sec-fetch-mode', '__proto__'],
    ];
    expect(await sentWith(others.flatMap((name) => [name, 'from-the-client']))).toEqual(linesOf(OURS));
  });

  it('headers that the client lists in Connection → not forwarded', async () => {
    const headers = [
      'connection',
      'X-Stainless-Lang, accept',
      'x-stainless-lang',
      'js',
      'accept',
      'a',
      'user-agent',
      'b',
    ];
    expect(await sentWith(headers)).toEqual(linesOf([...OURS, ['user-agent', 'b']]));
  });

  it('gateway headers named in Connection → sent as well', async () => {
    const headers = ['connection', 'authorization, content-type, accept-encoding, content-length, host'];
    expect(await sentWith(headers)).toEqual(linesOf(OURS));
  });

  it('a header with an underscore for a hyphen, or a value with a line end → does not become another header', async () => {
    expect(await sentWith(['accept_language', 'x', 'content_type', 'x'])).toEqual(linesOf(OURS));
    const head = `POST /v1/apps/${client.appId}/proxy/${client.slug}/${PATH} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n`;
    const evil = 'User-Agent: a\nx-evil: 1\r\nContent-Length: 19\r\n\r\n{"model":"gpt-4.1"}';
    const answer = await exchangeBytes(world, `${head}Authorization: Bearer ${client.key}\r\n${evil}`);
    expect(answer).toMatch(/^HTTP\/1\.1 400 /);
    expect(world.upstream.requests).toHaveLength(1);
  });

  it('a fixed header of the provider type → the client can neither change nor duplicate it', async () => {
    const openrouter = await ProxyClient.create(world, { provider: { type: 'openrouter', secret: SECRET } });
    const options = { body: { model: 'a/b' }, headers: ['x-openrouter-metadata', 'disabled'] };
    await openrouter.call('v1/chat/completions', options);
    expect(pairsOf(world.upstream.requests[0]?.rawHeaders ?? [])).toContainEqual(['x-openrouter-metadata', 'enabled']);
    expect(JSON.stringify(world.upstream.requests[0]?.rawHeaders)).not.toContain('disabled');
  });

  it('Anthropic-type → the client may send the version header', async () => {
    const anthropic = await ProxyClient.create(world, { provider: { type: 'anthropic', secret: SECRET } });
    await anthropic.call('v1/messages', { body: { model: 'claude-sonnet-5' } });
    expect(world.upstream.requests[0]?.header('anthropic-version')).toBeUndefined();
    expect(world.upstream.requests[0]?.header('x-api-key')).toBe(SECRET);
    expect(world.upstream.requests[0]?.header('authorization')).toBeUndefined();
  });
});

describe('response headers', () => {
  async function answerTo(script: Script): Promise<Answer> {
    world.upstream.script(script);
    return client.call(PATH, { body: BODY });
  }

  it('headers that clients use → relayed unchanged, repeated ones too', async () => {
    const headers = {
      'x-request-id': 'req_1',
      'retry-after': '7',
      'x-ratelimit-remaining': '3',
      'cache-control': 'no-store',
      link: ['<https://a.example/>', '<https://b.example/>'],
      date: 'Thu, 01 Jan 2026 00:00:00 GMT',
    };
    const answer = await answerTo(json(200, { ok: true }, headers));
    expect(relayed(answer)).toEqual([
      'cache-control: no-store',
      'content-type: application/json',
      'link: <https://a.example/>',
      'link: <https://b.example/>',
      'retry-after: 7',
      'x-ratelimit-remaining: 3',
      'x-request-id: req_1',
    ]);
    expect(answer.headers['x-content-type-options']).toBe('nosniff');
    expect(pairsOf(answer.rawHeaders).filter(([name]) => name === 'date')).toEqual([['date', headers.date]]);
  });

  it('cookies, account names, connection headers, headers that set policies of a host, and unknown ones → not relayed', async () => {
    const dropped = [
      ...['set-cookie', 'set-cookie2', 'openai-organization', 'openai-project', 'proxy-authenticate'],
      ...['proxy-connection', 'te', 'trailer', 'etag', 'server-timing', 'anthropic-organization-id', 'x-anything'],
      ...['strict-transport-security', 'content-security-policy', 'clear-site-data', 'permissions-policy'],
      ...['access-control-allow-origin', 'access-control-allow-credentials', 'access-control-expose-headers'],
    ];
    const lines = [...dropped, 'retry-after'].map((name) => `${name}: evil\r\n`).join('');
    const head = `HTTP/1.1 200 OK\r\nConnection: ETag, keep-alive\r\n${lines}Content-Length: 2\r\n\r\n`;
    const answer = await answerTo(garbage(`${head}{}`));
    expect(relayed(answer)).toEqual(['retry-after: evil']);
    expect(answer.headers['server-timing']).not.toContain('evil');
  });

  it('status and reason → relayed, even an unusual reason', async () => {
    const head = 'content-type: application/json\r\ncontent-length: 2\r\n\r\n{}';
    const reason = await answerTo(garbage(`HTTP/1.1 429 Slow down, please\r\n${head}`));
    expect([reason.status, reason.statusText]).toEqual([429, 'Slow down, please']);
    const odd = await answerTo(garbage(`HTTP/1.1 200 \u20ac \u0001\r\n${head}`));
    expect([200, 502]).toContain(odd.status);
    expect((await answerTo(json(200, {}))).status).toBe(200);
  });

  it('values beyond ASCII → the same bytes', async () => {
    const answer = await answerTo(garbage('HTTP/1.1 200 OK\r\netag: \xe9\xff\u0080\tx\r\ncontent-length: 2\r\n\r\n{}'));
    expect(answer.headers.etag).toBe(Buffer.from('\xe9\xff\u0080\tx').toString('latin1'));
  });

  it('unrequested gzip → the plain body, without an encoding header', async () => {
    const answer = await answerTo(unaskedGzip({ text: 'é'.repeat(1000) }));
    expect(JSON.parse(answer.body.toString())).toEqual({ text: 'é'.repeat(1000) });
    expect(answer.headers['content-encoding']).toBeUndefined();
  });

  it('an encoding that cannot be decoded → 502, never bytes that the client cannot read', async () => {
    const answer = await answerTo(json(200, gzipSync('{}'), { 'content-encoding': 'gzip, br' }));
    expect([answer.status, JSON.parse(answer.body.toString()).error.code]).toEqual([502, 'provider_error']);
  });

  it.each([301, 302, 303, 307, 308] as const)('a %d → relayed, not followed', async (status) => {
    const answer = await answerTo(redirect(status, 'https://docs.provider.com/moved?to=here'));
    expect([answer.status, answer.headers.location]).toEqual([status, 'https://docs.provider.com/moved?to=here']);
    expect(world.upstream.requests).toHaveLength(1);
  });

  it('addresses of the provider, or of a private network → not relayed, the status stays', async () => {
    const headers = {
      location: `${world.upstream.url}/elsewhere`,
      'content-location': '/v1/responses/resp_1',
      link: `<${world.upstream.url}/next>; rel="next"`,
      refresh: '1; url=https://docs.provider.com/',
      'alt-svc': 'h3=":443"',
      'operation-location': 'https://account.provider.com/operations/1',
      'x-goog-upload-url': 'https://storage.provider.com/upload?id=1',
      'x-envoy-upstream-service-time': '5',
      'x-backend': '10.1.2.3:8080',
      via: '1.1 edge.corp.internal',
      warning: 'https://status.provider.com/',
    };
    const answer = await answerTo(json(201, { ok: true }, headers));
    expect(answer.status).toBe(201);
    expect(relayed(answer)).toEqual(['content-type: application/json', 'warning: https://status.provider.com/']);
  });
});

describe('the provider’s key in an answer', () => {
  const text = `a ${SECRET} b ${SECRET}${SECRET} sk-abcabcabc ${SECRET.slice(0, -1)}`;
  const masked = text.replaceAll(SECRET, MASKED);

  it('in a JSON body and in headers, errors included → masked, the rest unchanged', async () => {
    world.upstream.script(json(401, { error: text }, { etag: `Bearer ${SECRET}`, 'www-authenticate': SECRET }));
    const answer = await client.call(PATH, { body: BODY });
    expect(answer.status).toBe(401);
    expect(JSON.parse(answer.body.toString())).toEqual({ error: masked });
    expect([answer.headers.etag, answer.headers['www-authenticate']]).toEqual([`Bearer ${MASKED}`, MASKED]);
    expect(JSON.stringify(answer.rawHeaders)).not.toContain(SECRET);
  });

  it.each([1, 7, SECRET.length - 1])('in a stream with chunks of %d bytes → masked across them', async (size) => {
    const pieces = Array.from({ length: Math.ceil(text.length / size) }, (_, at) =>
      text.slice(at * size, (at + 1) * size),
    );
    world.upstream.script(sse(pieces));
    expect((await client.call(PATH, { body: BODY })).body.toString()).toBe(masked);
  });

  it('in a compressed body → masked', async () => {
    world.upstream.script(unaskedGzip({ error: text }));
    expect((await client.call(PATH, { body: BODY })).body.toString()).toBe(JSON.stringify({ error: masked }));
  });

  it('the key of another provider of the account, open in this process → masked in headers and body', async () => {
    const other = 'sk-of-the-other-provider';
    const otherClient = await ProxyClient.create(world, { provider: { secret: other } });
    world.upstream.script(json(200, { ok: true }));
    await otherClient.call(PATH, { body: BODY });
    const hidden = '*'.repeat(other.length);
    world.upstream.script(
      sse([`a ${other.slice(0, 9)}`, `${other.slice(9)} b ${SECRET}`], { headers: { etag: other } }),
    );
    const answer = await client.call(PATH, { body: BODY });
    expect([answer.headers.etag, answer.body.toString()]).toEqual([hidden, `a ${hidden} b ${MASKED}`]);
  });

  it('in the reason phrase → masked', async () => {
    world.upstream.script(garbage(`HTTP/1.1 401 ${SECRET}\r\ncontent-length: 2\r\n\r\n{}`));
    expect((await client.call(PATH, { body: BODY })).statusText).not.toContain(SECRET);
  });

  it('logs and events of this suite → contain neither key', async () => {
    const { body } = await world.api.get(`/v1/admin/apps/${client.appId}/events?limit=200`);
    const told = JSON.stringify(world.logs) + JSON.stringify(body);
    expect([told.includes(SECRET), told.includes(client.key)]).toEqual([false, false]);
  });
});
