import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { firstOrganizationId } from '../../support/accounts/accounts.js';
import { auditEntries } from '../../support/accounts/audit-entries.js';
import { issueToken, TOKEN_APPS } from '../../support/client-auth/exchange/caller-tokens.js';
import { FakeClock } from '../../support/clock.js';
import { type FurtherInstance, startFurtherInstance } from '../../support/platform/further-instance.js';
import { describeWithRedis, reachRedis, type TestRedis } from '../../support/platform/redis.js';
import { startWorld, type World } from '../../support/world.js';

let redis: Pick<TestRedis, 'url' | 'stop'>;
let world: World;
let clock: FakeClock;

beforeAll(async () => {
  redis = await reachRedis();
  clock = new FakeClock();
  world = await startWorld({ env: { REDIS_URL: redis.url }, clock });
  await world.provider({ slug: 'openai' });
  await world.provider({ slug: 'openai-backup' });
});

afterAll(async () => {
  await world.stop();
  await redis.stop();
});

const keysOf = (appId: string) => `/v1/admin/apps/${appId}/keys`;
const inMs = (ms: number) => new Date(clock.nowMs() + ms).toISOString();

async function callWith(key: string, appId: string, baseUrl = world.baseUrl) {
  const answer = await fetch(`${baseUrl}/v1/apps/${appId}/models`, {
    headers: { authorization: `Bearer ${key}`, 'x-app-version': '1' },
  });
  return { status: answer.status, text: (await answer.text()).replace(/"request_id":"[^"]+"/, '') };
}

describe('an application key with expires_at', () => {
  it('created → shown in the answer, the list and the audit trail; its application’s other keys do not expire', async () => {
    const app = await world.app();
    const expiresAt = inMs(60_000);
    const { status, body } = await world.api.post(keysOf(app.id), { name: 'Trial', expires_at: expiresAt });
    expect([status, body.expires_at]).toEqual([201, expiresAt]);
    const { keys } = (await world.api.get(keysOf(app.id))).body;
    expect(keys).toHaveLength(2);
    expect(keys).toContainEqual(expect.objectContaining({ name: 'Trial', status: 'active', expires_at: expiresAt }));
    expect(keys).toContainEqual(expect.objectContaining({ name: 'Default key', status: 'active', expires_at: null }));
    const trail = await auditEntries(world, await firstOrganizationId(world.dataSource));
    expect(trail.find(({ target_id }) => target_id === body.id)).toMatchObject({
      action: 'app_key.created',
      details: { name: 'Trial', expires_at: expiresAt },
    });
  });

  it('calls before that → answered; from that moment → 401 as for an unknown key, with its own reason in the log', async () => {
    const app = await world.app();
    const { key } = (await world.api.post(keysOf(app.id), { name: 'Trial', expires_at: inMs(20_000) })).body;
    clock.advance(19_999);
    expect((await callWith(key, app.id)).status).toBe(200);
    clock.advance(1);
    world.logs.length = 0;
    const refused = await callWith(key, app.id);
    expect(refused).toEqual(await callWith(`gw_${'a'.repeat(48)}`, app.id));
    expect(refused.status).toBe(401);
    const reasons = world.logs.filter(({ message }) => message === 'gateway_error').map(({ reason }) => reason);
    expect(reasons).toEqual(['app_key_expired', 'app_key_invalid']);
    expect((await world.api.get(keysOf(app.id))).body.keys).toContainEqual(
      expect.objectContaining({ name: 'Trial', status: 'expired' }),
    );
    expect((await callWith(app.key, app.id)).status).toBe(200);
  });

  it('an expired key of another application → the same answer as for any other', async () => {
    const [mine, other] = [await world.app(), await world.app()];
    const { key } = (await world.api.post(keysOf(other.id), { name: 'Trial', expires_at: inMs(1_000) })).body;
    clock.advance(1_000);
    world.logs.length = 0;
    expect((await callWith(key, mine.id)).status).toBe(401);
    expect(world.logs.find(({ message }) => message === 'gateway_error')).toMatchObject({ reason: 'app_key_invalid' });
  });

  it('exchanged before → its tokens expire with it', async () => {
    const app = await world.app({ authentication: TOKEN_APPS['users of an issuer behind a backend'] });
    const { id } = (await world.api.post(keysOf(app.id), { name: 'Trial', expires_at: inMs(30_000) })).body;
    const token = await issueToken(world, { appId: app.id, userId: 'ann', authMethod: 'api_key', apiKeyId: id });
    expect((await callWith(token, app.id)).status).toBe(200);
    clock.advance(30_000);
    expect((await callWith(token, app.id)).status).toBe(401);
  });

  it('revoked before it expires → stays revoked', async () => {
    const app = await world.app();
    const { id } = (await world.api.post(keysOf(app.id), { name: 'Trial', expires_at: inMs(1_000) })).body;
    await world.api.post(`${keysOf(app.id)}/${id}/revoke`);
    clock.advance(1_000);
    expect((await world.api.get(keysOf(app.id))).body.keys).toContainEqual(
      expect.objectContaining({ id, status: 'revoked' }),
    );
  });

  it.each([
    ['now', () => inMs(0)],
    ['the past', () => '2020-01-01T00:00:00Z'],
    ['no time zone', () => '2099-01-31T12:00:00'],
    ['a day', () => '2099-01-31'],
    ['no day of the calendar', () => '2099-02-30T12:00:00Z'],
    ['a number', () => 4_070_908_800],
    ['nothing', () => ''],
  ])('%s → 400 that names the field, and no key', async (_what, expiresAt) => {
    const app = await world.app();
    const { status, body } = await world.api.post(keysOf(app.id), { name: 'Trial', expires_at: expiresAt() });
    expect([status, body.error.code]).toEqual([400, 'invalid_request']);
    expect(body.error.message).toMatch(/^expires_at: /);
    expect((await world.api.get(keysOf(app.id))).body.keys).toHaveLength(1);
  });

  it('null → does not expire', async () => {
    const app = await world.app();
    const { status, body } = await world.api.post(keysOf(app.id), { name: 'Kept', expires_at: null });
    expect([status, body.expires_at]).toEqual([201, null]);
  });
});

describeWithRedis('two instances', () => {
  let further: FurtherInstance;

  beforeAll(async () => {
    further = await startFurtherInstance(world, undefined, { clock });
  });

  afterAll(() => further.stop());

  it('a key cached by both instances → refused by both from the moment it expires', async () => {
    const app = await world.app();
    const { key } = (await world.api.post(keysOf(app.id), { name: 'Trial', expires_at: inMs(10_000) })).body;
    const both = () =>
      Promise.all([world.baseUrl, further.baseUrl].map(async (url) => (await callWith(key, app.id, url)).status));
    expect(await both()).toEqual([200, 200]);
    clock.advance(9_999);
    expect(await both()).toEqual([200, 200]);
    clock.advance(1);
    expect(await both()).toEqual([401, 401]);
  });
});
