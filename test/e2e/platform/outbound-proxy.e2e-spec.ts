import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { type MobileWorld, startMobileWorld } from '../../support/client-auth/exchange/mobile-world.js';
import { type ConnectProxy, startConnectProxy } from '../../support/platform/connect-proxy.js';
import { ProxyClient, refusalOf } from '../../support/proxy/proxy-client.js';
import { event, json, sse } from '../../support/proxy/upstream-scripts.js';

/** Names that only the proxy knows. */
const PROVIDER = 'models.test';
const ISSUER = 'issuer.test';
/** Excluded from the proxy, so that it cannot be resolved. */
const EXCEPTED = 'excepted.test';
const PASSWORD = 'proxy-password';
const CREDENTIALS = `operator:${PASSWORD}`;
const PATH = 'v1/responses';
const BODY = { model: 'gpt-4.1' };

let world: MobileWorld;
let proxy: ConnectProxy;

beforeAll(async () => {
  proxy = await startConnectProxy();
  const url = `http://${CREDENTIALS}@127.0.0.1:${proxy.port}`;
  const env = { TRUSTED_PRIVATE_HOSTS: `127.0.0.1, ${PROVIDER}, ${ISSUER}, ${EXCEPTED}` };
  world = await startMobileWorld({ env: { ...env, HTTPS_PROXY: url, http_proxy: url, NO_PROXY: EXCEPTED } });
});

beforeEach(() => {
  proxy.admits(CREDENTIALS);
  proxy.behave('connect');
  proxy.targets.length = 0;
  world.upstream.forget();
  world.logs.length = 0;
});

afterAll(async () => {
  await world.stop();
  await proxy.close();
});

function portOf(url: string): string {
  return new URL(url).port;
}

function clientAt(host: string): Promise<ProxyClient> {
  return ProxyClient.create(world, { provider: { baseUrl: `http://${host}:${portOf(world.upstream.url)}/` } });
}

/** Outputs that must not contain the credentials in any form. */
function expectNoSecret(text: string): void {
  for (const secret of [PASSWORD, Buffer.from(CREDENTIALS).toString('base64')]) expect(text).not.toContain(secret);
}

async function refused(client: ProxyClient) {
  const answer = await client.call(PATH, { body: BODY });
  const logged = JSON.stringify(world.logs);
  expectNoSecret(logged);
  expectNoSecret(`${JSON.stringify(answer.headers)} ${answer.body}`);
  expect(world.upstream.requests).toEqual([]);
  const reasons = world.logs.map(({ reason }) => String(reason)).filter((reason) => reason.startsWith('provider_'));
  const [status, code] = refusalOf(answer);
  return { status, code, reasons: [...new Set(reasons)] };
}

describe('outbound calls of a deployment with a proxy', () => {
  it('calls of a provider, streamed or not → through one kept tunnel to its name, with the credentials', async () => {
    const client = await clientAt(PROVIDER);
    const target = `${PROVIDER}:${portOf(world.upstream.url)}`;
    world.upstream.script(json(200, { id: 'resp_1' }));
    const whole = await client.call(PATH, { body: BODY });
    expect([whole.status, JSON.parse(String(whole.body))]).toEqual([200, { id: 'resp_1' }]);
    const pieces = [event({ type: 'response.created' }), event({ type: 'response.completed' })];
    world.upstream.script(sse(pieces));
    const stream = await client.call(PATH, { body: { ...BODY, stream: true } });
    expect([stream.status, String(stream.body)]).toEqual([200, pieces.join('')]);
    expect(proxy.targets).toEqual([target]);
    expect(world.upstream.requests.map((request) => request.header('host'))).toEqual([target, target]);
    expect(world.upstream.requests.map((request) => request.header('proxy-authorization'))).toEqual([
      undefined,
      undefined,
    ]);
    expectNoSecret(JSON.stringify(world.logs));
  });

  it('test of a key → through the proxy', async () => {
    const baseUrl = `http://${PROVIDER}:${portOf(world.upstream.url)}/`;
    const body = { type: 'openai', secret: 'sk-test-provider-secret', baseUrl };
    expect((await world.api.post('/v1/admin/providers/test', body)).body).toEqual({ validated: true });
    expect(proxy.targets).toEqual([`${PROVIDER}:${portOf(world.upstream.url)}`]);
  });

  it('key set of an identity provider → through the proxy', async () => {
    const jwks = new URL(world.issuer.jwksUrl);
    jwks.hostname = ISSUER;
    const app = await world.backendApp({ jwks_url: jwks.href });
    const body = { api_key: app.key, issuer_token: await world.issuer.token({ sub: 'ada' }) };
    expect((await world.as(undefined).post(`/v1/apps/${app.id}/auth/token`, body)).status).toBe(200);
    expect(proxy.targets).toEqual([`${ISSUER}:${jwks.port}`]);
  });

  it('the loopback, and a name in NO_PROXY → not through the proxy', async () => {
    world.upstream.script(json(200, {}));
    const direct = await clientAt('127.0.0.1');
    expect((await direct.call(PATH, { body: BODY })).status).toBe(200);
    world.upstream.forget();
    const { reasons } = await refused(await clientAt(EXCEPTED));
    expect(reasons).toEqual([expect.stringMatching(/^provider_(enotfound|eai_again)$/)]);
    expect(proxy.targets).toEqual([]);
  });

  it('metadata address → refused as without a proxy', async () => {
    const body = { type: 'openai', secret: 'sk-test', baseUrl: 'https://169.254.169.254/' };
    const { status, body: answer } = await world.api.post('/v1/admin/providers/test', body);
    expect([status, answer.error?.code]).toEqual([400, 'invalid_request']);
    expect(proxy.targets).toEqual([]);
  });

  it.each([
    ['other credentials', 'provider_err_egress_proxy_407', () => proxy.admits('operator:changed')],
    ['a refusal', 'provider_err_egress_proxy_403', () => proxy.behave(403)],
    ['no way to the provider', 'provider_err_egress_proxy_502', () => proxy.behave(502)],
  ])('a proxy with %s → 502, with its status as the reason, without secrets', async (_what, reason, change) => {
    const client = await clientAt(PROVIDER);
    change();
    expect(await refused(client)).toMatchObject({ status: 502, code: 'provider_error', reasons: [reason] });
    expect(proxy.targets).toHaveLength(1);
  });

  it('a proxy that is down → 502 at once, with the proxy as the reason', async () => {
    const client = await clientAt(PROVIDER);
    await proxy.close();
    expect(await refused(client)).toMatchObject({
      status: 502,
      code: 'provider_error',
      reasons: ['provider_err_egress_proxy_unreachable'],
    });
  });
});
