import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ORGANIZATION_COOKIE, SESSION_COOKIE } from '../../../src/accounts/sessions/session-cookie.rules.js';
import { organizationCookie } from '../../support/accounts/people.js';
import type { ApiClient } from '../../support/api-client.js';
import { FakeClock } from '../../support/clock.js';
import { type FurtherInstance, startFurtherInstance } from '../../support/platform/further-instance.js';
import { describeWithRedis, reachRedis, type TestRedis } from '../../support/platform/redis.js';
import {
  browserOf,
  type RegisteredPerson,
  registered,
  sessionCookieOf,
  setCookieOf,
  signInAt,
  startConsoleWorld,
  trailOf,
} from '../../support/sign-in/console.js';
import { TEST_AUTH_SECRET, TEST_JWT_SECRET, type World } from '../../support/world.js';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const OPEN = { ALLOW_ADDITIONAL_REGISTRATIONS: 'true' };
const NEW_SECRET = { AUTH_SECRET: 'n'.repeat(32) };

let world: World;
let clock: FakeClock;

beforeAll(async () => {
  clock = new FakeClock();
  world = await startConsoleWorld({ clock, env: OPEN });
});
afterAll(() => world.stop());

function browser(cookie: string): ApiClient {
  return browserOf(world, { cookie });
}

async function isSignedIn(cookie: string, at: ApiClient = browser(cookie)): Promise<boolean> {
  const { status } = await at.get('/v1/admin/session');
  if (status !== 200 && status !== 401) throw new Error(`${status} was not expected`);
  return status === 200;
}

async function signedInAgain({ typed }: RegisteredPerson, cookie = ''): Promise<string> {
  return sessionCookieOf(await signInAt(browser(cookie), typed));
}

describe('who is signed in', () => {
  it('a session → it and its person; its token alone is not a credential', async () => {
    const { id, typed, cookie } = await registered(world);
    const { status, body } = await browser(cookie).get('/v1/auth/get-session');
    expect(status).toBe(200);
    const { session } = body;
    expect(session).toEqual({
      id: expect.stringMatching(/^session_[0-9a-z]{20}$/),
      token: expect.stringMatching(/^[0-9A-Za-z]{48}$/),
      userId: id,
      createdAt: new Date(clock.nowMs()).toISOString(),
      updatedAt: session.createdAt,
      expiresAt: new Date(clock.nowMs() + 7 * DAY_MS).toISOString(),
      ipAddress: expect.stringMatching(/^[0-9.]+$/),
      userAgent: 'node',
    });
    expect(body.user).toMatchObject({ id, name: typed.name, email: typed.email });
    expect(cookie.startsWith(`${SESSION_COOKIE}=${session.token}.`)).toBe(true);
    for (const forged of [session.token, `${session.token}.`, `${session.token}.${'A'.repeat(43)}`]) {
      expect(await isSignedIn(`${SESSION_COOKIE}=${forged}`)).toBe(false);
    }
  });

  it.each(['', `${SESSION_COOKIE}=nonsense`, `${SESSION_COOKIE}=`])('cookie "%s" → null', async (cookie) => {
    const answer = await browser(cookie).get('/v1/auth/get-session');
    expect({ status: answer.status, text: answer.text }).toEqual({ status: 200, text: 'null' });
    expect(answer.headers.get('cache-control')).toBe('no-store');
  });

  it('renewed once a day, its cookie set again; unused for a week → expired', async () => {
    const { cookie } = await registered(world);
    const read = () => browser(cookie).get('/v1/auth/get-session');
    clock.advance(DAY_MS - 1);
    expect(setCookieOf(await read(), SESSION_COOKIE)).toBeUndefined();
    clock.advance(1);
    const renewed = await read();
    expect(setCookieOf(renewed, SESSION_COOKIE)).toBe(`${cookie}; Max-Age=604800; Path=/; HttpOnly; SameSite=Lax`);
    expect(renewed.body.session.expiresAt).toBe(new Date(clock.nowMs() + 7 * DAY_MS).toISOString());
    clock.advance(7 * DAY_MS - 1);
    expect((await read()).body.session).toBeDefined();
    clock.advance(7 * DAY_MS);
    expect((await read()).body).toBeNull();
    expect(await isSignedIn(cookie)).toBe(false);
  });

  it.each([
    ['a minute', 60_000, true],
    ['a little more than a minute', 61_000, false],
    ['a year', 365 * DAY_MS, false],
  ])('ADR 0014: started by a clock that was %s ahead → valid: %s', async (_name, aheadMs, holds) => {
    clock.advance(aheadMs);
    const { cookie } = await registered(world);
    expect(await isSignedIn(cookie)).toBe(true);
    clock.advance(-aheadMs);
    expect(await isSignedIn(cookie)).toBe(holds);
  });

  it('renewed by a request that is refused → its cookie is still set again', async () => {
    const { typed, cookie } = await registered(world);
    clock.advance(DAY_MS);
    const answer = await signInAt(browser(cookie), { ...typed, password: 'wrong' });
    expect(answer.status).toBe(401);
    expect(setCookieOf(answer, SESSION_COOKIE)).toBe(`${cookie}; Max-Age=604800; Path=/; HttpOnly; SameSite=Lax`);
  });
});

