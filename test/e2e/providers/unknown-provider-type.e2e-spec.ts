import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { uncheckedCall } from '../../support/accounts/management-call.js';
import { ProxyClient, refusalOf } from '../../support/proxy/proxy-client.js';
import { startWorld, type World } from '../../support/world.js';

const PATH = '/v1/admin/providers';
const CALL = { body: { model: 'gpt-4.1', messages: [] } };

/** Of this suite alone: other suites of a worker define types for the whole process. */
const TYPE = 'removed-type';

let world: World;

beforeAll(async () => {
  world = await startWorld();
});

afterAll(() => world.stop());

const manage = (method: string, path: string, body?: object) => uncheckedCall(world, method, `${PATH}${path}`, body);

describe('a stored instance whose type this program does not define', () => {
  it('management → listed without a route, can be renamed and deleted; the others are unchanged', async () => {
    const [lost, whole] = [await ProxyClient.create(world), await ProxyClient.create(world)];
    await world.dataSource.query('UPDATE providers SET type = $2 WHERE id = $1', [lost.providerId, TYPE]);
    const renamed = await manage('PUT', `/${lost.providerId}`, { name: 'Lost' });
    const nothing = { apiStyles: [], endpointStyles: [] };
    expect(renamed).toMatchObject({ status: 200, body: { provider: { route: null, capability: nothing } } });
    expect(await manage('GET', '')).toMatchObject({
      status: 200,
      body: { providers: [{ type: TYPE, name: 'Lost', route: null }, { type: 'openai' }] },
    });
    expect(refusalOf(await lost.call('v1/chat/completions', CALL))[1]).toBe('provider_not_configured');
    expect((await whole.call('v1/chat/completions', CALL)).status).toBe(200);
    expect((await world.api.get('/v1/admin/apps')).status).toBe(200);
    expect((await manage('DELETE', `/${lost.providerId}`)).status).toBe(200);
  });
});
