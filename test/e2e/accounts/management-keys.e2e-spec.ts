import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ManagementKeyUses } from '../../../src/accounts/management-keys/management-key-uses.js';
import { firstOrganizationId, newAccount, newMember } from '../../support/accounts/accounts.js';
import { newPerson, type Person } from '../../support/accounts/people.js';
import type { ApiClient } from '../../support/api-client.js';
import { type FurtherInstance, startFurtherInstance } from '../../support/platform/further-instance.js';
import { untilStatementWaits } from '../../support/platform/lock-waits.js';
import { describeWithRedis, reachRedis, type TestRedis } from '../../support/platform/redis.js';
import { startWorld, type World } from '../../support/world.js';

const PATH = '/v1/admin/keys';
const OWN = '/v1/cli/credential';
const PLAINTEXT = /^gw_mgmt_[0-9A-Za-z]{48}$/;
const PROVIDER = { type: 'openai', name: 'Made with a key', secret: 'sk-test-1234' };
const AN_INSTANT = expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/);

let redis: Pick<TestRedis, 'url' | 'stop'>;
let world: World;
let organizationId: string;
let owner: Person;

beforeAll(async () => {
  redis = await reachRedis();
  world = await startWorld({ env: { REDIS_URL: redis.url } });
  organizationId = await firstOrganizationId(world.dataSource);
  owner = await newPerson(world, { organizationId });
});

afterAll(async () => {
  await world.stop();
  await redis.stop();
});

/** Creates a key as the console does. */
async function created(client: ApiClient, body: object = { name: 'Deploys' }) {
  const answer = await client.post(PATH, body);
  if (answer.status !== 201) throw new Error(`key: ${answer.status} ${answer.text}`);
  return answer.body.key;
}

function trailOf(id: string): Promise<{ action: string; actor_id: string; credential_id: string; details: unknown }[]> {
  return world.dataSource.query(
    'SELECT action, actor_id, credential_id, details FROM audit_events WHERE target_id = $1 ORDER BY id',
    [id],
  );
}

describe('the last use of a management key', () => {
  const flush = () => world.gateway.app.get(ManagementKeyUses, { strict: false }).flush();
  const lastUseOf = async (id: string): Promise<string | null> =>
    (await owner.client.get(PATH)).body.keys.find((key: { id: string }) => key.id === id).lastUsedAt;

  it('a call → written afterwards, only for that key, and again after ten minutes', async () => {
    const [used, unused] = [await created(owner.client), await created(owner.client)];
    for (let call = 0; call < 3; call++) await world.as(used.plaintext).get('/v1/admin/apps');
    await flush();
    const first = await lastUseOf(used.id);
    expect([first, await lastUseOf(unused.id)]).toEqual([AN_INSTANT, null]);
    await world.as(used.plaintext).get('/v1/admin/apps');
    await flush();
    expect(await lastUseOf(used.id)).toBe(first);
    await world.dataSource.query(
      "UPDATE management_keys SET last_used_at = last_used_at - interval '10 minutes' WHERE id = $1",
      [used.id],
    );
    await world.as(used.plaintext).get('/v1/admin/apps');
    await flush();
    expect(Date.parse((await lastUseOf(used.id)) ?? '')).toBeGreaterThanOrEqual(Date.parse(first ?? ''));
  });

  it('a refused key → no recorded use', async () => {
    const { id, plaintext } = await created(owner.client);
    await owner.client.post(`${PATH}/${id}/revoke`);
    expect((await world.as(plaintext).get('/v1/admin/apps')).status).toBe(401);
    await flush();
    expect(await lastUseOf(id)).toBeNull();
  });
});

