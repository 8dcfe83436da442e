import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { AppRef } from '../../../src/app-directory/app.entity.js';
import { BlockedUsers } from '../../../src/users/blocked-users.js';
import { UsersService } from '../../../src/users/users.service.js';
import { firstOrganizationId } from '../../support/accounts/accounts.js';
import { uncheckedCall } from '../../support/accounts/management-call.js';
import { untilStatementWaits } from '../../support/platform/lock-waits.js';
import { seeded } from '../../support/seeded.js';
import { useApp } from '../../support/users/users.js';
import { startWorld, type World } from '../../support/world.js';

const ROUNDS = 40;
const SEED = 38;
const NAMED_BY_HEADER = { authentication: { type: 'api_key', end_user: { source: 'header' } } };
const INSERT_OF_BLOCK = "'blocked', $4";

let world: World;
let users: UsersService;
let app: AppRef & { readonly key: string };

beforeAll(async () => {
  world = await startWorld();
  users = world.gateway.app.get(UsersService);
});

afterAll(() => world.stop());

beforeEach(async () => {
  const made = await world.app(NAMED_BY_HEADER);
  app = { ...made, organizationId: await firstOrganizationId(world.dataSource) };
});

const block = (id: string) => world.api.post(`/v1/admin/apps/${app.id}/users/${id}/block`);
const unblock = (id: string) => world.api.post(`/v1/admin/apps/${app.id}/users/${id}/unblock`);
const use = (id: string) => useApp(world.dataSource, app, id, { firstAt: '2026-01-01T00:00:00Z' });

async function statusOf(id: string): Promise<string | undefined> {
  const rows = await world.dataSource.query('SELECT status FROM app_users WHERE app_id = $1 AND id = $2', [app.id, id]);
  return rows[0]?.status;
}

/** What the trail says of a user, oldest first. */
async function trailOf(id: string): Promise<string[]> {
  const entries: { action: string }[] = await world.dataSource.query(
    "SELECT action FROM audit_events WHERE app_id = $1 AND target_type = 'user' AND target_id = $2 ORDER BY id",
    [app.id, id],
  );
  return entries.map(({ action }) => action);
}

async function expectBlockedForGood(id: string): Promise<void> {
  expect(await statusOf(id)).toBe('blocked');
  expect(await world.gateway.app.get(BlockedUsers).isBlocked(app, id)).toBe(true);
  expect((await users.seen(app, id)).status).toBe('blocked');
  await use(id);
  await users.openClaimWindow(app, id);
  expect(await users.find(app, id)).toMatchObject({ status: 'blocked', claimPendingSince: null });
  expect(await trailOf(id)).toEqual(['user.blocked']);
}

/** Everything else that makes the first row of a user. */
const SIGHTS: readonly [string, (id: string) => Promise<unknown>][] = [
  ['an exchange', (id) => users.seen(app, id)],
  ['a registration', (id) => world.dataSource.transaction((tx) => users.seenIn(tx, app, id))],
  ['usage', use],
  ['a claim that is waited for', (id) => users.openClaimWindow(app, id)],
];

