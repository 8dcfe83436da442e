import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { firstOrganizationId, newAccount } from '../../support/accounts/accounts.js';
import type { ApiAnswer } from '../../support/api-client.js';
import { untilStatementWaits } from '../../support/platform/lock-waits.js';
import { startWorld, type World } from '../../support/world.js';

const PATH = '/v1/admin/provider-gateways';
const PROVIDERS = '/v1/admin/providers';

let world: World;
let organizationId: string;
let slugs = 0;

beforeAll(async () => {
  world = await startWorld();
  organizationId = await firstOrganizationId(world.dataSource);
});

afterEach(async () => {
  await world.dataSource.query('DELETE FROM providers');
  await world.dataSource.query('DELETE FROM provider_gateways');
});

afterAll(() => world.stop());

async function newGateway(): Promise<string> {
  const answer = await world.api.post(PATH, { type: 'vercel', name: 'Vercel', token: 'a-token-of-a-gateway' });
  expect(answer.status).toBe(201);
  return answer.body.gateway.id;
}

function createProvider(providerGatewayId: string): Promise<ApiAnswer> {
  return world.api.post(PROVIDERS, { type: 'openai', slug: `p-${++slugs}`, name: 'Routed', providerGatewayId });
}

/** A provider routed through the gateway. */
async function newProvider(gatewayId: string, status: 'active' | 'disabled' = 'active'): Promise<string> {
  const created = await createProvider(gatewayId);
  expect(created.status).toBe(201);
  const { id } = created.body.provider;
  if (status === 'disabled') expect((await world.api.put(`${PROVIDERS}/${id}`, { status })).status).toBe(200);
  return id;
}

function remove(gatewayId: string): Promise<ApiAnswer> {
  return world.api.delete(`${PATH}/${gatewayId}`);
}

async function countsOf(id: string): Promise<[active: number, all: number]> {
  const { gateways } = (await world.api.get(PATH)).body;
  const { providerCount, referencedCount } = gateways.find((gateway: { id: string }) => gateway.id === id);
  return [providerCount, referencedCount];
}

describe('counts', () => {
  it('providerCount → the active instances; referencedCount → all of them, in every answer', async () => {
    const [first, second, unused] = [await newGateway(), await newGateway(), await newGateway()];
    await newProvider(first);
    await newProvider(first);
    await newProvider(first, 'disabled');
    await newProvider(second, 'disabled');
    await world.provider();
    expect([await countsOf(first), await countsOf(second), await countsOf(unused)]).toEqual([
      [2, 3],
      [0, 1],
      [0, 0],
    ]);
    const counted = { providerCount: 2, referencedCount: 3 };
    const renamed = await world.api.send('PATCH', `${PATH}/${first}`, { name: 'Renamed' }, {});
    const rotated = await world.api.post(`${PATH}/${first}/rotate`, { token: 'another-token' });
    expect([renamed.body.gateway, rotated.body.gateway]).toMatchObject([counted, counted]);
  });

  it('provider paused, enabled, deleted → the counts follow', async () => {
    const gateway = await newGateway();
    const provider = await newProvider(gateway);
    await world.api.put(`${PROVIDERS}/${provider}`, { status: 'disabled' });
    expect(await countsOf(gateway)).toEqual([0, 1]);
    await world.api.put(`${PROVIDERS}/${provider}`, { status: 'active' });
    expect(await countsOf(gateway)).toEqual([1, 1]);
    await world.api.delete(`${PROVIDERS}/${provider}`);
    expect(await countsOf(gateway)).toEqual([0, 0]);
  });
});

