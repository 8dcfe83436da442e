import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { AppDirectoryService } from '../../../src/app-directory/app-directory.service.js';
import { AppKeyDirectory } from '../../../src/app-keys/app-key-directory.js';
import { AppKeyUses } from '../../../src/app-keys/app-key-uses.js';
import { firstOrganizationId, newMember } from '../../support/accounts/accounts.js';
import { auditEntries } from '../../support/accounts/audit-entries.js';
import { rawDeviceConfig, rawServerConfig } from '../../support/apps/app-configs.js';
import { untilStatementWaits } from '../../support/platform/lock-waits.js';
import { startWorld, type World } from '../../support/world.js';

let world: World;

beforeAll(async () => {
  world = await startWorld();
  await world.provider({ slug: 'openai' });
  await world.provider({ slug: 'openai-backup' });
});

afterAll(() => world.stop());

const keysOf = (appId: string) => `/v1/admin/apps/${appId}/keys`;

describe('keys of an application', () => {
  it('issued → 201 with the key, shown only once; a hash is stored, and the list shows a prefix', async () => {
    const app = await world.app();
    const { status, body } = await world.api.post(keysOf(app.id), { name: '  Backend  ' });
    expect(status).toBe(201);
    expect(body).toMatchObject({
      id: expect.stringMatching(/^key_[0-9a-z]{20}$/),
      name: 'Backend',
      key: expect.stringMatching(/^gw_[0-9A-Za-z]{48}$/),
      key_prefix: body.key.slice(0, 12),
    });
    const list = await world.api.get(keysOf(app.id));
    expect(list.text).not.toContain(body.key);
    expect(list.body.app_id).toBe(app.id);
    expect(list.body.keys.map((key: { name: string }) => key.name)).toEqual(['Backend', 'Default key']);
    expect(list.body.keys[0]).toMatchObject({ id: body.id, status: 'active', last_used_at: null });
    const [row] = await world.dataSource.query('SELECT * FROM app_keys WHERE id = $1', [body.id]);
    expect(row.key_hash).toBe(createHash('sha256').update(body.key).digest('hex'));
    expect(JSON.stringify(row)).not.toContain(body.key);
  });

  it.each([
    ['no name', {}],
    ['a blank name', { name: ' ' }],
    ['a name of 101 characters', { name: 'n'.repeat(101) }],
    ['a number for a name', { name: 7 }],
  ])('body with %s → 400', async (_what, body) => {
    const app = await world.app();
    expect((await world.api.post(keysOf(app.id), body)).status).toBe(400);
  });

  it('revoked → the status says so; repeated → the same answer; the time of the first revocation stays', async () => {
    const app = await world.app();
    const { id } = (await world.api.get(keysOf(app.id))).body.keys[0];
    const first = await world.api.post(`${keysOf(app.id)}/${id}/revoke`);
    expect([first.status, first.body]).toEqual([200, { app_id: app.id, key: id }]);
    const revokedAt = 'SELECT revoked_at FROM app_keys WHERE id = $1';
    const [before] = await world.dataSource.query(revokedAt, [id]);
    expect((await world.api.post(`${keysOf(app.id)}/${id}/revoke`)).body).toEqual(first.body);
    expect(await world.dataSource.query(revokedAt, [id])).toEqual([before]);
    expect((await world.api.get(keysOf(app.id))).body.keys[0]).toMatchObject({ id, status: 'revoked' });
  });

  it('fields other than the name → ignored', async () => {
    const app = await world.app();
    const mine = { name: 'Backend', key: 'gw_mine', id: 'key_mine', status: 'revoked', organization_id: 'somebody' };
    const { status, body } = await world.api.post(keysOf(app.id), mine);
    expect([status, body.name]).toEqual([201, 'Backend']);
    expect([body.key, body.id]).not.toEqual(expect.arrayContaining(['gw_mine', 'key_mine']));
    const [newest] = (await world.api.get(keysOf(app.id))).body.keys;
    expect(newest).toMatchObject({ id: body.id, name: 'Backend', status: 'active' });
  });

  it('unknown key, or one of another application of the account → 404 not_found', async () => {
    const [mine, other] = [await world.app(), await world.app()];
    const { id } = (await world.api.get(keysOf(other.id))).body.keys[0];
    for (const key of [id, `key_${'a'.repeat(20)}`, 'nonsense', 'nul%00']) {
      const { status, body } = await world.api.post(`${keysOf(mine.id)}/${key}/revoke`);
      expect([key, status]).toEqual([key, key === 'nul%00' ? 400 : 404]);
      if (status === 404) expect(body.error.code).toBe('not_found');
    }
    expect((await world.api.get(keysOf(other.id))).body.keys[0].status).toBe('active');
  });

  it('application for devices → has no keys and gets none', async () => {
    const app = await world.app(rawDeviceConfig());
    expect((await world.api.get(keysOf(app.id))).body).toEqual({ app_id: app.id, keys: [] });
    const issued = await world.api.post(keysOf(app.id), { name: 'Backend' });
    expect([issued.status, issued.body.error.code]).toEqual([400, 'invalid_request']);
    const revoked = await world.api.post(`${keysOf(app.id)}/key_${'a'.repeat(20)}/revoke`);
    expect([revoked.status, revoked.body.error.code]).toEqual([404, 'not_found']);
  });

  it('application changed to device authentication → its keys are listed, can be revoked, and stay revoked when it is changed back', async () => {
    const app = await world.app();
    const [kept] = (await world.api.get(keysOf(app.id))).body.keys;
    const leaked = (await world.api.post(keysOf(app.id), { name: 'Leaked' })).body;
    const replace = async (config: object) => {
      const { revision, name } = (await world.api.get(`/v1/admin/apps/${app.id}`)).body.app;
      expect((await world.api.put(`/v1/admin/apps/${app.id}`, { name, revision, config })).status).toBe(200);
    };
    await replace(rawDeviceConfig());
    const { keys } = (await world.api.get(keysOf(app.id))).body;
    expect(keys.map(({ id, status }: { id: string; status: string }) => [id, status])).toEqual([
      [leaked.id, 'active'],
      [kept.id, 'active'],
    ]);
    expect((await world.api.post(keysOf(app.id), { name: 'More' })).body.error.code).toBe('invalid_request');
    for (let call = 0; call < 2; call++) {
      const answer = await world.api.post(`${keysOf(app.id)}/${leaked.id}/revoke`);
      expect([answer.status, answer.body]).toEqual([200, { app_id: app.id, key: leaked.id }]);
    }
    const trail = await auditEntries(world, await firstOrganizationId(world.dataSource));
    const ofKey = trail.filter((entry) => entry.target_id === leaked.id).map(({ action }) => action);
    expect(ofKey).toEqual(['app_key.created', 'app_key.revoked']);
    await replace({ ...rawServerConfig(), authentication: { type: 'api_key', end_user: { source: 'header' } } });
    const call = (key: string) =>
      fetch(`${world.baseUrl}/v1/apps/${app.id}/me`, {
        headers: { authorization: `Bearer ${key}`, 'x-end-user-id': 'ann' },
      });
    expect([(await call(leaked.key)).status, (await call(app.key)).status]).toEqual([401, 200]);
  });

  it('a member → may list, but not issue or revoke', async () => {
    const app = await world.app();
    const organizationId = await firstOrganizationId(world.dataSource);
    const member = world.as((await newMember(world.dataSource, organizationId, { role: 'member' })).key);
    const list = await member.get(keysOf(app.id));
    expect(list.status).toBe(200);
    expect((await member.post(keysOf(app.id), { name: 'Mine' })).body.error.code).toBe('forbidden');
    expect((await member.post(`${keysOf(app.id)}/${list.body.keys[0].id}/revoke`)).body.error.code).toBe('forbidden');
  });
});

