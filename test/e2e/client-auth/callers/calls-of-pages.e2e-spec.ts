import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import pg from 'pg';
import type { Browser } from 'playwright-core';
import { PATH_METHODS } from '../../../../src/upstreams/path-policy.rules.js';
import { describeWithBrowser, startBrowser } from '../../../support/browser/chromium.js';
import { type Answer, openTarget, ProxyClient, read } from '../../../support/proxy/proxy-client.js';
import { event, json, sse } from '../../../support/proxy/upstream-scripts.js';
import { startWorld, type World } from '../../../support/world.js';

const ORIGIN = 'https://app.example.com';
const LISTED = [ORIGIN, 'http://localhost:5173', 'capacitor://localhost'];
/** Origins similar to the listed one, but different. */
const FOREIGN = [
  ...['https://evil.example', 'null', '*', 'https://APP.example.com', 'https://app.example.com:443'],
  ...['https://app.example.com/', 'http://app.example.com', 'http://localhost:5174', 'ionic://localhost'],
];
const BODY = { model: 'gpt-4.1-mini', messages: [{ role: 'user', content: 'Hi' }] };
const USAGE = { usage: { prompt_tokens: 3, completion_tokens: 2 } };
/** A careless provider. */
const OWN_CORS = {
  'access-control-allow-origin': '*',
  'access-control-allow-credentials': 'true',
  'access-control-allow-headers': '*',
  'access-control-expose-headers': '*',
  'access-control-max-age': '86400',
};
/** The headers of the official SDKs that browsers name in preflights. */
const SDK_HEADERS = [
  ...['anthropic-beta', 'anthropic-dangerous-direct-browser-access', 'anthropic-version', 'authorization'],
  ...['content-type', 'idempotency-key', 'openai-beta', 'openai-organization', 'x-api-key', 'x-app-version'],
  ...['x-goog-api-client', 'x-goog-api-key', 'x-stainless-os', 'x-stainless-retry-count'],
].join(',');
const NO_CREDENTIAL: string[] = [];

let world: World;
let provider: { id: string; slug: string };
let client: ProxyClient;
let plain: ProxyClient;

/** A client of an application with these members in addition to the usual ones. */
async function clientOf(config: object): Promise<ProxyClient> {
  const { id, slug } = provider;
  const endpoints = { answer: { api_style: 'responses', provider: slug, model: 'gpt-4.1-mini' } };
  const authentication = { type: 'api_key', end_user: { source: 'header' } };
  const app = await world.app({ authentication, endpoints, ...config });
  return new ProxyClient(world, app.id, app.key, slug, id);
}

beforeAll(async () => {
  world = await startWorld();
  provider = await world.provider();
  client = await clientOf({ allowed_origins: LISTED });
  plain = await clientOf({});
});

beforeEach(() => {
  world.upstream.forget();
  world.upstream.script(json(200, USAGE, OWN_CORS));
});

afterAll(() => world.stop());

const corsOf = ({ headers }: Pick<Answer, 'headers'>) =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => name.startsWith('access-control-')));

/** One request to a route of an application, with its key unless another credential is given. */
async function ask(
  { appId, key }: ProxyClient,
  route: string,
  { method = 'POST', headers = {}, body, credential = ['authorization', `Bearer ${key}`] }: AskOptions = {},
): Promise<Answer> {
  const flat = Object.entries(headers).flatMap(([name, value]) => (value === undefined ? [] : [name, value]));
  const options = {
    method,
    headers: ['x-end-user-id', 'ada', ...flat],
    credential,
    ...(body !== undefined && { body }),
  };
  return read(await openTarget(world, `/v1/apps/${appId}/${route}`, options).head);
}

interface AskOptions {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string | undefined>>;
  readonly body?: object;
  readonly credential?: string[];
}

const proxyRoute = ({ slug }: ProxyClient) => `proxy/${slug}/v1/chat/completions`;

function preflight(app: ProxyClient, origin: string, route = proxyRoute(app), method = 'POST'): Promise<Answer> {
  const asked = { 'access-control-request-method': method, 'access-control-request-headers': SDK_HEADERS };
  return ask(app, route, { method: 'OPTIONS', headers: { origin, ...asked }, credential: NO_CREDENTIAL });
}

