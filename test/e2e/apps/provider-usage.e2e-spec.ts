import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { newAccount } from '../../support/accounts/accounts.js';
import { eventually } from '../../support/eventually.js';
import { json } from '../../support/proxy/upstream-scripts.js';
import { startWorld, type World } from '../../support/world.js';

const PATH = '/v1/admin/providers/usage';
const STORED = { withinMs: 15_000 };
const MODEL = 'gpt-4.1-mini';
const ANSWER = { model: MODEL, choices: [], usage: { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 } };
const NOTHING = { allowed_paths: [], allowed_models: [] };

let world: World;

beforeAll(async () => {
  world = await startWorld({ env: { REDIS_URL: '' } });
});
beforeEach(async () => {
  for (const table of ['apps', 'providers']) await world.dataSource.query(`DELETE FROM ${table}`);
});
afterAll(() => world.stop());

const routing = (selected?: Record<string, typeof NOTHING>) => ({
  routing: {
    providers: selected === undefined ? { mode: 'all' } : { mode: 'selected', selected },
    model_rewrites: {},
  },
});

async function used(slug: string, api = world.api) {
  const { status, body } = await api.get(PATH);
  expect(status).toBe(200);
  return body.providers.find((one: { slug: string }) => one.slug === slug);
}

describe('GET providers/usage', () => {
  it('applications → all that reach the provider by all, slug, type, endpoint or fallback; disabled ones too', async () => {
    for (const slug of ['openai', 'openai-2', 'openai-3']) await world.provider({ slug });
    const none = await world.app(routing({}));
    const all = await world.app(routing());
    const bySlug = await world.app(routing({ 'openai-2': NOTHING }));
    const byType = await world.app(routing({ openai: NOTHING, 'openai-3': NOTHING }));
    const target = { provider: 'openai', model: MODEL };
    const fallback = [{ provider: 'openai-3', model: MODEL }];
    const named = await world.app({
      ...routing({}),
      endpoints: { ask: { ...target, api_style: 'responses', fallback } },
    });
    await world.dataSource.query("UPDATE apps SET status = 'disabled' WHERE id = $1", [bySlug.id]);
    const idsOf = async (slug: string) => (await used(slug)).apps.map(({ id }: { id: string }) => id).sort();
    const ids = (...apps: { id: string }[]) => apps.map(({ id }) => id).sort();
    expect(await idsOf('openai')).toEqual(ids(all, byType, named));
    expect(await idsOf('openai-2')).toEqual(ids(all, bySlug, byType));
    expect(await idsOf('openai-3')).toEqual(ids(all, byType, named));
    expect(JSON.stringify((await world.api.get(PATH)).body)).not.toContain(none.id);
  });

  it('more applications than are named → counted', async () => {
    await world.provider();
    for (let made = 0; made < 7; made++) await world.app(routing());
    const { appCount, apps } = await used('openai');
    expect([appCount, apps.length]).toEqual([7, 5]);
  });

  it('calls → counted with failures and the day of the last success; refused ones are not counted', async () => {
    await world.provider();
    const { id, key } = await world.app({ ...routing(), limits: { per_app: { requests: { per_minute: 3 } } } });
    const call = async () => {
      const response = await fetch(`${world.baseUrl}/v1/apps/${id}/proxy/openai/v1/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ model: MODEL, messages: [] }),
      });
      await response.text();
    };
    expect(await used('openai')).toMatchObject({ requests: 0, errors: 0, lastSuccessDay: null });
    world.upstream.script(json(500, { error: { code: 'broken', message: 'Broken.' } }));
    await call();
    await eventually(async () => (await used('openai')).requests === 1, STORED);
    expect(await used('openai')).toMatchObject({ errors: 1, lastSuccessDay: null });
    world.upstream.script(json(200, ANSWER));
    for (let sent = 0; sent < 4; sent++) await call();
    await eventually(async () => (await used('openai')).requests === 3, STORED);
    const { to } = (await world.api.get(PATH)).body;
    expect(await used('openai')).toMatchObject({ requests: 3, errors: 1, lastSuccessDay: to });
  });

  it('another account → none of this account’s data, even for a provider with the same slug', async () => {
    await world.provider();
    await world.app(routing());
    const other = world.as((await newAccount(world.dataSource)).key);
    expect((await other.get(PATH)).body.providers).toEqual([]);
    await other.post('/v1/admin/providers', { type: 'openai', name: 'Theirs', secret: 'sk-test-provider-secret' });
    expect(await used('openai', other)).toMatchObject({ requests: 0, appCount: 0, apps: [] });
  });
});