describe('lookups of caller checks', () => {
  const directory = () => world.gateway.app.get(AppKeyDirectory, { strict: false });

  it('a cached key, revoked over HTTP → revoked in the next lookup', async () => {
    const app = await world.app();
    const found = await directory().find(app.key);
    expect(found).toMatchObject({ appId: app.id, status: 'active' });
    await world.api.post(`${keysOf(app.id)}/${found?.id}/revoke`);
    expect(await directory().find(app.key)).toMatchObject({ status: 'revoked' });
  });

  it('a use → sets last_used_at of that key only, and not twice within an hour', async () => {
    const app = await world.app();
    await world.api.post(keysOf(app.id), { name: 'Unused' });
    await directory().find(app.key);
    await world.gateway.app.get(AppKeyUses, { strict: false }).flush();
    const { keys } = (await world.api.get(keysOf(app.id))).body;
    expect(keys.map((key: { last_used_at: string | null }) => key.last_used_at)).toEqual([null, expect.any(String)]);
    const used = keys[1].last_used_at;
    await directory().find(app.key);
    await world.gateway.app.get(AppKeyUses, { strict: false }).flush();
    expect((await world.api.get(keysOf(app.id))).body.keys[1].last_used_at).toBe(used);
  });

  it('the application is deleted while a key is issued → 404 as for an unknown one', async () => {
    const app = await world.app();
    const { dataSource } = world;
    const { answer } = await dataSource.transaction(async (tx) => {
      await tx.query('DELETE FROM apps WHERE id = $1', [app.id]);
      const sent = world.api.post(keysOf(app.id), { name: 'Late' });
      await untilStatementWaits(dataSource, 'INSERT INTO "app_keys"');
      return { answer: sent };
    });
    expect(await answer).toMatchObject({ status: 404, text: (await world.api.get(keysOf(app.id))).text });
  });

  it('a cached application, replaced over HTTP → the new configuration in the next lookup', async () => {
    const apps = world.gateway.app.get(AppDirectoryService, { strict: false });
    const app = await world.app();
    expect(await apps.find(app.id)).toMatchObject({ status: 'active', userSource: 'none' });
    await world.api.put(`/v1/admin/apps/${app.id}`, {
      name: 'Named users',
      config: { ...rawServerConfig(), authentication: { type: 'api_key', end_user: { source: 'header' } } },
      status: 'disabled',
      revision: 1,
    });
    expect(await apps.find(app.id)).toMatchObject({ status: 'disabled', userHeader: 'x-end-user-id' });
    await world.api.delete(`/v1/admin/apps/${app.id}?confirm=${app.id}`);
    expect(await apps.find(app.id)).toBeUndefined();
  });
});