describe('start and end of sessions', () => {
  it('signing in → a new token each time; the browser’s previous session ends, other sessions of the person continue', async () => {
    const ada = await registered(world);
    const elsewhere = await signedInAgain(ada);
    const again = await signedInAgain(ada, ada.cookie);
    expect(new Set([ada.cookie, elsewhere, again]).size).toBe(3);
    expect(await isSignedIn(ada.cookie)).toBe(false);
    expect([await isSignedIn(elsewhere), await isSignedIn(again)]).toEqual([true, true]);
    expect((await trailOf(world, ada.id.replace('user_', 'org_'))).slice(-2)).toEqual([
      'session.ended',
      'session.opened',
    ]);
  });

  it('a planted cookie, another session or nonsense → not adopted', async () => {
    const [ada, mallory] = [await registered(world), await registered(world)];
    for (const planted of [mallory.cookie, `${SESSION_COOKIE}=${'a'.repeat(48)}.${'b'.repeat(43)}`]) {
      const cookie = await signedInAgain(ada, planted);
      expect(cookie).not.toBe(planted);
      const { body } = await browser(cookie).get('/v1/auth/get-session');
      expect(body.user.id).toBe(ada.id);
    }
    expect(await isSignedIn(mallory.cookie)).toBe(false);
  });

  it('a failed sign-in → leaves the session of the browser unchanged', async () => {
    const { typed, cookie } = await registered(world);
    expect((await signInAt(browser(cookie), { ...typed, password: 'wrong' })).status).toBe(401);
    expect(await isSignedIn(cookie)).toBe(true);
  });

  it('signing out → the session ends, both cookies are cleared; again → the same answer', async () => {
    const { id, cookie } = await registered(world);
    const cookies = `${cookie}; ${organizationCookie(world, id.replace('user_', 'org_'))}`;
    for (let call = 0; call < 2; call++) {
      const answer = await browser(cookies).post('/v1/auth/sign-out');
      expect({ status: answer.status, body: answer.body }).toEqual({ status: 200, body: { success: true } });
      for (const name of [SESSION_COOKIE, ORGANIZATION_COOKIE]) {
        expect(setCookieOf(answer, name)).toBe(`${name}=; Max-Age=0; Path=/; HttpOnly; SameSite=Lax`);
      }
      expect(await isSignedIn(cookie)).toBe(false);
    }
    expect((await trailOf(world, id.replace('user_', 'org_'))).at(-1)).toBe('session.ended');
    expect((await browser('').post('/v1/auth/sign-out', {})).body).toEqual({ success: true });
  });

  it('several times at once → each gets the same answer, and the audit trail has one sign-out', async () => {
    const { id, cookie } = await registered(world);
    const answers = await Promise.all(Array.from({ length: 5 }, () => browser(cookie).post('/v1/auth/sign-out', {})));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
    const trail = await trailOf(world, id.replace('user_', 'org_'));
    expect(trail.filter((action) => action === 'session.ended')).toHaveLength(1);
  });
});