describe('creating a management key', () => {
  it('only a name → a key with grant manage, shown once, and only its hash is stored', async () => {
    const { plaintext, ...key } = await created(owner.client, { name: '  Deploys  ' });
    expect(plaintext).toMatch(PLAINTEXT);
    expect(key).toEqual({
      id: expect.stringMatching(/^mkey_[0-9a-z]{20}$/),
      organizationId,
      userId: owner.identityId,
      name: 'Deploys',
      tokenHint: plaintext.slice(-4),
      enabled: true,
      expiresAt: null,
      createdAt: AN_INSTANT,
      revokedAt: null,
      source: 'console',
      credentialType: 'apiKey',
      label: null,
      lastUsedAt: null,
      grant: 'manage',
      clientId: null,
    });
    const [row] = await world.dataSource.query('SELECT k::text AS stored FROM management_keys k WHERE id = $1', [
      key.id,
    ]);
    expect(row.stored).not.toContain(plaintext);
    expect((await owner.client.get(PATH)).text).not.toContain(plaintext);
    expect(JSON.stringify(world.logs)).not.toContain(plaintext);
    expect((await world.as(plaintext).post('/v1/admin/providers', { ...PROVIDER, slug: 'by-key' })).status).toBe(201);
  });

  it('the grant read → the key can read, and cannot write', async () => {
    const { plaintext, grant } = await created(owner.client, { name: 'Dashboards', grant: 'read' });
    expect(grant).toBe('read');
    expect((await world.as(plaintext).get('/v1/admin/providers')).status).toBe(200);
    expect((await world.as(plaintext).post('/v1/admin/providers', PROVIDER)).body.error.code).toBe(
      'grant_insufficient',
    );
  });

  it.each([
    ['no name', {}, 'name: is required'],
    ['a blank name', { name: '  ' }, 'name: must be text of 1 to 100 characters'],
    ['101 characters', { name: 'x'.repeat(101) }, 'name: must be text of 1 to 100 characters'],
    ['another grant', { name: 'x', grant: 'admin' }, 'grant: must be one of "read", "manage"'],
  ])('%s → 400', async (_name, body, message) => {
    const answer = await owner.client.post(PATH, body);
    expect([answer.status, answer.body.error]).toEqual([400, { code: 'invalid_request', message }]);
  });

  it('1 000 active keys → no further one, even of two at once; after one is revoked → one more', async () => {
    const account = await newAccount(world.dataSource);
    const person = await newPerson(world, { organizationId: account.organizationId });
    await world.dataSource.query(
      `INSERT INTO management_keys (id, organization_id, identity_id, name, token_hash, token_hint, access_grant, source,
         created_at, revoked_at)
       SELECT $1 || n, $1, $2, 'One of many', $1 || n, 'x', 'read', 'console', now(), CASE WHEN n > 998 THEN now() END
         FROM generate_series(1, 1500) n`,
      [account.organizationId, person.identityId],
    );
    const make = () => person.client.post(PATH, { name: 'The last one' });
    const answers = await Promise.all([make(), make()]);
    expect(answers.map(({ status, body }) => [status, body.error?.code]).sort()).toEqual([
      [201, undefined],
      [409, 'conflict'],
    ]);
    expect((await person.client.post(`${PATH}/${account.organizationId}7/revoke`)).status).toBe(200);
    expect((await make()).status).toBe(201);
  });

  it('one audit entry each → who, with which credential, without the key', async () => {
    const { id, plaintext } = await created(owner.client, { name: 'Traced', grant: 'read' });
    await owner.client.post(`${PATH}/${id}/revoke`);
    await owner.client.post(`${PATH}/${id}/revoke`);
    const who = { actor_id: owner.identityId, credential_id: owner.sessionId };
    const trail = await trailOf(id);
    expect(trail).toEqual([
      { action: 'management_key.created', ...who, details: { name: 'Traced', grant: 'read', source: 'console' } },
      { action: 'management_key.revoked', ...who, details: null },
    ]);
    expect(JSON.stringify(trail)).not.toContain(plaintext);
  });
});

describe('listing management keys', () => {
  it('newest first → also those of other people, only of the account', async () => {
    const account = await newAccount(world.dataSource);
    const [one, other] = await Promise.all(
      (['owner', 'admin'] as const).map((role) => newPerson(world, { organizationId: account.organizationId, role })),
    );
    if (one === undefined || other === undefined) throw new Error('two people');
    const first = await created(one.client, { name: 'First' });
    const second = await created(other.client, { name: 'Second' });
    const member = await newPerson(world, { organizationId: account.organizationId, role: 'member' });
    const answer = await member.client.get(PATH);
    const listed = answer.body.keys.map(({ id, userId }: { id: string; userId: string }) => [id, userId]);
    expect(listed.slice(0, 2)).toEqual([
      [second.id, other.identityId],
      [first.id, one.identityId],
    ]);
    expect(listed).toHaveLength(3);
  });

  it('a key whose owner left, and an expired one → listed, not enabled, and not valid', async () => {
    const leaver = await newPerson(world, { organizationId });
    const [left, expired] = [await created(leaver.client), await created(owner.client)];
    await world.dataSource.query('DELETE FROM memberships WHERE identity_id = $1', [leaver.identityId]);
    await world.dataSource.query("UPDATE management_keys SET expires_at = now() - interval '1 s' WHERE id = $1", [
      expired.id,
    ]);
    const { keys } = (await owner.client.get(PATH)).body;
    for (const { id, plaintext } of [left, expired]) {
      expect(keys.find((key: { id: string }) => key.id === id)).toMatchObject({ enabled: false, revokedAt: null });
      expect((await world.as(plaintext).get('/v1/admin/providers')).status).toBe(401);
    }
  });
});

