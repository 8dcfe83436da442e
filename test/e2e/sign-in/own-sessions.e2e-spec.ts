import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { SESSION_COOKIE } from '../../../src/accounts/sessions/session-cookie.rules.js';
import type { ApiClient } from '../../support/api-client.js';
import { untilStatementWaits } from '../../support/platform/lock-waits.js';
import {
  browserOf,
  registered,
  sessionCookieOf,
  setCookieOf,
  signInAt,
  startConsoleWorld,
  trailOf,
} from '../../support/sign-in/console.js';
import type { World } from '../../support/world.js';

const IP_ADDRESS = /^\d+\.\d+\.\d+\.\d+$/;

let world: World;

beforeAll(async () => {
  world = await startConsoleWorld({ env: { ALLOW_ADDITIONAL_REGISTRATIONS: 'true' } });
});
afterAll(() => world.stop());

/** A person with two browsers. */
async function withTwoBrowsers(): Promise<{ readonly here: ApiClient; readonly there: ApiClient }> {
  const { typed, cookie } = await registered(world);
  const other = sessionCookieOf(await signInAt(browserOf(world, { cookie: '' }), typed));
  return { here: browserOf(world, { cookie }), there: browserOf(world, { cookie: other }) };
}

async function statusOf(browser: ApiClient): Promise<number> {
  return (await browser.get('/v1/admin/session')).status;
}

describe('the sessions of a person', () => {
  it('the list → every browser with its description, and which one is the current one; no token', async () => {
    const { here, there } = await withTwoBrowsers();
    const { status, body } = await there.get('/v1/auth/list-sessions');
    expect(status).toBe(200);
    expect(body.sessions).toHaveLength(2);
    expect(body.sessions.map((session: { current: boolean }) => session.current).toSorted()).toEqual([false, true]);
    expect(body.sessions[0]).toEqual({
      id: expect.stringMatching(/^session_[0-9a-z]{20}$/),
      current: expect.any(Boolean),
      ipAddress: expect.stringMatching(IP_ADDRESS),
      userAgent: 'node',
      createdAt: expect.stringMatching(/Z$/),
      updatedAt: expect.stringMatching(/Z$/),
      expiresAt: expect.stringMatching(/Z$/),
    });
    const seenHere = await here.get('/v1/auth/list-sessions');
    const currentOf = (sessions: readonly { id: string; current: boolean }[]) =>
      sessions.find(({ current }) => current)?.id;
    expect(currentOf(seenHere.body.sessions)).not.toBe(currentOf(body.sessions));
  });

  it('one session is ended → only that one, from its next request; again → 404; recorded in the audit trail', async () => {
    const { here, there } = await withTwoBrowsers();
    const { sessions } = (await here.get('/v1/auth/list-sessions')).body;
    const { id } = sessions.find(({ current }: { current: boolean }) => !current);
    const ended = await here.post('/v1/auth/revoke-session', { id });
    expect([ended.status, ended.body]).toEqual([200, { revoked: 1 }]);
    expect([await statusOf(here), await statusOf(there)]).toEqual([200, 401]);
    const again = await here.post('/v1/auth/revoke-session', { id });
    expect([again.status, again.body.error.code]).toEqual([404, 'not_found']);
    const { session } = (await here.get('/v1/admin/session')).body;
    expect((await trailOf(world, session.organization.id)).filter((action) => action === 'session.ended')).toHaveLength(
      1,
    );
  });

  it('another person’s session → 404, and it stays valid; an empty or missing id → 400, and none ends', async () => {
    const [first, second] = [await withTwoBrowsers(), await withTwoBrowsers()];
    const { sessions } = (await second.here.get('/v1/auth/list-sessions')).body;
    for (const { id } of sessions) {
      expect((await first.here.post('/v1/auth/revoke-session', { id })).status).toBe(404);
    }
    for (const body of [{ id: '' }, {}, { id: null }, { id: ['a'] }]) {
      expect((await first.here.post('/v1/auth/revoke-session', body)).status).toBe(400);
    }
    for (const browser of [first.here, first.there, second.here, second.there])
      expect(await statusOf(browser)).toBe(200);
  });

  it('signing out everywhere → every session of this person ends, including this one; their keys stay valid', async () => {
    const [{ here, there }, stranger] = [await withTwoBrowsers(), await withTwoBrowsers()];
    const key = await here.post('/v1/admin/keys', { name: 'Mine' });
    expect(key.status).toBe(201);
    const answer = await here.post('/v1/auth/revoke-sessions', {});
    expect([answer.status, answer.body]).toEqual([200, { revoked: 2 }]);
    expect(setCookieOf(answer, SESSION_COOKIE)).toContain('Max-Age=0');
    expect([await statusOf(here), await statusOf(there), await statusOf(stranger.here)]).toEqual([401, 401, 200]);
    const headers = { authorization: `Bearer ${key.body.key.plaintext}` };
    expect((await fetch(`${world.baseUrl}/v1/admin/session`, { headers })).status).toBe(200);
  });

  it('signing out everywhere twice at once → one ends the sessions, the other none; both are signed out', async () => {
    const { id, cookie } = await registered(world);
    const here = browserOf(world, { cookie });
    const { underWay } = await world.dataSource.transaction(async (tx) => {
      await tx.query('SELECT FROM sessions WHERE identity_id = $1 FOR UPDATE', [id]);
      const both = [here.post('/v1/auth/revoke-sessions', {}), here.post('/v1/auth/revoke-sessions', {})];
      await untilStatementWaits(world.dataSource, 'sessions', 2);
      return { underWay: Promise.all(both) };
    });
    const answers = await underWay;
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    expect(answers.map(({ body }) => body.revoked).toSorted()).toEqual([0, 1]);
    for (const answer of answers) expect(setCookieOf(answer, SESSION_COOKIE)).toContain('Max-Age=0');
  });

  it('a foreign page, or a key → refused, and nothing ends', async () => {
    const { here } = await withTwoBrowsers();
    const { cookie } = await registered(world);
    const foreign = await fetch(`${world.baseUrl}/v1/auth/revoke-sessions`, {
      method: 'POST',
      headers: { cookie, origin: 'https://attacker.example.com', 'x-console-request': '1' },
    });
    expect(foreign.status).toBe(403);
    const key = await here.post('/v1/admin/keys', { name: 'A key' });
    const headers = { authorization: `Bearer ${key.body.key.plaintext}` };
    const byKey = await fetch(`${world.baseUrl}/v1/auth/revoke-sessions`, { method: 'POST', headers });
    expect(byKey.status).toBe(403);
    expect(await statusOf(here)).toBe(200);
  });
});