/** The headers that an allowed page can read from an answer of the gateway itself. */
const READABLE = {
  'access-control-allow-origin': ORIGIN,
  'access-control-expose-headers': 'retry-after, server-timing',
};

const ROUTES: readonly [route: string, method: string][] = [
  ['proxy/openai/v1/chat/completions', 'POST'],
  ['proxy/openai/v1/files/file-1', 'DELETE'],
  ['endpoints/answer', 'POST'],
  ['auth/challenge', 'POST'],
  ['auth/register', 'POST'],
  ['auth/token', 'POST'],
  ['me', 'GET'],
  ['models', 'GET'],
];

describe('preflight', () => {
  it.each(ROUTES)(
    '%s from a listed origin → 204 without a credential, no cookies, no wildcard',
    async (route, method) => {
      const answer = await preflight(client, ORIGIN, route, method);
      expect([answer.status, answer.body.length, answer.headers.vary]).toEqual([204, 0, 'Origin']);
      expect(corsOf(answer)).toEqual({
        'access-control-allow-origin': ORIGIN,
        'access-control-allow-methods': PATH_METHODS.join(', '),
        'access-control-allow-headers': SDK_HEADERS,
        'access-control-max-age': '7200',
      });
      expect(world.upstream.requests).toHaveLength(0);
    },
  );

  it.each(LISTED)('the origin %s → named in the answer', async (origin) => {
    expect(corsOf(await preflight(client, origin))['access-control-allow-origin']).toBe(origin);
  });

  it.each(FOREIGN)('the origin %s → 403', async (origin) => {
    const answer = await preflight(client, origin);
    expect([answer.status, JSON.parse(answer.body.toString()).error.code]).toEqual([403, 'forbidden']);
    expect([corsOf(answer), answer.headers.vary]).toEqual([{}, 'Origin']);
  });

  it.each(ROUTES)(
    '%s of an unknown application, of one without a list, of another origin → the same 403',
    async (route) => {
      const unknown = new ProxyClient(world, 'nobody-000000', '', client.slug, client.providerId);
      const answers = await Promise.all([
        preflight(unknown, ORIGIN, route),
        preflight(plain, ORIGIN, route),
        preflight(client, 'https://evil.example', route),
      ]);
      const [first, ...others] = answers.map(({ status, headers, body }) => {
        const { date: _date, ...told } = headers;
        return { status, told, body: body.toString() };
      });
      expect(first?.status).toBe(403);
      for (const other of others) expect(other).toEqual(first);
    },
  );

  it('a refused preflight → one log line with its reason', async () => {
    world.logs.length = 0;
    await preflight(client, 'https://evil.example');
    expect(client.lines('gateway_error')).toEqual([
      expect.objectContaining({ code: 'forbidden', reason: 'page_not_allowed', status: 403, method: 'OPTIONS' }),
    ]);
  });

  it('many preflights → no limit counts them; no event, no statement', async () => {
    const limited = await clientOf({
      allowed_origins: [ORIGIN],
      limits: { per_app: { requests: { per_minute: 1, per_day: null } } },
    });
    await preflight(limited, ORIGIN);
    const query = jest.spyOn(pg.Client.prototype, 'query');
    for (let asked = 0; asked < 20; asked++) expect((await preflight(limited, ORIGIN)).status).toBe(204);
    const statements = query.mock.calls.map(([statement]) => String(statement)).filter((text) => /"apps"/.test(text));
    query.mockRestore();
    expect(statements).toEqual([]);
    expect((await ask(limited, proxyRoute(limited), { headers: { origin: ORIGIN }, body: BODY })).status).toBe(200);
    expect(await limited.events(1)).toHaveLength(1);
  });

  it('an ambiguous head → 400, as on every route', async () => {
    const asked = { origin: ORIGIN, 'access-control-request-method': 'POST', 'content-encoding': 'compress' };
    const answer = await ask(client, 'me', { method: 'OPTIONS', headers: asked, credential: NO_CREDENTIAL });
    expect(answer.status).toBe(415);
  });

  it('OPTIONS that is not a preflight → as for an application without a list', async () => {
    for (const headers of [{}, { origin: ORIGIN }, { 'access-control-request-method': 'POST' }]) {
      for (const route of [proxyRoute(client), 'endpoints/answer', 'me']) {
        const told = await Promise.all(
          [client, plain].map(async (app) => {
            const { status, body } = await ask(app, route, { method: 'OPTIONS', headers, credential: NO_CREDENTIAL });
            return [status, body.toString()];
          }),
        );
        expect(told[0]).toEqual(told[1]);
        expect([401, 404]).toContain(told[0]?.[0]);
      }
    }
  });
});