describe('DELETE provider-gateways/{id}', () => {
  it('unused → deleted; again → 404 not_found', async () => {
    const id = await newGateway();
    const answer = await remove(id);
    expect([answer.status, answer.body]).toEqual([200, { deleted: true, provider_gateway_id: id }]);
    const again = await remove(id);
    expect([again.status, again.body.error.code]).toEqual([404, 'not_found']);
    expect((await world.api.get(PATH)).body).toEqual({ gateways: [] });
    expect(await world.dataSource.query('SELECT id FROM provider_gateways')).toEqual([]);
  });

  it.each([
    [1, 0, /^1 active provider is routed/],
    [2, 1, /^2 active and 1 disabled providers are routed/],
    [0, 2, /^2 disabled providers are still routed/],
  ])('%i active and %i disabled → 409 gateway_in_use with these counts', async (active, disabled, text) => {
    const id = await newGateway();
    const providers: string[] = [];
    for (let count = 0; count < active; count++) providers.push(await newProvider(id));
    for (let count = 0; count < disabled; count++) providers.push(await newProvider(id, 'disabled'));
    const refused = await remove(id);
    expect([refused.status, refused.body.error.code]).toEqual([409, 'gateway_in_use']);
    expect(refused.body.error.message).toMatch(text);
    expect(await countsOf(id)).toEqual([active, active + disabled]);
    for (const provider of providers) await world.api.delete(`${PROVIDERS}/${provider}`);
    expect((await remove(id)).status).toBe(200);
  });

  it('in use, requested by another account → the same 404 as an unknown id', async () => {
    const id = await newGateway();
    await newProvider(id);
    const other = world.as((await newAccount(world.dataSource)).key);
    const [foreign, missing] = [await other.delete(`${PATH}/${id}`), await other.delete(`${PATH}/nobody-has-this`)];
    expect([foreign.status, foreign.body]).toEqual([404, missing.body]);
  });

  it('race: deletion against creation of a provider → one wins, and no provider is left without its gateway', async () => {
    for (let round = 0; round < 20; round++) {
      const id = await newGateway();
      const [deleted, created] = await Promise.all([remove(id), createProvider(id)]);
      const outcome = `delete ${deleted.status}, create ${created.status}`;
      expect(['delete 200, create 404', 'delete 409, create 201']).toContain(outcome);
    }
    const orphans = await world.dataSource.query(
      'SELECT id FROM providers WHERE provider_gateway_id NOT IN (SELECT id FROM provider_gateways)',
    );
    expect(orphans).toEqual([]);
  });

  it('race: a provider stored but not yet committed → the deletion waits for it and is refused', async () => {
    const id = await newGateway();
    const runner = world.dataSource.createQueryRunner();
    await runner.startTransaction();
    await runner.query(
      `INSERT INTO providers (id, organization_id, type, slug, name, provider_gateway_id, status, created_by,
                              revision, created_at, updated_at)
       VALUES ('uncommitted', $1, 'openai', 'uncommitted', 'Routed', $2, 'active', 'someone', 1, now(), now())`,
      [organizationId, id],
    );
    const deletion = remove(id);
    await untilStatementWaits(world.dataSource, 'DELETE FROM "provider_gateways"');
    await runner.commitTransaction();
    await runner.release();
    const refused = await deletion;
    expect([refused.status, refused.body.error.code]).toEqual([409, 'gateway_in_use']);
    expect(refused.body.error.message).toMatch(/^1 active provider is/);
  });

  it('race: a deletion not yet committed → the creation of a provider waits for it and finds no gateway', async () => {
    const id = await newGateway();
    const runner = world.dataSource.createQueryRunner();
    await runner.startTransaction();
    await runner.query('DELETE FROM provider_gateways WHERE id = $1', [id]);
    const creation = createProvider(id);
    await untilStatementWaits(world.dataSource, 'INSERT INTO "providers"');
    await runner.commitTransaction();
    await runner.release();
    const refused = await creation;
    expect([refused.status, refused.body.error.code]).toEqual([404, 'not_found']);
    expect((await world.api.get(PROVIDERS)).body).toEqual({ providers: [] });
  });

  it('race: two deletions → one 200, one 404', async () => {
    const id = await newGateway();
    const statuses = (await Promise.all([remove(id), remove(id)])).map(({ status }) => status);
    expect(statuses.sort()).toEqual([200, 404]);
  });
});