describe('ADR 0011: a block that races with the first call of a user', () => {
  it.each(SIGHTS)(
    `%s, ${ROUNDS} interleavings, seed ${SEED} → blocked permanently, with one audit entry`,
    async (_name, see) => {
      const random = seeded(SEED);
      for (let round = 0; round < ROUNDS; round++) {
        const id = `user-${round}`;
        const [sightAfterMs, blockAfterMs] = [random() * 8, random() * 8];
        const [answer] = await Promise.all([
          sleep(blockAfterMs).then(() => block(id)),
          sleep(sightAfterMs).then(() => see(id)),
          see(id),
        ]);
        expect(answer.body).toEqual({ app_id: app.id, user_id: id, blocked: true });
        await expectBlockedForGood(id);
      }
      const { body } = await world.api.get(`/v1/admin/apps/${app.id}/users?status=blocked&limit=1`);
      expect(body.total).toBe(ROUNDS);
    },
    60_000,
  );

  it('the first row exists but is not committed → the block waits for it, and takes effect', async () => {
    let answer: ReturnType<typeof block> | undefined;
    await world.dataSource.transaction(async (tx) => {
      expect((await users.seenIn(tx, app, 'alice')).status).toBe('active');
      answer = block('alice');
      await untilStatementWaits(world.dataSource, INSERT_OF_BLOCK);
    });
    expect((await answer)?.body.blocked).toBe(true);
    await expectBlockedForGood('alice');
  });

  it.each(SIGHTS)(
    'the block exists but is not committed → %s waits for it or does not change it',
    async (_name, see) => {
      const held = world.dataSource.createQueryRunner();
      await held.startTransaction();
      await held.query('LOCK TABLE audit_events IN ACCESS EXCLUSIVE MODE');
      const answer = block('alice');
      await untilStatementWaits(world.dataSource, 'audit_events');
      const sight = see('alice');
      await Promise.race([sight, untilStatementWaits(world.dataSource, '', 2)]);
      await held.rollbackTransaction();
      await held.release();
      await sight;
      expect((await answer).body.blocked).toBe(true);
      await expectBlockedForGood('alice');
    },
  );

  it('the audit trail cannot be written → not answered as blocked, and no user is blocked', async () => {
    const held = world.dataSource.createQueryRunner();
    await held.query('ALTER TABLE audit_events ADD CONSTRAINT no_blocks CHECK (action <> $$user.blocked$$) NOT VALID');
    try {
      const path = `/v1/admin/apps/${app.id}/users/alice/block`;
      expect((await uncheckedCall(world, 'POST', path)).status).toBe(500);
    } finally {
      await held.query('ALTER TABLE audit_events DROP CONSTRAINT no_blocks');
      await held.release();
    }
    expect(await statusOf('alice')).toBeUndefined();
  });

  it('the virtual user is deleted at the same time → blocked', async () => {
    await use('bob');
    let answer: ReturnType<typeof block> | undefined;
    await world.dataSource.transaction(async (tx) => {
      await tx.query("DELETE FROM app_users WHERE app_id = $1 AND is_virtual AND status = 'active'", [app.id]);
      answer = block('bob');
      await untilStatementWaits(world.dataSource, INSERT_OF_BLOCK);
    });
    expect((await answer)?.body.blocked).toBe(true);
    await expectBlockedForGood('bob');
    await world.dataSource.query("DELETE FROM app_users WHERE app_id = $1 AND is_virtual AND status = 'active'", [
      app.id,
    ]);
    expect(await statusOf('bob')).toBe('blocked');
  });

  it('the application is deleted at the same time → 404, and no row', async () => {
    let answer: ReturnType<typeof block> | undefined;
    await world.dataSource.transaction(async (tx) => {
      await tx.query('DELETE FROM apps WHERE id = $1', [app.id]);
      answer = block('alice');
      await untilStatementWaits(world.dataSource, INSERT_OF_BLOCK);
    });
    expect([(await answer)?.status, (await answer)?.body.error.code]).toEqual([404, 'app_not_found']);
    expect(await statusOf('alice')).toBeUndefined();
  });

  it('20 concurrent blocks of an unknown user → all answered, one row, one entry', async () => {
    const answers = await Promise.all(Array.from({ length: 20 }, () => block('nobody-yet')));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    await expectBlockedForGood('nobody-yet');
    expect((await world.api.get(`/v1/admin/apps/${app.id}/users`)).body.total).toBe(1);
  });

  it('blocks and unblocks at once → the state matches the last answer, and audit entries alternate', async () => {
    await block('mallory');
    for (let round = 0; round < 5; round++) {
      await Promise.all(Array.from({ length: 8 }, (_, i) => (i % 2 ? block('mallory') : unblock('mallory'))));
      const trail = await trailOf('mallory');
      expect(trail).toEqual(trail.map((_, i) => (i % 2 === 0 ? 'user.blocked' : 'user.unblocked')));
      expect(await statusOf('mallory')).toBe(trail.length % 2 === 1 ? 'blocked' : 'active');
    }
  });

  it('unblocked while the block that creates the row is not committed → 404, or effective after it; never in between', async () => {
    const held = world.dataSource.createQueryRunner();
    await held.startTransaction();
    await held.query('LOCK TABLE audit_events IN ACCESS EXCLUSIVE MODE');
    const blocked = block('alice');
    await untilStatementWaits(world.dataSource, 'audit_events');
    const unblocked = await unblock('alice');
    await held.rollbackTransaction();
    await held.release();
    expect([(await blocked).status, unblocked.status]).toEqual([200, 404]);
    await expectBlockedForGood('alice');
  });
});

