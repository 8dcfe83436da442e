import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { firstOrganizationId, newMember } from '../../support/accounts/accounts.js';
import { rawDeviceConfig, rawSelection, rawServerConfig } from '../../support/apps/app-configs.js';
import { startWorld, type World } from '../../support/world.js';

const APPS = '/v1/admin/apps';
let world: World;

beforeAll(async () => {
  world = await startWorld();
  await world.provider({ slug: 'openai' });
  await world.provider({ slug: 'openai-backup' });
});

afterAll(() => world.stop());

const serverBody = (changes: Record<string, unknown> = {}) => ({
  name: 'Notes',
  config: rawServerConfig(),
  ...changes,
});

/** Creates an application and returns the data for a replacement. */
async function created(changes: Record<string, unknown> = {}): Promise<{ id: string; revision: number }> {
  const answer = await world.api.post(APPS, serverBody(changes));
  expect(answer.status).toBe(201);
  return { id: answer.body.app.id, revision: answer.body.app.revision };
}

const refusal = (code: string, message: unknown = expect.any(String)) => ({ error: { code, message } });

describe('GET and PUT /v1/admin/apps/{app}', () => {
  it('replaced with the revision read → 200, revision incremented, everything else as sent', async () => {
    const { id } = await created();
    const config = { ...rawServerConfig(), limits: { per_app: { requests: { per_minute: 5 } } } };
    const { status, body } = await world.api.put(`${APPS}/${id}`, {
      name: 'New',
      config,
      status: 'disabled',
      revision: 1,
    });
    expect(status).toBe(200);
    expect(body.app).toMatchObject({ id, name: 'New', status: 'disabled', revision: 2 });
    expect(body.resolved.limits.perApp.requestsPerMinute).toBe(5);
    expect((await world.api.get(`${APPS}/${id}`)).body).toEqual(body);
  });

  it('no status in the body → keeps the stored one', async () => {
    const { id } = await created({ status: 'disabled' });
    const { body } = await world.api.put(`${APPS}/${id}`, serverBody({ revision: 1 }));
    expect(body.app.status).toBe('disabled');
  });

  it('no revision → 400 app_revision_required, whatever else is wrong', async () => {
    const { id } = await created();
    const { status, body } = await world.api.put(`${APPS}/${id}`, { config: 7, colour: 'blue' });
    expect([status, body.error.code]).toEqual([400, 'app_revision_required']);
  });

  it.each([[2], [0], ['1'], [null], [1.5]])(
    'revision %j of an application at 1 → refused, nothing written',
    async (revision) => {
      const { id } = await created();
      const { status, body } = await world.api.put(`${APPS}/${id}`, serverBody({ name: 'Lost', revision }));
      expect([status, body.error.code]).toEqual(
        revision === 2 ? [409, 'app_revision_conflict'] : [400, 'invalid_request'],
      );
      expect((await world.api.get(`${APPS}/${id}`)).body.app).toMatchObject({ name: 'Notes', revision: 1 });
    },
  );

  it('stale revision and a wrong configuration → the conflict is reported first', async () => {
    const { id } = await created();
    const { body } = await world.api.put(`${APPS}/${id}`, serverBody({ config: {}, revision: 9 }));
    expect(body.error.code).toBe('app_revision_conflict');
  });

  it('two PUTs with the same revision at once → one 200, one 409, one write', async () => {
    const { id } = await created();
    const answers = await Promise.all(
      ['A', 'B'].map((name) => world.api.put(`${APPS}/${id}`, serverBody({ name, revision: 1 }))),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409]);
    const winner = answers.find(({ status }) => status === 200);
    expect((await world.api.get(`${APPS}/${id}`)).body.app).toMatchObject({ name: winner?.body.app.name, revision: 2 });
  });

  it('unknown id → 404 app_not_found before the body is validated, and nothing is created', async () => {
    for (const id of ['no-such-app', 'UPPER', 'nul%00', 'x'.repeat(200), '..%2Fapps']) {
      const put = await world.api.put(`${APPS}/${id}`, { nonsense: true });
      expect([id, put.status, put.body.error.code]).toEqual([id, 404, 'app_not_found']);
      expect((await world.api.get(`${APPS}/${id}`)).status).toBe(404);
    }
  });

  it('type changed to one without keys → its keys are still listed', async () => {
    const { id } = await created();
    await world.api.put(`${APPS}/${id}`, { name: 'Mobile', config: rawDeviceConfig(), revision: 1 });
    const { status, body } = await world.api.get(`${APPS}/${id}/keys`);
    expect([status, body.keys.length]).toEqual([200, 1]);
  });

  it('stored configuration no longer parses → answered as stored with config_error, check 400, PUT repairs it', async () => {
    const { id } = await created();
    await world.dataSource.query(`UPDATE apps SET config = '{"old":true}' WHERE id = $1`, [id]);
    const read = await world.api.get(`${APPS}/${id}`);
    expect(read.body).toMatchObject({ app: { config: { old: true } }, resolved: null });
    expect(read.body.config_error).toMatch(/^config\./);
    expect((await world.api.get(`${APPS}/${id}/check`)).body).toEqual(
      refusal('invalid_request', expect.stringMatching(/^config\./)),
    );
    const list = await world.api.get(APPS);
    expect(list.body.apps.find((app: { id: string }) => app.id === id).authentication_type).toBe('invalid');
    const repaired = await world.api.put(`${APPS}/${id}`, serverBody({ revision: 1 }));
    expect(repaired.body).toMatchObject({ config_error: null, app: { revision: 2 } });
  });
});