describe('a call from a listed origin', () => {
  const headers = { origin: ORIGIN };

  it('relayed → the page may read the answer and its headers; the provider’s own CORS headers are removed', async () => {
    const more = { 'x-request-id': 'req_1', 'x-ratelimit-remaining-requests': '9', vary: 'Accept-Encoding' };
    world.upstream.script(json(200, USAGE, { ...OWN_CORS, ...more }));
    const answer = await ask(client, proxyRoute(client), { headers, body: BODY });
    expect([answer.status, answer.headers.vary]).toEqual([200, 'Accept-Encoding, Origin']);
    const { 'access-control-expose-headers': exposed, ...others } = corsOf(answer);
    expect(others).toEqual({ 'access-control-allow-origin': ORIGIN });
    expect(String(exposed).split(', ')).toEqual(
      expect.arrayContaining(['server-timing', 'x-request-id', 'x-ratelimit-remaining-requests', 'content-type']),
    );
    expect(String(exposed)).not.toMatch(/\*|access-control/);
    expect(world.upstream.requests[0]?.header('origin')).toBeUndefined();
  });

  it('a stream, and a refusal of the provider → the same', async () => {
    const chunks = [event({ choices: [{ delta: { content: 'Hi' } }] }), event('[DONE]')];
    world.upstream.script(sse(chunks, { headers: OWN_CORS }));
    const stream = await ask(client, proxyRoute(client), { headers, body: { ...BODY, stream: true } });
    expect([stream.status, stream.body.toString(), stream.headers.vary]).toEqual([200, chunks.join(''), 'Origin']);
    expect(corsOf(stream)).toMatchObject({ 'access-control-allow-origin': ORIGIN });
    world.upstream.script(json(429, { error: {} }, { 'retry-after': '7', 'retry-after-ms': '6500' }));
    const refused = await ask(client, proxyRoute(client), { headers, body: BODY });
    expect([refused.status, refused.headers['retry-after']]).toEqual([429, '7']);
    expect(String(corsOf(refused)['access-control-expose-headers'])).toMatch(/retry-after, retry-after-ms/);
  });

  it('a named endpoint → the same', async () => {
    const answer = await ask(client, 'endpoints/answer', { headers, body: { input: 'Hi' } });
    expect([answer.status, answer.headers.vary]).toEqual([200, 'Origin']);
    expect(corsOf(answer)).toMatchObject({ 'access-control-allow-origin': ORIGIN });
  });

  it('the current user → the same, with what the gateway sends', async () => {
    const answer = await ask(client, 'me', { method: 'GET', headers });
    expect([answer.headers.vary, corsOf(answer)]).toEqual(['Origin', READABLE]);
  });

  it.each([
    ['no credential', 401, 'me', { method: 'GET', credential: NO_CREDENTIAL }],
    ['no credential', 401, 'proxy/x/v1/chat/completions', { credential: NO_CREDENTIAL }],
    ['an unknown provider', 502, 'proxy/nobody/v1/chat/completions', { body: BODY }],
    ['an unknown endpoint', 404, 'endpoints/nobody', { body: {} }],
    ['a path with a dot segment', 403, 'proxy/openai/../v1', { body: BODY }],
    ['an unknown route', 404, 'nothing', {}],
    ['another method', 404, 'auth/token', { method: 'GET' }],
    ['an unsupported challenge', 403, 'auth/challenge', { body: {} }],
    ['an unfit registration', 400, 'auth/register', { body: {} }],
    ['an unsupported exchange', 400, 'auth/token', { body: {} }],
    ['a body that is not an object', 400, 'auth/token', { body: [] }],
    [
      'a coded body',
      415,
      'endpoints/answer',
      { body: {}, headers: { origin: ORIGIN, 'content-encoding': 'compress' } },
    ],
  ])('refused: %s → %d that the page can read', async (_what, status, route, options) => {
    const answer = await ask(client, route, { headers, ...options });
    expect(answer.status).toBe(status);
    expect([answer.headers.vary, corsOf(answer)]).toEqual(['Origin', READABLE]);
  });

  it('a limit of the application → 429 with `Retry-After` that the page can read', async () => {
    const one = await clientOf({ allowed_origins: [ORIGIN], limits: { per_app: { spending: { monthly_usd: 0 } } } });
    const answer = await ask(one, proxyRoute(one), { headers, body: BODY });
    expect([answer.status, Number(answer.headers['retry-after']) > 0]).toEqual([429, true]);
    expect(corsOf(answer)).toEqual(READABLE);
  });

  it('a limit of its address → 429 that the page can read', async () => {
    const own = await clientOf({ allowed_origins: [ORIGIN] });
    let answer = await ask(own, 'auth/token', { headers, body: {} });
    for (let call = 0; call < 60; call++) answer = await ask(own, 'auth/token', { headers, body: {} });
    expect([answer.status, corsOf(answer)]).toEqual([429, READABLE]);
  });

  it('a disabled application → 403 that the page can read', async () => {
    const own = await clientOf({ allowed_origins: [ORIGIN] });
    const { app } = (await world.api.get(`/v1/admin/apps/${own.appId}`)).body;
    const { name, config, revision } = app;
    await world.api.put(`/v1/admin/apps/${own.appId}`, { name, config, revision, status: 'disabled' });
    const answer = await ask(own, 'me', { method: 'GET', headers });
    expect([answer.status, corsOf(answer)]).toEqual([403, READABLE]);
  });
});

