import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { rawIssuer } from '../../../support/apps/app-configs.js';
import { issueToken, TOKEN_APPS } from '../../../support/client-auth/exchange/caller-tokens.js';
import { changeApp } from '../../../support/client-auth/exchange/mobile-world.js';
import { EndpointClient } from '../../../support/proxy/endpoint-client.js';
import {
  type Answer,
  documentedRefusals,
  openTarget,
  ProxyClient,
  read,
  refusalOf,
} from '../../../support/proxy/proxy-client.js';
import { json } from '../../../support/proxy/upstream-scripts.js';
import { startWorld, type World } from '../../../support/world.js';

const ANSWER = { id: 'resp_1', object: 'response', usage: { input_tokens: 10, output_tokens: 2 } };
const SECRET = 'sk-of-the-endpoint-provider';
const NO_CREDENTIAL: string[] = [];
/** Its name begins like those that are forwarded. */
const API_KEY_WITH_HEADER = { type: 'api_key', end_user: { source: 'header', header: 'X-Stainless-Customer' } };

let world: World;
let documented: (answer: Answer) => void;
let client: EndpointClient;

beforeAll(async () => {
  world = await startWorld();
  documented = documentedRefusals(world, '/v1/apps/a/endpoints/b');
  client = await EndpointClient.create(world, { provider: { secret: SECRET } });
});

beforeEach(() => {
  world.upstream.forget();
  world.upstream.script(json(200, ANSWER));
});

afterAll(() => world.stop());

async function expectRefused(call: Promise<Answer>, status: number, code: string): Promise<void> {
  const answer = await call;
  expect(refusalOf(answer)).toEqual([status, code]);
  documented(answer);
  expect(world.upstream.requests).toHaveLength(0);
}

/** A client of an endpoint whose callers are proven in this way. */
const withCallers = (authentication: object) => EndpointClient.create(world, { config: { authentication } });

/** A token of a user of the application, as an exchange with a device or with the application's key would issue it. */
async function tokenOf({ proxy: { appId } }: EndpointClient): Promise<string> {
  const { body } = await world.api.get(`/v1/admin/apps/${appId}/keys`);
  const apiKeyId: string | undefined = body.keys[0]?.id;
  const proven =
    apiKeyId === undefined ? { authMethod: 'attest' as const } : { authMethod: 'api_key' as const, apiKeyId };
  return issueToken(world, { appId, userId: 'ada', ...proven });
}

