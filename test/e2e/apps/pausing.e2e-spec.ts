import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { uncheckedCall } from '../../support/accounts/management-call.js';
import { rawSelection, rawServerConfig } from '../../support/apps/app-configs.js';
import { startWorld, type World } from '../../support/world.js';

const PROVIDERS = '/v1/admin/providers';
const APPS = '/v1/admin/apps';

let world: World;

beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.stop());

const spoil = (table: 'providers' | 'apps', column: string, value: string, id: string) =>
  world.dataSource.query(`UPDATE ${table} SET ${column} = $2 WHERE id = $1`, [id, value]);

describe('pausing a provider always works', () => {
  it.each<[string, string, string]>([
    ['whose type this program does not know', 'type', 'acme'],
    ['whose key does not open', 'secret_blob', 'local1.9.none.none'],
    ['whose prices cannot be read', 'pricing', '{"a-model":"free"}'],
    ['whose address is no longer allowed', 'base_url', 'https://169.254.169.254/'],
  ])('one %s → 200, and active again', async (_what, column, value) => {
    const { id } = await world.provider({ slug: `p-${column.replace('_', '-')}` });
    await spoil('providers', column, value, id);
    for (const status of ['disabled', 'active'] as const) {
      const answer = await uncheckedCall(world, 'PUT', `${PROVIDERS}/${id}`, { status });
      expect(answer).toMatchObject({ status: 200, body: { provider: { id, status } } });
    }
    await world.dataSource.query('DELETE FROM providers WHERE id = $1', [id]);
  });

  it('one that an application needs → 200', async () => {
    const { id, slug } = await world.provider({ slug: 'needed' });
    await world.app(rawSelection({ [slug]: { allowed_paths: [], allowed_models: [] } }));
    expect((await world.api.put(`${PROVIDERS}/${id}`, { status: 'disabled' })).status).toBe(200);
  });
});

describe('pausing an application always works', () => {
  const created = async (config: object = rawServerConfig()) =>
    (await world.api.post(APPS, { name: 'Notes', config })).body.app as { id: string; config: object };
  const put = (id: string, body: object) => uncheckedCall(world, 'PUT', `${APPS}/${id}`, { name: 'Notes', ...body });
  const BROKEN = { authentication: { type: 'api_key' }, routing: 'none' };

  it('one whose stored configuration no longer parses, sent back as read → 200, kept unchanged', async () => {
    const { id } = await created();
    await spoil('apps', 'config', JSON.stringify(BROKEN), id);
    const read = (await world.api.get(`${APPS}/${id}`)).body;
    expect(await put(id, { config: read.app.config, revision: 1, status: 'disabled' })).toMatchObject({
      status: 200,
      body: { app: { status: 'disabled', revision: 2, config: BROKEN }, config_error: read.config_error },
    });
    expect((await put(id, { config: BROKEN, revision: 2, name: 'Renamed' })).status).toBe(200);
    expect((await put(id, { config: BROKEN, revision: 3, status: 'active' })).status).toBe(400);
    expect((await put(id, { config: { ...BROKEN, routing: 7 }, revision: 3 })).status).toBe(400);
  });

  it('one with a model that has lost its price → 200; changed at the same time → validated as usual', async () => {
    const { id: providerId, slug } = await world.provider({
      slug: 'priced',
      pricing: { 'own-model': { input: 1, output: 1 } },
    });
    const endpoints = { main: { api_style: 'responses', provider: slug, model: 'own-model' } };
    const { id, config } = await created({ ...rawServerConfig(), endpoints });
    await world.api.put(`${PROVIDERS}/${providerId}`, { pricing: null });
    expect((await put(id, { config, revision: 1 })).status).toBe(400);
    expect((await put(id, { config: { ...config, limits: {} }, revision: 1, status: 'disabled' })).status).toBe(400);
    expect((await put(id, { config, revision: 1, status: 'disabled' })).status).toBe(200);
  });

  it('with an outdated revision → still a conflict', async () => {
    const { id, config } = await created();
    expect((await put(id, { config, revision: 7, status: 'disabled' })).status).toBe(409);
  });
});
