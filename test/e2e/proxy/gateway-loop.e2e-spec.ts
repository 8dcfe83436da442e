import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { startGateway } from '../../../src/bootstrap/start.js';
import { eventually } from '../../support/eventually.js';
import { startFurtherInstance } from '../../support/platform/further-instance.js';
import { freePort } from '../../support/platform/gateway-process.js';
import { describeWithRedis, reachRedis } from '../../support/platform/redis.js';
import { startTcpProxy, type TcpProxy } from '../../support/platform/tcp-proxy.js';
import { ProxyClient } from '../../support/proxy/proxy-client.js';
import { startWorld, type World } from '../../support/world.js';

const BODY = { model: 'gpt-4.1', messages: [] };

let world: World;
/** Another route to the gateway that it cannot know: a load balancer under another name, another instance. */
let detour: TcpProxy;
beforeAll(async () => {
  world = await startWorld({ env: { TRUSTED_PRIVATE_HOSTS: '127.0.0.1, 0.0.0.0, localhost, [::ffff:127.0.0.1]' } });
  detour = await startTcpProxy({ host: '127.0.0.1', port: Number(new URL(world.baseUrl).port) });
});
afterAll(async () => {
  await detour.close();
  await world.stop();
});

it('a base URL that leads back indirectly → 508 after one loop, on every route', async () => {
  const inner = await ProxyClient.create(world);
  for (const base of [`/v1/apps/${inner.appId}/proxy/${inner.slug}/`, '/', '/metrics/', '/v1/admin/']) {
    const provider = { type: 'openai', secret: inner.key, baseUrl: `http://127.0.0.1:${detour.port}${base}` };
    const looping = await ProxyClient.create(world, { provider });
    const answer = await looping.call('v1/chat/completions', { body: BODY });
    expect([base, answer.status]).toEqual([base, 508]);
    expect(JSON.parse(String(answer.body)).error).toMatchObject({
      code: 'invalid_request',
      message: expect.stringContaining('leads back'),
    });
  }
  expect(world.upstream.requests).toEqual([]);
});

it('a base URL that is the gateway itself → refused when it is written, naming the member', async () => {
  const { port } = new URL(world.baseUrl);
  const { id } = await world.provider({ slug: 'honest' });
  const refusal = {
    status: 400,
    body: {
      error: { code: 'invalid_request', message: expect.stringMatching(/^baseUrl: is an address of this gateway/) },
    },
  };
  for (const host of ['127.0.0.1', 'LOCALHOST', '127.1', '0.0.0.0', '[::ffff:127.0.0.1]']) {
    const place = { secret: 'sk-11111', baseUrl: `http://${host}:${port}/v1/` };
    const created = { type: 'openai', name: 'Mine', slug: 'mine', ...place };
    expect(await world.api.post('/v1/admin/providers', created)).toMatchObject(refusal);
    expect(await world.api.post('/v1/admin/providers/test', { type: 'openai', ...place })).toMatchObject(refusal);
    expect(await world.api.put(`/v1/admin/providers/${id}`, place)).toMatchObject(refusal);
  }
});

describeWithRedis('another instance', () => {
  it('a base URL with the address of an instance → refused by both once it is announced, accepted again when it has stopped', async () => {
    const redis = await reachRedis();
    const first = await startWorld({ env: { REDIS_URL: redis.url } });
    const second = await startFurtherInstance(first);
    const tested = (baseUrl: string, at: Pick<World, 'as'> = first) =>
      at.as(first.managementKey).post('/v1/admin/providers/test', { type: 'openai', secret: 'sk-11111', baseUrl });
    const isRefused = async (baseUrl: string, at?: Pick<World, 'as'>) => (await tested(baseUrl, at)).status === 400;
    try {
      await eventually(() => isRefused(`${second.baseUrl}/v1/`), { withinMs: 20_000 });
      await eventually(() => isRefused(`${first.baseUrl}/v1/`, second), { withinMs: 20_000 });
      expect(await isRefused(`${first.upstream.url}/v1/`)).toBe(false);
      await second.stop();
      await eventually(async () => !(await isRefused(`${second.baseUrl}/v1/`)), { withinMs: 20_000 });
    } finally {
      await second.stop();
      await first.stop();
      await redis.stop();
    }
  });
});

it('a stored base URL that belongs to the gateway after a restart → 502 that says so, without a connection', async () => {
  const first = await startWorld();
  const port = await freePort();
  const listener = await ProxyClient.create(first, {
    provider: { type: 'openai', secret: 'sk-11111', baseUrl: `http://127.0.0.1:${port}/` },
  });
  const named = await ProxyClient.create(first);
  await first.gateway.stop('test');
  const environment = { ...first.environment, PORT: String(port), PUBLIC_URL: first.upstream.url };
  const again = await startGateway(environment, { log: () => undefined });
  const dialled = first.upstream.openConnections();
  for (const { appId, key, slug, providerId } of [listener, named]) {
    const client = new ProxyClient({ ...first, baseUrl: again.url }, appId, key, slug, providerId);
    const answer = await client.call('v1/chat/completions', { body: BODY });
    expect(answer.status).toBe(502);
    expect(JSON.parse(String(answer.body)).error).toMatchObject({
      code: 'provider_error',
      message: expect.stringContaining('leads to the gateway itself'),
    });
  }
  expect([first.upstream.requests, first.upstream.openConnections()]).toEqual([[], dialled]);
  await again.stop('test');
  await first.stop();
});

it('calls to the operator’s own addresses → carry the loop marker; markers of others are allowed', async () => {
  const client = await ProxyClient.create(world);
  const headers = ['cdn-loop', 'other-gateway; v=1, "quoted"'];
  expect((await client.call('v1/chat/completions', { body: BODY, headers })).status).toBe(200);
  const [id] = await world.dataSource.query('SELECT id FROM deployment');
  expect(world.upstream.requests.map((request) => request.header('cdn-loop'))).toEqual([`gateway-${id.id}`]);
});