describe('URL of a named endpoint', () => {
  it.each([
    ...['nobody', 'ANSWER', 'Answer', 'answer.', 'a_b', 'x'.repeat(64), 'x'.repeat(65), 'x'.repeat(5_000)],
    ...['answe%72', '%61nswer', 'answer%20', 'answer%2f', '%00', '%', '%zz', '..%2fanswer', 'answer;v=1', 'a:b'],
    ...['constructor', '__proto__', 'prototype', 'tostring', 'toString', 'hasOwnProperty', 'valueof'],
  ])('slug %s → 404 endpoint_not_found', (slug) => expectRefused(client.at(slug).call(), 404, 'endpoint_not_found'));

  it('an endpoint of another application of the account → 404 endpoint_not_found', async () => {
    const other = await world.app();
    const credential = ['authorization', `Bearer ${other.key}`];
    const target = `/v1/apps/${other.id}/endpoints/${client.slug}`;
    const answer = await read(await openTarget(world, target, { body: {}, credential }).head);
    expect(refusalOf(answer)).toEqual([404, 'endpoint_not_found']);
  });

  it.each([
    ['no credential', NO_CREDENTIAL],
    ['an unknown key', ['authorization', 'Bearer gw_nobody']],
  ])('unknown slug and %s → 401, nothing is revealed about endpoints', (_name, credential) =>
    expectRefused(client.at('nobody').call({ credential }), 401, 'auth_required'),
  );

  it('unknown application → 404 app_not_found, whatever the credential', async () => {
    const nobody = new EndpointClient(world, new ProxyClient(world, 'nobody-has-this', client.proxy.key, '', ''));
    await expectRefused(nobody.call(), 404, 'app_not_found');
    await expectRefused(nobody.call({ credential: NO_CREDENTIAL }), 404, 'app_not_found');
  });

  it.each(['GET', 'PUT', 'DELETE', 'PATCH', 'OPTIONS', 'TRACE', 'PROPFIND'])(
    'only POST is accepted: %s → 404 invalid_request, whatever the credential and the body',
    async (method) => {
      const bodies = [
        { body: undefined },
        { headers: ['content-type', 'application/json'], body: { input: 'Hi' } },
        { headers: ['content-type', 'application/json'], body: '{"input":' },
        { headers: ['content-type', 'multipart/form-data; boundary=b'], body: '--b--' },
        { headers: ['content-type', 'text/plain'], body: 'Hi' },
      ];
      const calls = bodies.flatMap((call) => [call, { ...call, credential: NO_CREDENTIAL }]);
      const answers = await Promise.all(calls.map((call) => client.call({ method, ...call })));
      expect(answers.map((answer) => [answer.status, codeOf(answer)])).toEqual(
        calls.map(() => [404, 'invalid_request']),
      );
      expect(world.upstream.requests).toHaveLength(0);
    },
  );

  it('only POST is accepted: HEAD → 404 without a body', async () => {
    const answer = await client.call({ method: 'HEAD', body: undefined });
    expect([answer.status, answer.body.length, world.upstream.requests.length]).toEqual([404, 0, 0]);
  });

  it.each(['answer/', 'answer/more', 'answer//', '', '/answer', 'answer/?x=1', '../endpoints/answer'])(
    'a path that ends in %j → 404 invalid_request',
    async (path) => {
      const answer = await client.at(path).call();
      expect([answer.status, codeOf(answer)]).toEqual([404, 'invalid_request']);
      expect(world.upstream.requests).toHaveLength(0);
    },
  );

  it('an escaped letter outside the slug → 404, no other path to the endpoint', async () => {
    const { appId, key } = client.proxy;
    const credential = ['authorization', `Bearer ${key}`];
    for (const target of [`/v1/apps/${appId}/%65ndpoints/answer`, `/v1/%61pps/${appId}/endpoints/answer`]) {
      const answer = await read(await openTarget(world, target, { body: {}, credential }).head);
      expect([target, answer.status, codeOf(answer)]).toEqual([target, 404, 'invalid_request']);
    }
  });

  it.each(['?', '?stream=true', '?key=client-key&api-version=2', '?a#b'])(
    'query %s → never forwarded',
    async (query) => {
      expect((await client.at(`answer${query}`).call()).status).toBe(200);
      expect(world.upstream.requests[0]?.path).toBe('/v1/responses');
    },
  );
});

describe('the endpoint is the policy', () => {
  const other = 'selected-alone';
  const routing = {
    providers: {
      mode: 'selected',
      selected: { [other]: { allowed_paths: ['v1/embeddings'], allowed_models: ['gpt-4o'], max_output_tokens: 5 } },
    },
    model_rewrites: { 'gpt-4.1': 'gpt-4.1-nano' },
  };

  it('a provider that the proxy may not use, a model outside its list, a rewrite, a lower cap → the endpoint serves', async () => {
    await world.provider({ slug: other });
    const strict = await EndpointClient.create(world, {
      endpoint: { max_output_tokens: 50 },
      config: { routing },
    });
    const proxied = await strict.proxy.call('v1/responses', { body: { model: 'gpt-4.1' } });
    expect(refusalOf(proxied)).toEqual([403, 'path_not_allowed']);
    expect(JSON.parse(await strict.sent())).toEqual({ input: 'Hi', model: 'gpt-4.1', max_output_tokens: 50 });
  });
});