describeWithRedis('sessions over two instances', () => {
  let redis: Pick<TestRedis, 'url' | 'stop'>;
  let first: World;
  let second: FurtherInstance;

  beforeAll(async () => {
    redis = await reachRedis();
    first = await startConsoleWorld({ env: { ...OPEN, REDIS_URL: redis.url } });
    second = await startFurtherInstance(first);
  });
  afterAll(async () => {
    await second.stop();
    await first.stop();
    await redis.stop();
  });

  it('a session that ends on one → is refused from the next request on by the other, which had it cached', async () => {
    const { cookie } = await registered(first);
    const there = () => fetch(`${second.baseUrl}/v1/admin/session`, { headers: { cookie, 'x-console-request': '1' } });
    expect((await there()).status).toBe(200);
    await browserOf(first, { cookie }).post('/v1/auth/sign-out');
    expect((await there()).status).toBe(401);
  });

  it.each(['/v1/admin/session', '/v1/auth/get-session'])(
    'renewed through GET %s after the secret was replaced → valid without the previous secret',
    async (route) => {
      const { cookie } = await registered(first);
      const { body } = await browserOf(first, { cookie }).post('/v1/admin/organizations', { name: 'Second' });
      const chosen: string = body.organization.id;
      const cookies = `${cookie}; ${organizationCookie(first, chosen)}`;
      const later = { clock: new FakeClock(Date.now() + DAY_MS) };
      const env = { ...NEW_SECRET, AUTH_SECRET_PREVIOUS: TEST_AUTH_SECRET };
      const renewing = await startFurtherInstance(first, undefined, { ...later, env });
      const answer = await browserOf(renewing, { cookie: cookies }).get(route);
      const renewed = [SESSION_COOKIE, ORGANIZATION_COOKIE].map((name) => setCookieOf(answer, name)?.split(';')[0]);
      await renewing.stop();
      const without = await startFurtherInstance(first, undefined, { ...later, env: NEW_SECRET });
      expect(await isSignedIn(cookie, browserOf(without, { cookie }))).toBe(false);
      const session = await browserOf(without, { cookie: renewed.join('; ') }).get('/v1/admin/session');
      expect([session.status, session.body.session?.organization?.id]).toEqual([200, chosen]);
      await without.stop();
    },
  );

  it('sessions → have a separate secret, not affected by that of gateway tokens', async () => {
    const { cookie } = await registered(first);
    const env = { JWT_SECRET: TEST_AUTH_SECRET, AUTH_SECRET: TEST_AUTH_SECRET };
    const other = await startFurtherInstance(first, undefined, { env });
    expect(await isSignedIn(cookie, browserOf(other, { cookie }))).toBe(true);
    await other.stop();
    const swapped = { JWT_SECRET: TEST_AUTH_SECRET, AUTH_SECRET: TEST_JWT_SECRET };
    const mistaken = await startFurtherInstance(first, undefined, { env: swapped });
    expect(await isSignedIn(cookie, browserOf(mistaken, { cookie }))).toBe(false);
    await mistaken.stop();
  });
});

describe('changing the password', () => {
  const change = (cookie: string, currentPassword: string, newPassword = 'another battery horse') =>
    browser(cookie).post('/v1/auth/change-password', { currentPassword, newPassword });

  it('the current and a new one → every session ends, this one continues with a new token; the old token is invalid', async () => {
    const ada = await registered(world);
    const elsewhere = await signedInAgain(ada);
    const answer = await change(ada.cookie, ada.typed.password);
    expect(answer.status).toBe(200);
    expect(answer.body.user.id).toBe(ada.id);
    const cookie = sessionCookieOf(answer);
    expect([await isSignedIn(ada.cookie), await isSignedIn(elsewhere), await isSignedIn(cookie)]).toEqual([
      false,
      false,
      true,
    ]);
    expect((await signInAt(browser(''), ada.typed)).status).toBe(401);
    expect((await signInAt(browser(''), { ...ada.typed, password: 'another battery horse' })).status).toBe(200);
    expect(await trailOf(world, ada.id.replace('user_', 'org_'))).toContain('password.changed');
  });

  it('a wrong current one → 400 and nothing changes; guesses count like sign-ins', async () => {
    const ada = await registered(world);
    clock.advance(10 * 60_000);
    for (let guess = 0; guess < 10; guess++) {
      const { status, body } = await change(ada.cookie, `guess ${guess}`);
      expect({ status, message: body.error.message }).toEqual({
        status: 400,
        message: 'currentPassword: is not your password',
      });
    }
    expect((await change(ada.cookie, ada.typed.password)).status).toBe(429);
    clock.advance(10 * 60_000);
    expect(await isSignedIn(ada.cookie)).toBe(true);
    expect((await signInAt(browser(''), ada.typed)).status).toBe(200);
  });

  it.each(['seven 7', 'x'.repeat(129)])('a new one of %j → 400', async (newPassword) => {
    const ada = await registered(world);
    expect((await change(ada.cookie, ada.typed.password, newPassword)).status).toBe(400);
  });

  it('two changes at once → one wins', async () => {
    const ada = await registered(world);
    const answers = await Promise.all([
      change(ada.cookie, ada.typed.password, 'the first of two'),
      change(ada.cookie, ada.typed.password, 'the second of two'),
    ]);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 400]);
  });

  it('not signed in, or a management key → 401, 403', async () => {
    expect((await change('', 'x')).status).toBe(401);
    const { status, body } = await world.api.post('/v1/auth/change-password', {});
    expect({ status, code: body.error.code }).toEqual({ status: 403, code: 'session_required' });
  });
});