describe('other calls', () => {
  it.each(FOREIGN)('from the origin %s → served, without permission to read', async (origin) => {
    for (const [route, options] of [
      [proxyRoute(client), { body: BODY }],
      ['endpoints/answer', { body: { input: 'Hi' } }],
      ['me', { method: 'GET' }],
    ] as const) {
      const answer = await ask(client, route, { headers: { origin }, ...options });
      expect([answer.status, answer.headers.vary, corsOf(answer)]).toEqual([200, 'Origin', {}]);
    }
  });

  it.each([
    ['a call', 200, 'proxy', { body: BODY }],
    ['a refused call', 401, 'proxy', { body: BODY, credential: NO_CREDENTIAL }],
    ['an endpoint', 200, 'endpoints/answer', { body: { input: 'Hi' } }],
    ['the current user', 200, 'me', { method: 'GET' }],
    ['a refused current user', 401, 'me', { method: 'GET', credential: NO_CREDENTIAL }],
    ['the usable models', 200, 'models', { method: 'GET' }],
    ['an exchange', 400, 'auth/token', { body: {} }],
    ['a challenge', 403, 'auth/challenge', { body: {} }],
  ])('%s without an origin → %d, and says that it depends on the origin', async (_what, status, route, options) => {
    const answer = await ask(client, route === 'proxy' ? proxyRoute(client) : route, options);
    expect([answer.status, answer.headers.vary, corsOf(answer)]).toEqual([status, 'Origin', {}]);
  });

  it.each([{}, { origin: ORIGIN }])('of an application without a list, with %j → no trace of CORS', async (headers) => {
    for (const [route, options] of [
      [proxyRoute(plain), { body: BODY }],
      [proxyRoute(plain), { body: BODY, credential: NO_CREDENTIAL }],
      ['endpoints/answer', { body: { input: 'Hi' } }],
      ['me', { method: 'GET' }],
      ['auth/token', { body: {} }],
      ['nothing', {}],
    ] as const) {
      const answer = await ask(plain, route, { headers, ...options });
      expect([answer.headers.vary, corsOf(answer)]).toEqual([undefined, {}]);
    }
  });

  it('management routes with the origin → no CORS headers, no preflight', async () => {
    for (const method of ['GET', 'OPTIONS']) {
      const headers = { origin: ORIGIN, 'access-control-request-method': 'GET' };
      const { headers: told } = await fetch(`${world.baseUrl}/v1/admin/apps/${client.appId}`, { method, headers });
      expect([...told.keys()].filter((name) => name.startsWith('access-control-'))).toEqual([]);
    }
  });
});