describe('ADR 0011: a user without any call', () => {
  it('blocked → listed, read and counted as blocked; their first call is refused; unblocked → served', async () => {
    const { slug } = await world.provider({ slug: 'block-openai' });
    const call = () =>
      fetch(`${world.baseUrl}/v1/apps/${app.id}/proxy/${slug}/v1/responses`, {
        method: 'POST',
        headers: { authorization: `Bearer ${app.key}`, 'content-type': 'application/json', 'x-end-user-id': 'mallory' },
        body: JSON.stringify({ model: 'gpt-4.1', input: 'Hello' }),
      });
    const served = await fetch(`${world.baseUrl}/v1/apps/${app.id}/me`, {
      headers: { authorization: `Bearer ${app.key}`, 'x-end-user-id': 'somebody' },
    });
    expect(served.status).toBe(200);
    // The instance has learned that nobody is blocked; it may not believe that any longer.
    expect(await world.gateway.app.get(BlockedUsers).isBlocked(app, 'mallory')).toBe(false);
    expect((await block('mallory')).status).toBe(200);
    expect((await call()).status).toBe(403);
    const { body } = await world.api.get(`/v1/admin/apps/${app.id}/users`);
    expect(body).toMatchObject({
      total: 1,
      users: [{ id: 'mallory', status: 'blocked', is_virtual: false, last_seen_at: null }],
    });
    const { apps } = (await world.api.get('/v1/admin/apps')).body;
    expect(apps.find((one: { id: string }) => one.id === app.id).users).toEqual({ total: 1, blocked: 1 });
    expect((await unblock('mallory')).status).toBe(200);
    expect((await call()).status).toBe(200);
    expect(await trailOf('mallory')).toEqual(['user.blocked', 'user.unblocked']);
  });

  it('unblocked or read, never blocked → 404 not_found, and no row', async () => {
    for (const answer of [await unblock('nobody'), await world.api.get(`/v1/admin/apps/${app.id}/users/nobody`)]) {
      expect([answer.status, answer.body.error.code]).toEqual([404, 'not_found']);
    }
    expect(await statusOf('nobody')).toBeUndefined();
  });

  it('of an application without users → 400, and no row; a known user from earlier → blocked', async () => {
    const plain = await world.app();
    app = { ...plain, organizationId: app.organizationId };
    const refused = await block('alice');
    expect([refused.status, refused.body.error.code]).toEqual([400, 'invalid_request']);
    expect(refused.body.error.message).toContain('authentication.end_user');
    expect(await statusOf('alice')).toBeUndefined();
    await users.seen(app, 'bob');
    expect((await block('bob')).status).toBe(200);
    await expectBlockedForGood('bob');
  });

  it('of an application whose configuration no longer parses → still blocked', async () => {
    await world.dataSource.query(
      "UPDATE apps SET config = jsonb_set(config::jsonb, '{routing}', '7')::json WHERE id = $1",
      [app.id],
    );
    expect((await block('alice')).status).toBe(200);
    expect(await statusOf('alice')).toBe('blocked');
  });
});
