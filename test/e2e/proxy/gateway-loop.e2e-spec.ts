import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { ProxyClient } from '../../support/proxy/proxy-client.js';
import { startWorld, type World } from '../../support/world.js';

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.stop());

it('a provider whose address is the gateway itself → 508 after one turn, whatever the route', async () => {
  const inner = await ProxyClient.create(world);
  for (const base of [`/v1/apps/${inner.appId}/proxy/${inner.slug}/`, '/', '/metrics/', '/v1/admin/']) {
    const provider = { type: 'openai', secret: inner.key, baseUrl: `${world.baseUrl}${base}` };
    const looping = await ProxyClient.create(world, { provider });
    const answer = await looping.call('v1/chat/completions', { body: { model: 'gpt-4.1', messages: [] } });
    expect([base, answer.status]).toEqual([base, 508]);
    expect(JSON.parse(String(answer.body)).error).toMatchObject({
      code: 'invalid_request',
      message: expect.stringContaining('leads back'),
    });
  }
  expect(world.upstream.requests).toEqual([]);
});

it('calls to an address of the operator carry the mark; marks of others pass', async () => {
  const client = await ProxyClient.create(world);
  const headers = ['cdn-loop', 'other-gateway; v=1, "quoted"'];
  expect((await client.call('v1/chat/completions', { body: { model: 'gpt-4.1', messages: [] }, headers })).status).toBe(
    200,
  );
  const [id] = await world.dataSource.query('SELECT id FROM deployment');
  expect(world.upstream.requests.map((request) => request.header('cdn-loop'))).toEqual([`gateway-${id.id}`]);
});