describe('configuration', () => {
  it('stored, answered and resolved; a removed list ends CORS with the next calls', async () => {
    const own = await clientOf({ allowed_origins: [ORIGIN] });
    expect((await preflight(own, ORIGIN)).status).toBe(204);
    const { app, resolved } = (await world.api.get(`/v1/admin/apps/${own.appId}`)).body;
    expect([app.config.allowed_origins, resolved.allowedOrigins]).toEqual([[ORIGIN], [ORIGIN]]);
    const { allowed_origins: _list, ...config } = app.config;
    const { name, revision } = app;
    const put = await world.api.put(`/v1/admin/apps/${own.appId}`, { name, config, revision });
    expect([put.status, put.body.app.config.allowed_origins, put.body.resolved.allowedOrigins]).toEqual([
      200,
      undefined,
      [],
    ]);
    expect((await preflight(own, ORIGIN)).status).toBe(403);
  });

  it.each([
    ['null', 'null'],
    ['*', '*'],
    ['https://app.example.com/', 'must be exactly as browsers send it: "https://app.example.com"'],
    ['http://app.example.com', 'must be https'],
  ])('the origin %s → 400 naming the member', async (origin, message) => {
    const config = { authentication: { type: 'api_key' }, routing: { providers: { mode: 'all' }, model_rewrites: {} } };
    const body = { name: 'Pages', config: { ...config, allowed_origins: [ORIGIN, origin] } };
    const answer = await world.api.post('/v1/admin/apps', body);
    expect([answer.status, answer.body.error.code]).toEqual([400, 'invalid_request']);
    expect(answer.body.error.message).toMatch(/^config\.allowed_origins\.1: /);
    if (message.length > 4) expect(answer.body.error.message).toContain(message);
  });
});

describeWithBrowser('a page in a browser', () => {
  let browser: Browser;
  let pages: Server;
  let pageUrl: string;

  beforeAll(async () => {
    browser = await startBrowser();
    pages = createServer((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/html' }).end('<!doctype html><title>App</title>');
    });
    await new Promise<void>((ready) => pages.listen(0, '127.0.0.1', ready));
    pageUrl = `http://localhost:${(pages.address() as AddressInfo).port}`;
  });

  afterAll(async () => {
    await browser.close();
    pages.close();
  });

  /** Calls from the page, as its own script would. */
  async function callFromPage({ appId, key, slug }: ProxyClient) {
    const page = await browser.newPage();
    await page.goto(pageUrl);
    const call = { url: `${world.baseUrl}/v1/apps/${appId}/proxy/${slug}/v1/chat/completions`, key, body: BODY };
    const told = await page.evaluate(async ({ url, key, body }) => {
      const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json', 'x-end-user-id': 'ada' };
      try {
        const answer = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) });
        const { status } = answer;
        return { status, retryAfter: answer.headers.get('retry-after'), body: await answer.json() };
      } catch (error) {
        return { failed: String(error) };
      }
    }, call);
    await page.close();
    return told;
  }

  it('from a listed origin → reads the answer, and `Retry-After` of a refusal', async () => {
    const limits = { per_app: { requests: { per_minute: 1 } } };
    const own = await clientOf({ allowed_origins: [pageUrl], limits });
    expect(await callFromPage(own)).toEqual({ status: 200, retryAfter: null, body: USAGE });
    expect(await callFromPage(own)).toEqual({
      status: 429,
      retryAfter: expect.stringMatching(/^[1-9]\d*$/),
      body: { error: expect.objectContaining({ code: 'app_rate_limited' }) },
    });
  });

  it('from another origin → cannot call', async () => {
    expect(await callFromPage(client)).toEqual({ failed: expect.stringContaining('Failed to fetch') });
    expect(world.upstream.requests).toHaveLength(0);
  });
});
