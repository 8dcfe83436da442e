import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { newAccount } from '../../support/accounts/accounts.js';
import { newOrganization, type Person } from '../../support/accounts/people.js';
import { rawDeviceConfig, rawServerConfig } from '../../support/apps/app-configs.js';
import { startWorld, type World } from '../../support/world.js';

const PATH = '/v1/admin/audit-events';
const SECRET = 'sk-never-to-be-recorded';

let world: World;
let owner: Person;

beforeAll(async () => {
  world = await startWorld();
  ({ owner } = await newOrganization(world));
  for (const slug of ['openai', 'openai-backup']) {
    await owner.client.post('/v1/admin/providers', { type: 'openai', name: slug, slug, secret: SECRET });
  }
});

afterAll(() => world.stop());

async function newApp(config: object): Promise<string> {
  const { status, text, body } = await owner.client.post('/v1/admin/apps', { name: 'Notes', config });
  if (status !== 201) throw new Error(text);
  return body.app.id;
}

async function replace(id: string, config: object, name = 'Notes'): Promise<void> {
  const { revision } = (await owner.client.get(`/v1/admin/apps/${id}`)).body.app;
  const { status, text } = await owner.client.put(`/v1/admin/apps/${id}`, { name, config, revision });
  if (status !== 200) throw new Error(text);
}

async function changesOf(query: string): Promise<Record<string, unknown>[]> {
  return (await owner.client.get(`${PATH}?${query}`)).body.events[0].changes;
}

describe('changed values in the audit trail', () => {
  it('a limit → its path, old and new value; unchanged fields are not listed', async () => {
    const limits = (perDay: number | null) => ({
      limits: { per_app: { requests: { per_minute: 60, per_day: perDay } } },
    });
    const id = await newApp({ ...rawServerConfig(), ...limits(null) });
    await replace(id, { ...rawServerConfig(), ...limits(500) });
    expect(await changesOf(`app_id=${id}`)).toEqual([
      { path: 'limits.per_app.requests.per_day', from: null, to: 500, redacted: false },
    ]);
    await replace(id, { ...rawServerConfig(), ...limits(900) }, 'Journal');
    expect(await changesOf(`app_id=${id}`)).toEqual([
      { path: 'limits.per_app.requests.per_day', from: 500, to: 900, redacted: false },
      { path: 'name', from: 'Notes', to: 'Journal', redacted: false },
    ]);
  });

  it('a replacement that changes nothing → an entry without changes', async () => {
    const id = await newApp(rawServerConfig());
    await replace(id, rawServerConfig());
    expect(await changesOf(`app_id=${id}`)).toEqual([]);
  });

  it('every part of a configuration → models, paths and limits with values, prompts and issuers only by name', async () => {
    const id = await newApp(rawDeviceConfig());
    const next = JSON.parse(JSON.stringify(rawDeviceConfig()));
    next.authentication.end_user.issuer.jwks_url = `https://id.example.com/keys/${SECRET}`;
    next.endpoints.summarize.params = { instructions: SECRET, metadata: { [SECRET]: 'x' } };
    next.endpoints.summarize.model = 'gpt-4.1-mini';
    next.routing.model_rewrites.fast = 'gpt-4.1';
    next.routing.providers.selected.openai.allowed_models = ['gpt-4.1'];
    next.routing.providers.selected.openai.allowed_paths = ['v1/responses'];
    await replace(id, next);
    const changes = await changesOf(`app_id=${id}`);
    expect(JSON.stringify(changes)).not.toContain(SECRET);
    const shown = changes.filter(({ redacted }) => redacted === false);
    expect(shown).toEqual(
      expect.arrayContaining([
        { path: 'endpoints.summarize.model', from: 'gpt-4.1', to: 'gpt-4.1-mini', redacted: false },
        { path: 'routing.model_rewrites.fast', from: 'gpt-4.1-mini', to: 'gpt-4.1', redacted: false },
        {
          path: 'routing.providers.selected.openai.allowed_models',
          ...{ from: ['gpt-4.1', 'fast'], to: ['gpt-4.1'], redacted: false },
        },
      ]),
    );
    expect(shown.every(({ path }) => !/params|issuer/.test(String(path)))).toBe(true);
    expect(changes.filter(({ redacted }) => redacted)).toEqual([
      { path: 'authentication.end_user.issuer', from: null, to: null, redacted: true },
      { path: 'endpoints.summarize.params', from: null, to: null, redacted: true },
    ]);
  });

  it('a provider: prices and status with values, a new key only by name', async () => {
    const secret = { type: 'openai', name: 'Told', slug: 'told', secret: SECRET };
    const { provider } = (await owner.client.post('/v1/admin/providers', secret)).body;
    const pricing = { 'gpt-4.1': { input: 2, output: 8 } };
    const change = { name: 'Other', status: 'disabled', secret: `${SECRET}-2`, pricing };
    const { status, text } = await owner.client.put(`/v1/admin/providers/${provider.id}`, change);
    expect([status, text]).toEqual([200, expect.any(String)]);
    const changes = await changesOf('action=provider.updated');
    expect(changes).toEqual([
      { path: 'name', from: 'Told', to: 'Other', redacted: false },
      { path: 'pricing["gpt-4.1"].input', from: null, to: 2, redacted: false },
      { path: 'pricing["gpt-4.1"].output', from: null, to: 8, redacted: false },
      { path: 'status', from: 'active', to: 'disabled', redacted: false },
      { path: 'secret', from: null, to: null, redacted: true },
    ]);
    const stored = await world.dataSource.query(
      'SELECT coalesce(string_agg(changes::text, $1), $1) AS text FROM audit_events',
      ['\n'],
    );
    expect(stored[0].text).not.toContain(SECRET);
    expect(stored[0].text).toContain('per_day');
  });

  it('the name of the account → old and new value', async () => {
    const { session } = (await owner.client.get('/v1/admin/session')).body;
    const path = `/v1/admin/organizations/${session.organization.id}`;
    await owner.client.send('PATCH', path, { name: 'Engines' }, {});
    expect(await changesOf('action=organization.renamed')).toEqual([
      { path: 'name', from: session.organization.name, to: 'Engines', redacted: false },
    ]);
  });
});

describe('GET /v1/admin/audit-events/facets', () => {
  it('each action and person once, with the current name; none of another account', async () => {
    const { status, body } = await owner.client.get(`${PATH}/facets`);
    expect(status).toBe(200);
    expect(body.actions).toEqual([...new Set(body.actions)].sort());
    expect(body.actions).toEqual(expect.arrayContaining(['app.created', 'app.replaced', 'provider.updated']));
    expect(body.actors).toEqual([{ id: owner.identityId, kind: 'human', name: 'A person' }]);
    const stranger = await newAccount(world.dataSource);
    expect((await world.as(stranger.key).get(`${PATH}/facets`)).body).toEqual({ actions: [], actors: [] });
  });

  it('a deleted person → still named by id', async () => {
    const account = await newAccount(world.dataSource);
    await world.dataSource.query(
      `INSERT INTO audit_events (organization_id, created_at, action, actor_id, actor_kind, credential_type,
         action_source, target_type, target_id) VALUES ($1, now(), 'app.created', 'gone', 'human', 'session', 'web', 'app', 'a')`,
      [account.organizationId],
    );
    const { body } = await world.as(account.key).get(`${PATH}/facets`);
    expect(body).toEqual({ actions: ['app.created'], actors: [{ id: 'gone', kind: 'human', name: null }] });
  });
});