describe('callers', () => {
  it.each([
    ['authorization', (key: string) => `Bearer ${key}`],
    ['authorization', (key: string) => `bEARER ${key}`],
    ['Authorization', (key: string) => key],
  ])('the key as %s → served without X-App-Version', async (name, value) => {
    expect((await client.call({ credential: [name, value(client.proxy.key)] })).status).toBe(200);
  });

  it.each(['x-api-key', 'x-goog-api-key', 'cookie', 'x-gateway-token'])('only the key as %s → 401', (name) =>
    expectRefused(client.call({ credential: [name, client.proxy.key] }), 401, 'auth_required'),
  );

  it('the key of another application, and a management key → 401', async () => {
    const other = await world.app();
    for (const key of [other.key, world.managementKey]) {
      await expectRefused(client.call({ credential: ['authorization', `Bearer ${key}`] }), 401, 'auth_required');
    }
  });

  it.each(Object.entries(TOKEN_APPS))(
    'gateway token, %s: no or empty X-App-Version → 400, with one → served',
    async (_, authentication) => {
      const users = await withCallers(authentication);
      const token = await tokenOf(users);
      const credential = ['authorization', `Bearer ${token}`];
      await expectRefused(users.call({ credential }), 400, 'invalid_request');
      await expectRefused(users.call({ credential, headers: ['x-app-version', ''] }), 400, 'invalid_request');
      expect((await users.call({ credential, headers: ['x-app-version', '3.1'] })).status).toBe(200);
      expect(await users.proxy.events()).toMatchObject([
        { user_id: 'ada', app_version: '3.1', endpoint_slug: 'answer' },
      ]);
    },
  );

  it('the token header of the application → served, and not forwarded', async () => {
    const issuer = { ...rawIssuer(), token_header: 'X-Stainless-Token' };
    const users = await withCallers({ type: 'api_key', end_user: { source: 'issuer', issuer } });
    const token = await tokenOf(users);
    const answer = await users.call({ credential: ['x-stainless-token', token], headers: ['x-app-version', '1'] });
    expect(answer.status).toBe(200);
    const beside = {
      credential: ['authorization', token],
      headers: ['x-app-version', '1', 'x-stainless-token', token],
    };
    expect((await users.call(beside)).status).toBe(200);
    expect(world.upstream.requests).toHaveLength(2);
    for (const { rawHeaders } of world.upstream.requests) expect(rawHeaders.join('\n')).not.toContain(token);
  });

  it('header identity: missing or malformed → 400; given → recorded, neither it nor the default header is forwarded', async () => {
    const named = await withCallers(API_KEY_WITH_HEADER);
    await expectRefused(named.call(), 400, 'invalid_request');
    await expectRefused(named.call({ headers: ['x-stainless-customer', 'two words'] }), 400, 'invalid_request');
    const headers = ['X-Stainless-Customer', 'cleo', 'x-end-user-id', 'somebody-else'];
    expect((await named.call({ headers })).status).toBe(200);
    expect(world.upstream.requests[0]?.rawHeaders.join('\n')).not.toMatch(/cleo|somebody-else/);
    expect(await named.proxy.events()).toMatchObject([{ user_id: 'cleo' }]);
  });

  it('application disabled → 403 app_disabled, active again → served', async () => {
    const paused = await EndpointClient.create(world);
    await changeApp(world, { id: paused.proxy.appId }, { status: 'disabled' });
    await expectRefused(paused.call(), 403, 'app_disabled');
    await changeApp(world, { id: paused.proxy.appId }, { status: 'active' });
    expect((await paused.call()).status).toBe(200);
  });
});

describe('request headers', () => {
  it('those on the list → sent; all others, and the credential → not forwarded', async () => {
    const passed = [
      'accept',
      'text/event-stream',
      'idempotency-key',
      'k-1',
      'x-stainless-lang',
      'js',
      'openai-beta',
      'a',
    ];
    const dropped = [
      ...['cookie', 'origin', 'openai-organization', 'openai-project', 'x-forwarded-for', 'x-api-key', 'x-app-version'],
      ...['cf-aig-cache-ttl', 'cf-aig-metadata', 'ai-reporting-user', 'x-openrouter-metadata', 'te', 'traceparent'],
    ].flatMap((name) => [name, 'from-the-client']);
    expect((await client.call({ headers: [...passed, ...dropped] })).status).toBe(200);
    const raw = world.upstream.requests[0]?.rawHeaders ?? [];
    const got = new Map(raw.flatMap((text, at) => (at % 2 === 0 ? [[text.toLowerCase(), raw[at + 1]] as const] : [])));
    expect(Object.fromEntries(got)).toEqual({
      host: expect.any(String),
      'cdn-loop': expect.stringMatching(/^gateway-/),
      connection: 'keep-alive',
      'content-type': 'application/json',
      'content-length': expect.any(String),
      'accept-encoding': 'identity',
      accept: 'text/event-stream',
      'idempotency-key': 'k-1',
      'x-stainless-lang': 'js',
      'openai-beta': 'a',
      authorization: `Bearer ${SECRET}`,
    });
  });
});

function codeOf({ body }: Answer): unknown {
  return JSON.parse(body.toString()).error.code;
}