describe('changes to one’s own profile', () => {
  it('name and picture → changed separately; null removes the picture', async () => {
    const { cookie, typed } = await registered(world);
    const update = async (changes: object) => (await browser(cookie).post('/v1/auth/update-user', changes)).body.user;
    const image = 'https://images.example/ada.png';
    expect(await update({ image })).toMatchObject({ name: typed.name, image });
    expect(await update({ name: ' Countess ' })).toMatchObject({ name: 'Countess', image });
    expect(await update({})).toMatchObject({ name: 'Countess', image });
    expect(await update({ image: null })).toMatchObject({ name: 'Countess', image: null });
  });

  it.each([
    { email: 'x@y' },
    { emailVerified: true },
    { name: null },
    { image: 'http://x' },
    { image: 'javascript:alert(1)' },
  ])('%j → 400', async (changes) => {
    const { cookie } = await registered(world);
    expect((await browser(cookie).post('/v1/auth/update-user', changes)).status).toBe(400);
  });
});

describe('other sites’ pages', () => {
  const ROUTES = [
    ...['sign-up/email', 'sign-in/email', 'sign-in/social', 'sign-out', 'change-password', 'update-user'],
  ].map((route) => `/v1/auth/${route}`);

  it.each(ROUTES)('POST %s with another origin, or from another site → 403 before the body is read', async (route) => {
    const { cookie } = await registered(world);
    const ownPort = new URL(world.baseUrl).port;
    const foreign: [string, string][] = [
      ['origin', 'https://evil.example'],
      ['origin', 'null'],
      ['origin', `https://localhost:${ownPort}`],
      ['sec-fetch-site', 'cross-site'],
      ['sec-fetch-site', 'same-site'],
    ];
    for (const header of foreign) {
      const headers = Object.fromEntries([header]);
      const answer = await world.with({ cookie }).post(route, undefined, { raw: 'x'.repeat(20_000), headers });
      expect({ status: answer.status, code: answer.body.error.code }).toEqual({ status: 403, code: 'forbidden' });
    }
    expect(await isSignedIn(cookie)).toBe(true);
  });

  it.each(ROUTES)('POST %s with a session and neither origin nor console header → 403', async (route) => {
    const { cookie } = await registered(world);
    expect((await world.with({ cookie }).post(route, {})).status).toBe(403);
  });

  it('the console’s own origin, by any name of this machine → allowed', async () => {
    const { typed } = await registered(world);
    const ownPort = new URL(world.baseUrl).port;
    for (const name of ['localhost', '127.0.0.1']) {
      const headers = { origin: `http://${name}:${ownPort}` };
      expect((await signInAt(browser(''), typed, { headers })).status).toBe(200);
    }
  });

  it('reading the session with another origin → 403', async () => {
    const headers = { origin: 'https://evil.example' };
    expect((await browser('').get('/v1/auth/get-session', { headers })).status).toBe(403);
  });

  it.each(ROUTES)('POST %s with more than 16 KiB → 413', async (route) => {
    const { cookie } = await registered(world);
    const tooLong = JSON.stringify({ email: 'x'.repeat(16 * 1024) });
    const answer = await browser(cookie).post(route, undefined, { raw: tooLong });
    expect(answer.status).toBe(413);
  });
});

describe('behind https', () => {
  let secure: World;

  beforeAll(async () => {
    secure = await startConsoleWorld({ env: { ...OPEN, PUBLIC_URL: 'https://console.example.com' } });
  });
  afterAll(() => secure.stop());

  it('the cookie → Secure, under the bare name; only the origin of PUBLIC_URL is accepted', async () => {
    const { typed } = await registered(secure);
    const headers = { origin: 'https://console.example.com' };
    const answer = await signInAt(browserOf(secure), typed, { headers });
    const flags = setCookieOf(answer, SESSION_COOKIE)?.split('; ').slice(1);
    expect(flags).toEqual(['Max-Age=604800', 'Path=/', 'HttpOnly', 'Secure', 'SameSite=Lax']);
    const foreign = { origin: secure.baseUrl };
    expect((await signInAt(browserOf(secure), typed, { headers: foreign })).status).toBe(403);
  });

  it('over http → not Secure', async () => {
    const { typed } = await registered(world);
    expect(setCookieOf(await signInAt(browser(''), typed), SESSION_COOKIE)).not.toContain('Secure');
  });
});
