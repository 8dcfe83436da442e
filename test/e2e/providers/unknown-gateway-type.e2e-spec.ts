import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { uncheckedCall } from '../../support/accounts/management-call.js';
import { ProxyClient, refusalOf } from '../../support/proxy/proxy-client.js';
import { startWorld, type World } from '../../support/world.js';

const PATH = '/v1/admin/provider-gateways';
const CF_AIG = { type: 'cf_aig', name: 'Edge', token: 'a-gateway-token', accountId: 'account-1', gatewayId: 'main' };

let world: World;

beforeAll(async () => {
  world = await startWorld();
});

afterAll(() => world.stop());

const manage = (method: string, path: string, body?: object) => uncheckedCall(world, method, path, body);

describe('a stored gateway whose type this program does not know', () => {
  it('management → listed as stored, can be renamed, rotated and deleted; the others are unchanged', async () => {
    const { id } = (await world.api.post(PATH, CF_AIG)).body.gateway;
    const whole = (await world.api.post(PATH, { type: 'vercel', name: 'Whole', token: 'another-token' })).body.gateway;
    const lost = await ProxyClient.create(world, {
      provider: { type: 'openai', secret: undefined, baseUrl: undefined, providerGatewayId: id },
    });
    await world.dataSource.query("UPDATE provider_gateways SET type = 'acme' WHERE id = $1", [id]);
    const stored = { id, type: 'acme', config: { accountId: 'account-1', gatewayId: 'main' }, providerCount: 1 };
    expect(await manage('GET', PATH)).toMatchObject({ status: 200, body: { gateways: [stored, whole] } });
    expect(await manage('PATCH', `${PATH}/${id}`, { name: 'Lost' })).toMatchObject({
      status: 200,
      body: { gateway: { ...stored, name: 'Lost', revision: 2 } },
    });
    expect(await manage('POST', `${PATH}/${id}/rotate`, { token: 'a-third-token-of-it' })).toMatchObject({
      status: 200,
      body: { gateway: { ...stored, secretHint: 'f-it', revision: 3 } },
    });
    expect((await world.api.get('/v1/admin/providers')).body.providers).toMatchObject([{ route: null }]);
    expect(refusalOf(await lost.call('v1/chat/completions', { body: { model: 'gpt-4.1', messages: [] } }))[1]).toBe(
      'provider_unavailable',
    );
    expect((await world.api.delete(`/v1/admin/providers/${lost.providerId}`)).status).toBe(200);
    expect((await world.api.delete(`${PATH}/${id}`)).status).toBe(200);
  });
});