describe('a key and its owner', () => {
  it('the owner becomes a member → so does the key, from the next request on', async () => {
    const person = await newPerson(world, { organizationId, role: 'admin' });
    const { plaintext } = await created(person.client);
    const write = () =>
      world.as(plaintext).post('/v1/admin/providers/test', { type: 'perplexity', secret: 'sk-test-1234' });
    expect((await write()).status).toBe(200);
    await world.dataSource.query("UPDATE memberships SET role = 'member' WHERE identity_id = $1", [person.identityId]);
    expect((await write()).body.error.code).toBe('forbidden');
  });

  it('the creator is removed meanwhile → no key, and none that works when they return', async () => {
    const leaver = await newPerson(world, { organizationId, role: 'admin' });
    const making = await world.dataSource.transaction(async (removal) => {
      await removal.query('DELETE FROM memberships WHERE identity_id = $1', [leaver.identityId]);
      const asked = leaver.client.post(PATH, { name: 'Way back' });
      await Promise.race([asked, untilStatementWaits(world.dataSource)]);
      return [asked];
    });
    const [answer] = await Promise.all(making);
    expect([answer?.status, answer?.body.error?.code]).toEqual([403, 'forbidden']);
    const stored = await world.dataSource.query('SELECT FROM management_keys WHERE identity_id = $1', [
      leaver.identityId,
    ]);
    expect(stored).toEqual([]);
  });
});

describe('revoking a management key', () => {
  it('active → refused from the next request on; again → the same answer', async () => {
    const { plaintext, ...key } = await created(owner.client);
    expect((await world.as(plaintext).get('/v1/admin/providers')).status).toBe(200);
    const answer = await owner.client.post(`${PATH}/${key.id}/revoke`);
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({ key: { ...key, enabled: false, revokedAt: AN_INSTANT } });
    expect((await world.as(plaintext).get('/v1/admin/providers')).status).toBe(401);
    const again = await owner.client.post(`${PATH}/${key.id}/revoke`);
    expect([again.status, again.text]).toEqual([200, answer.text]);
  });

  it('a key of another account → byte for byte the answer to an unknown key', async () => {
    const account = await newAccount(world.dataSource);
    const stranger = await newPerson(world, { organizationId: account.organizationId });
    const { id, plaintext } = await created(owner.client);
    const foreign = await stranger.client.post(`${PATH}/${id}/revoke`);
    const missing = await stranger.client.post(`${PATH}/mkey_00000000000000000000/revoke`);
    expect([foreign.status, foreign.text]).toEqual([404, missing.text]);
    expect(missing.status).toBe(404);
    expect((await world.as(plaintext).get('/v1/admin/providers')).status).toBe(200);
  });
});

describe('permissions', () => {
  it.each([
    ['GET', PATH, 'session_required'],
    ['POST', PATH, 'session_required'],
    ['POST', `${PATH}/mkey_x/revoke`, 'session_required'],
  ])('a key calls %s %s → 403 %s, whatever its grant', async (method, path, code) => {
    const reading = (await newMember(world.dataSource, organizationId, { grant: 'read' })).key;
    for (const key of [world.managementKey, reading]) {
      const answer = await world.as(key).send(method, path, method === 'POST' ? { name: 'x' } : undefined, {});
      expect([answer.status, answer.body.error.code]).toEqual([403, code]);
    }
  });

  it('a member → may list, but not create or revoke', async () => {
    const member = await newPerson(world, { organizationId, role: 'member' });
    const { id } = await created(owner.client);
    expect((await member.client.get(PATH)).status).toBe(200);
    for (const path of [PATH, `${PATH}/${id}/revoke`]) {
      const answer = await member.client.post(path, { name: 'x' });
      expect([answer.status, answer.body.error.code]).toEqual([403, 'forbidden']);
    }
  });
});

describe('revoking one’s own key', () => {
  it.each([
    ['owner', 'manage'],
    ['admin', 'read'],
    ['member', 'manage'],
    ['member', 'read'],
  ] as const)('as %s with the grant %s → revoked, with an audit entry', async (role, grant) => {
    const { key, identityId } = await newMember(world.dataSource, organizationId, { role, grant });
    const answer = await world.as(key).delete(OWN);
    expect([answer.status, answer.body]).toEqual([200, { revoked: true }]);
    expect((await world.as(key).delete(OWN)).status).toBe(401);
    const [row] = await world.dataSource.query('SELECT id FROM management_keys WHERE identity_id = $1', [identityId]);
    expect(await trailOf(row.id)).toEqual([
      { action: 'management_key.revoked', actor_id: identityId, credential_id: row.id, details: null },
    ]);
  });

  it('a session → 403, and stays valid', async () => {
    const answer = await owner.client.delete(OWN);
    expect([answer.status, answer.body.error.code]).toEqual([403, 'forbidden']);
    expect((await owner.client.get(PATH)).status).toBe(200);
  });
});

describeWithRedis('several instances', () => {
  let further: FurtherInstance;

  beforeAll(async () => {
    further = await startFurtherInstance(world);
  });

  afterAll(() => further.stop());

  it('revoked on one instance → refused on the other from the next request on', async () => {
    for (let round = 0; round < 10; round++) {
      const { id, plaintext } = await created(owner.client);
      expect((await further.as(plaintext).get('/v1/admin/providers')).status).toBe(200);
      await owner.client.post(`${PATH}/${id}/revoke`);
      expect((await further.as(plaintext).get('/v1/admin/providers')).status).toBe(401);
    }
  });
});
