import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { firstOrganizationId } from '../../support/accounts/accounts.js';
import { newPerson, type Person } from '../../support/accounts/people.js';
import { rawServerConfig } from '../../support/apps/app-configs.js';
import { startWorld, type World } from '../../support/world.js';

let world: World;
let organizationId: string;
let person: Person;

beforeAll(async () => {
  world = await startWorld();
  organizationId = await firstOrganizationId(world.dataSource);
  person = await newPerson(world, { organizationId });
  await world.provider({ slug: 'openai' });
  await world.provider({ slug: 'openai-backup' });
});

afterAll(() => world.stop());

/** Entries about one thing, oldest first. */
function trailOf(targetId: string): Promise<Record<string, unknown>[]> {
  return world.dataSource.query(
    `SELECT action, target_type, app_id, details, organization_id, actor_id, actor_kind, credential_type, credential_id,
            action_source FROM audit_events WHERE target_id = $1 ORDER BY id`,
    [targetId],
  );
}

const actionsOf = async (targetId: string) => (await trailOf(targetId)).map(({ action }) => action);

describe('the audit trail of an account', () => {
  it('an application: created, replaced, deleted; with person and client', async () => {
    const config = rawServerConfig();
    const { app } = (await person.client.post('/v1/admin/apps', { name: 'Told', config })).body;
    await person.client.put(`/v1/admin/apps/${app.id}`, { name: 'Renamed', config, revision: 1 });
    await person.client.delete(`/v1/admin/apps/${app.id}?confirm=${app.id}`);
    const by = {
      ...{ organization_id: organizationId, actor_id: person.identityId, actor_kind: 'human', action_source: 'web' },
      ...{ credential_type: 'session', credential_id: person.sessionId, target_type: 'app', app_id: app.id },
    };
    expect(await trailOf(app.id)).toEqual([
      { ...by, action: 'app.created', details: { name: 'Told' } },
      { ...by, action: 'app.replaced', details: { name: 'Renamed', status: 'active', revision: 2 } },
      { ...by, action: 'app.deleted', details: { name: 'Renamed' } },
    ]);
  });

  it('a key of an application: created, revoked, and recorded once for any number of revocations', async () => {
    const app = await world.app();
    const { body: key } = await world.api.post(`/v1/admin/apps/${app.id}/keys`, { name: 'Backend' });
    const revoke = () => world.api.post(`/v1/admin/apps/${app.id}/keys/${key.id}/revoke`);
    await Promise.all([revoke(), revoke(), revoke()]);
    await revoke();
    expect(await trailOf(key.id)).toMatchObject([
      { action: 'app_key.created', app_id: app.id, details: { name: 'Backend' }, credential_type: 'apiKey' },
      { action: 'app_key.revoked', app_id: app.id, details: null },
    ]);
  });

  it('a provider: created, updated with the changed fields named, deleted; without its key', async () => {
    const { id } = await world.provider({ slug: 'told', secret: 'sk-never-to-be-told' });
    await world.api.put(`/v1/admin/providers/${id}`, { name: 'Other', secret: 'sk-never-to-be-told-2' });
    await world.api.delete(`/v1/admin/providers/${id}`);
    const details = { slug: 'told', type: 'openai' };
    const trail = await trailOf(id);
    expect(trail).toMatchObject([
      { action: 'provider.created', target_type: 'provider', app_id: null, details },
      { action: 'provider.updated', details: { ...details, changed: 'name, secret' } },
      { action: 'provider.deleted', details },
    ]);
    expect(JSON.stringify(trail)).not.toContain('never-to-be-told');
  });

  it('an upstream gateway: created, renamed, rotated, deleted', async () => {
    const body = { type: 'vercel', name: 'Edge', token: 'token-never-to-be-told' };
    const { gateway } = (await world.api.post('/v1/admin/provider-gateways', body)).body;
    const path = `/v1/admin/provider-gateways/${gateway.id}`;
    await world.api.send('PATCH', path, { name: 'Border' }, {});
    await world.api.post(`${path}/rotate`, { token: 'token-never-to-be-told-2' });
    await world.api.delete(path);
    expect(await actionsOf(gateway.id)).toEqual(
      ['created', 'renamed', 'rotated', 'deleted'].map((done) => `provider_gateway.${done}`),
    );
    expect(JSON.stringify(await trailOf(gateway.id))).not.toContain('never-to-be-told');
  });

  it('refused actions: no entry', async () => {
    const { id } = await world.provider({ slug: 'kept' });
    const { app } = (await world.api.post('/v1/admin/apps', { name: 'Kept', config: rawServerConfig() })).body;
    const again = { type: 'openai', name: 'Again', slug: 'kept', secret: 'sk-12345678' };
    const [before] = await world.dataSource.query('SELECT count(*)::int AS entries FROM audit_events');
    const refused = [
      await world.api.post('/v1/admin/providers', again),
      await world.api.put(`/v1/admin/providers/${id}`, { name: 'Other', revision: 7 }),
      await world.api.put(`/v1/admin/apps/${app.id}`, { name: 'Other', config: rawServerConfig(), revision: 7 }),
      await world.api.delete(`/v1/admin/apps/${app.id}?confirm=other`),
      await world.api.post(`/v1/admin/apps/${app.id}/keys/key_${'a'.repeat(20)}/revoke`),
      await world.api.delete(`/v1/admin/provider-gateways/${id}`),
    ];
    expect(refused.map(({ status }) => status)).toEqual([409, 409, 409, 400, 404, 404]);
    const [after] = await world.dataSource.query('SELECT count(*)::int AS entries FROM audit_events');
    expect(after).toEqual(before);
  });

  it('the audit trail cannot be written: nothing is changed', async () => {
    const { id } = await world.provider({ slug: 'stays' });
    await world.dataSource.query('ALTER TABLE audit_events RENAME TO audit_events_away');
    try {
      const headers = { authorization: `Bearer ${world.managementKey}` };
      const answer = await fetch(`${world.baseUrl}/v1/admin/providers/${id}`, { method: 'DELETE', headers });
      expect(answer.status).toBe(500);
    } finally {
      await world.dataSource.query('ALTER TABLE audit_events_away RENAME TO audit_events');
    }
    expect(await actionsOf(id)).toEqual(['provider.created']);
    expect(await world.dataSource.query('SELECT FROM providers WHERE id = $1', [id])).toHaveLength(1);
  });
});