describe('POST validate and GET check', () => {
  it('validate: acceptable → valid, and nothing changes', async () => {
    const { id } = await created();
    const { status, body } = await world.api.post(`${APPS}/${id}/validate`, serverBody({ name: 'Other' }));
    expect([status, body]).toEqual([200, { valid: true, app_id: id }]);
    expect((await world.api.get(`${APPS}/${id}`)).body.app).toMatchObject({ name: 'Notes', revision: 1 });
  });

  it('validate: not acceptable → the same error as for a write', async () => {
    const { id } = await created();
    const bad = serverBody({ config: rawSelection({ groq: { allowed_paths: [], allowed_models: [] } }) });
    const validated = await world.api.post(`${APPS}/${id}/validate`, bad);
    const written = await world.api.put(`${APPS}/${id}`, { ...bad, revision: 1 });
    expect(validated.status).toBe(400);
    expect(validated.body).toEqual(written.body);
  });

  it.each<[string, object, number]>([
    ['the body of a creation', {}, 200],
    ['the body of a replacement', { revision: 1, status: 'disabled' }, 200],
    ['a stale revision', { revision: 2 }, 409],
    ['a revision of no number', { revision: '1' }, 400],
    ['an unknown status', { revision: 1, status: 'paused' }, 400],
    ['a blank name', { revision: 1, name: ' ' }, 400],
    ['an id', { revision: 1, id: 'mine' }, 400],
    ['a member that nobody knows', { revision: 1, owner: 'me' }, 400],
  ])('validate: %s → the answer of PUT', async (_name, members, status) => {
    const { id } = await created();
    const body = { ...serverBody(), ...members };
    const validated = await world.api.post(`${APPS}/${id}/validate`, body);
    const written = await world.api.put(`${APPS}/${id}`, { revision: 1, ...body });
    expect([validated.status, written.status]).toEqual([status, status]);
    expect(validated.body).toEqual(status === 200 ? { valid: true, app_id: id } : written.body);
  });

  it.each<[string, object, number]>([
    ['a server application', {}, 200],
    ['a disabled one', { status: 'disabled' }, 200],
    ['an unknown provider', { config: rawSelection({ groq: { allowed_paths: [], allowed_models: [] } }) }, 400],
    ['no configuration', { config: undefined }, 400],
    ['an id', { id: 'mine' }, 400],
    ['a revision', { revision: 1 }, 400],
  ])('validate a draft: %s → the answer of POST, and nothing is stored', async (_name, members, status) => {
    const body = { ...serverBody(), ...members };
    const { total } = (await world.api.get(APPS)).body;
    const validated = await world.api.post(`${APPS}/validate`, body);
    expect((await world.api.get(APPS)).body.total).toBe(total);
    const written = await world.api.post(APPS, body);
    expect([validated.status, written.status]).toEqual([status, status === 200 ? 201 : status]);
    expect(validated.body).toEqual(status === 200 ? { valid: true } : written.body);
  });

  it('validate: a member with a read key → allowed', async () => {
    const { id } = await created();
    const organizationId = await firstOrganizationId(world.dataSource);
    const member = await newMember(world.dataSource, organizationId, { role: 'member', grant: 'read' });
    expect((await world.as(member.key).post(`${APPS}/${id}/validate`, serverBody())).status).toBe(200);
    expect((await world.as(member.key).put(`${APPS}/${id}`, serverBody({ revision: 1 }))).body.error.code).toBe(
      'forbidden',
    );
    expect((await world.as(member.key).put(`${APPS}/no-such-app`, {})).body.error.code).toBe('app_not_found');
  });

  it('check: routing names one of two providers → that one, ready, two limitations', async () => {
    const { id } = await created({
      config: rawSelection({ 'openai-backup': { allowed_paths: [], allowed_models: [] } }),
    });
    const { status, body } = await world.api.get(`${APPS}/${id}/check`);
    expect(status).toBe(200);
    expect(body).toMatchObject({ appId: id, validation: { valid: true, app_id: id }, status: 'active', ready: true });
    expect(body.providers).toEqual([{ id: expect.any(String), slug: 'openai-backup', status: 'active' }]);
    expect(body.limitations).toHaveLength(2);
  });

  it('check: provider disabled, then deleted → not ready; still accepted for this application, not for a new one', async () => {
    const provider = await world.provider({ type: 'groq', slug: 'gone-soon' });
    const config = rawSelection({ 'gone-soon': { allowed_paths: [], allowed_models: ['gone-model'] } });
    await world.api.put(`/v1/admin/providers/${provider.id}`, { pricing: { 'gone-model': { input: 1, output: 1 } } });
    const { id } = await created({ config });
    await world.api.put(`/v1/admin/providers/${provider.id}`, { status: 'disabled' });
    const disabled = await world.api.get(`${APPS}/${id}/check`);
    expect(disabled.body).toMatchObject({ ready: false, providers: [{ slug: 'gone-soon', status: 'disabled' }] });
    await world.api.delete(`/v1/admin/providers/${provider.id}`);
    expect((await world.api.get(`${APPS}/${id}/check`)).body).toMatchObject({ ready: false, providers: [] });
    expect((await world.api.put(`${APPS}/${id}`, serverBody({ config, revision: 1 }))).status).toBe(200);
    expect((await world.api.post(APPS, serverBody({ config }))).status).toBe(400);
  });
});
