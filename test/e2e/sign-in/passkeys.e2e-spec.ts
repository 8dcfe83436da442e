import { generateKeyPairSync } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { newOrganization, newPerson, type Person } from '../../support/accounts/people.js';
import { ApiClient } from '../../support/api-client.js';
import { FakeClock } from '../../support/clock.js';
import { freePort } from '../../support/platform/gateway-process.js';
import { SoftAuthenticator, type Tampering } from '../../support/sign-in/soft-authenticator.js';
import { startWorld, type World } from '../../support/world.js';

const MINUTE_MS = 60_000;
const OPTIONS = '/v1/auth/sign-in/passkey/options';
const SIGN_IN = '/v1/auth/sign-in/passkey';

let clock: FakeClock;
let world: World;
let origin: string;
let organizationId: string;
let owner: Person;

beforeAll(async () => {
  clock = new FakeClock();
  const port = await freePort();
  origin = `http://localhost:${port}`;
  world = await startWorld({
    env: { PORT: String(port), PUBLIC_URL: origin, TRUSTED_PROXIES: '127.0.0.1/32,::1/128' },
    clock,
  });
  ({ organizationId, owner } = await newOrganization(world));
});

afterAll(() => world.stop());

let addresses = 0;

/** A browser at the console's host, with a separate address. */
function browserOf(cookie?: string): ApiClient {
  const address = `198.51.100.${(addresses++ % 250) + 1}`;
  const headers = { origin, 'x-console-request': '1', 'x-forwarded-for': address };
  return new ApiClient(origin, world.check, undefined, cookie === undefined ? headers : { ...headers, cookie });
}

/** A person whose session was opened just now. */
async function freshPerson(role: 'owner' | 'member' = 'member'): Promise<Person & { browser: ApiClient }> {
  const sessionEndsAt = new Date(clock.nowMs() + 6 * 24 * 60 * MINUTE_MS);
  const person = await newPerson(world, { organizationId, role, sessionEndsAt });
  await world.dataSource.query('UPDATE sessions SET created_at = $2, renewed_at = $2 WHERE id = $1', [
    ...[person.sessionId, new Date(clock.nowMs())],
  ]);
  return { ...person, browser: browserOf(person.cookie) };
}

async function register(browser: ApiClient, device = new SoftAuthenticator(origin), tampering: Tampering = {}) {
  const { body } = await browser.post('/v1/auth/passkeys/options');
  const made = device.create(body.options, tampering);
  return { device, made, answer: await browser.post('/v1/auth/passkeys', { name: 'Laptop', ...made }) };
}

/** A browser that has asked for a challenge. */
async function started() {
  const answer = await browserOf().post(OPTIONS);
  const cookie = (answer.headers.getSetCookie()[0] ?? '').split(';')[0] ?? '';
  return { options: answer.body.options, browser: browserOf(cookie), flags: answer.headers.getSetCookie()[0] ?? '' };
}

async function signIn(device: SoftAuthenticator, tampering: Tampering = {}) {
  const { options, browser } = await started();
  return browser.post(SIGN_IN, device.sign(options, tampering));
}

describe('a passkey', () => {
  it('added → listed with its name; signs in without a user name, and records when', async () => {
    const person = await freshPerson();
    const { device, answer } = await register(person.browser);
    expect([answer.status, answer.body.passkey]).toEqual([
      200,
      { id: expect.stringMatching(/^passkey_/), name: 'Laptop', createdAt: expect.any(String), lastUsedAt: null },
    ]);
    const signedIn = await signIn(device);
    expect([signedIn.status, signedIn.body.user.id]).toEqual([200, person.identityId]);
    const session = signedIn.headers
      .getSetCookie()
      .find((cookie) => cookie.startsWith('gw_identity_auth.session_token='));
    const seen = await browserOf(session?.split(';')[0]).get('/v1/auth/get-session');
    expect(seen.body.user.id).toBe(person.identityId);
    const { passkeys } = (await person.browser.get('/v1/auth/passkeys')).body;
    expect(passkeys).toEqual([{ ...answer.body.passkey, lastUsedAt: new Date(clock.nowMs()).toISOString() }]);
    const trail = await owner.client.get('/v1/admin/audit-events?action=passkey.created');
    expect(trail.body.events[0]).toMatchObject({ actor: { id: person.identityId }, details: { name: 'Laptop' } });
  });

  it('options → a resident key with user verification for this host; stored ones are excluded', async () => {
    const person = await freshPerson();
    const { made } = await register(person.browser);
    const { options } = (await person.browser.post('/v1/auth/passkeys/options')).body;
    expect(options).toMatchObject({
      rp: { id: 'localhost' },
      user: { name: person.email },
      attestation: 'none',
      authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
      excludeCredentials: [{ id: made.id }],
    });
    expect((await started()).options).toMatchObject({ rpId: 'localhost', userVerification: 'required' });
  });

  it('cookie of a started sign-in → unreadable for scripts, only for this route and site', async () => {
    const { flags } = await started();
    expect(flags).toMatch(
      /^gw_identity_passkey=[\w-]{43}; Max-Age=300; Path=\/v1\/auth\/sign-in\/passkey; HttpOnly; SameSite=Strict$/,
    );
  });

  it('several → each signs in; a removed one no longer works, the others do', async () => {
    const person = await freshPerson();
    const [one, two] = [await register(person.browser), await register(person.browser)];
    const { id } = one.answer.body.passkey;
    expect((await person.browser.delete(`/v1/auth/passkeys/${id}`)).body).toEqual({ removed: true });
    expect((await signIn(one.device)).status).toBe(401);
    expect((await signIn(two.device)).status).toBe(200);
    expect((await person.browser.delete(`/v1/auth/passkeys/${id}`)).status).toBe(404);
  });

  it('a passkey of another person → neither listed nor removed', async () => {
    const [mine, theirs] = [await freshPerson(), await freshPerson()];
    const { answer } = await register(theirs.browser);
    expect((await mine.browser.get('/v1/auth/passkeys')).body).toEqual({ passkeys: [] });
    expect((await mine.browser.delete(`/v1/auth/passkeys/${answer.body.passkey.id}`)).status).toBe(404);
    expect((await theirs.browser.get('/v1/auth/passkeys')).body.passkeys).toHaveLength(1);
  });

  it('session older than 15 minutes → cannot add or remove one, but can list them', async () => {
    const person = await freshPerson();
    const { answer } = await register(person.browser);
    const pending = (await person.browser.post('/v1/auth/passkeys/options')).body.options;
    clock.advance(15 * MINUTE_MS);
    const made = { name: 'Late', ...new SoftAuthenticator(origin).create(pending) };
    for (const refused of [
      await person.browser.post('/v1/auth/passkeys/options'),
      await person.browser.post('/v1/auth/passkeys', made),
      await person.browser.delete(`/v1/auth/passkeys/${answer.body.passkey.id}`),
    ]) {
      expect([refused.status, refused.body.error.message]).toEqual([403, expect.stringContaining('Sign in again')]);
    }
    expect((await person.browser.get('/v1/auth/passkeys')).body.passkeys).toHaveLength(1);
  });

  it('a management key → 403 session_required', async () => {
    expect((await world.api.get('/v1/auth/passkeys')).body.error.code).toBe('session_required');
  });

  it('the twentieth → stored; one more → 409', async () => {
    const person = await freshPerson();
    await world.dataSource.query(
      `INSERT INTO passkeys (id, identity_id, credential_id, public_key, counter, name, created_at)
       SELECT 'passkey_' || $1 || n, $1, 'c' || $1 || n, '\\x00', 0, 'One', now() FROM generate_series(1, 19) n`,
      [person.identityId],
    );
    expect((await register(person.browser)).answer.status).toBe(200);
    expect((await person.browser.post('/v1/auth/passkeys/options')).status).toBe(409);
  });
});

const WRONG: readonly [what: string, tampering: Tampering][] = [
  ['another origin', { origin: 'https://evil.example.com' }],
  ['the same host with another scheme', { origin: 'https://localhost' }],
  ['another site', { rpId: 'evil.example.com' }],
  ['no user verification', { isUnverified: true }],
  ['a frame of another site', { crossOrigin: true }],
  ['a challenge that nobody asked for', { challenge: Buffer.alloc(32, 1).toString('base64url') }],
];

describe('an attack on a registration', () => {
  it.each([...WRONG, ['the type of a sign-in', { type: 'webauthn.get' }] as const])(
    '%s → the same 400 for all, and nothing stored',
    async (_what, tampering) => {
      const person = await freshPerson();
      const { answer } = await register(person.browser, undefined, tampering);
      expect([answer.status, answer.body.error.message]).toEqual([400, 'The passkey was not accepted; start again.']);
      expect((await person.browser.get('/v1/auth/passkeys')).body).toEqual({ passkeys: [] });
    },
  );

  it('a challenge of another session → refused', async () => {
    const [mine, theirs] = [await freshPerson(), await freshPerson()];
    const { options } = (await theirs.browser.post('/v1/auth/passkeys/options')).body;
    const made = new SoftAuthenticator(origin).create(options);
    expect((await mine.browser.post('/v1/auth/passkeys', { name: 'Mine', ...made })).status).toBe(400);
  });

  it('replayed → refused: the challenge is used up; a credential already stored for anybody → 409', async () => {
    const [mine, theirs] = [await freshPerson(), await freshPerson()];
    const { device, made } = await register(mine.browser);
    expect((await mine.browser.post('/v1/auth/passkeys', { name: 'Again', ...made })).status).toBe(400);
    expect((await register(theirs.browser, device)).answer.status).toBe(409);
  });

  it('an unrequested attestation with certificates → refused', async () => {
    const person = await freshPerson();
    const { answer } = await register(person.browser, undefined, { x5c: [new Uint8Array(64)] });
    expect([answer.status, answer.body.error.code]).toEqual([400, 'invalid_request']);
  });
});

describe('an attack on a sign-in', () => {
  let device: SoftAuthenticator;

  beforeEach(async () => {
    ({ device } = await register((await freshPerson()).browser));
  });

  const REFUSED = [401, 'auth_required', 'The sign-in with a passkey failed; try again.'];
  const refusalOf = ({ status, body }: { status: number; body: { error?: { code: string; message: string } } }) => [
    ...[status, body.error?.code, body.error?.message],
  ];

  it.each([
    ...WRONG,
    ['the type of a registration', { type: 'webauthn.create' }] as const,
    ['the handle of another person', { userHandle: Buffer.from('user_somebody').toString('base64url') }] as const,
    ['another key', { key: generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey }] as const,
  ])('%s → the same 401 as for every failure', async (_what, tampering) => {
    expect(refusalOf(await signIn(device, tampering))).toEqual(REFUSED);
  });

  it('an unknown passkey → the same 401', async () => {
    const unknown = new SoftAuthenticator(origin);
    const { options, browser } = await started();
    const answer = unknown.sign(options, { userHandle: 'dXNlcg' });
    expect(refusalOf(await browser.post(SIGN_IN, answer))).toEqual(REFUSED);
  });

  it('replayed, in the same browser → refused', async () => {
    const { options, browser } = await started();
    const answer = device.sign(options);
    expect((await browser.post(SIGN_IN, answer)).status).toBe(200);
    expect(refusalOf(await browser.post(SIGN_IN, answer))).toEqual(REFUSED);
  });

  it('sent nine times at once → one session', async () => {
    const { options, browser } = await started();
    const answer = device.sign(options);
    const statuses = await Promise.all(
      Array.from({ length: 9 }, async () => (await browser.post(SIGN_IN, answer)).status),
    );
    expect(statuses.filter((status) => status === 200)).toHaveLength(1);
  });

  it('after a failure → its challenge is used up', async () => {
    const { options, browser } = await started();
    expect((await browser.post(SIGN_IN, device.sign(options, { isUnverified: true }))).status).toBe(401);
    expect(refusalOf(await browser.post(SIGN_IN, device.sign(options)))).toEqual(REFUSED);
  });

  it('from another browser, or without a started sign-in → refused', async () => {
    const [one, other] = [await started(), await started()];
    expect(refusalOf(await other.browser.post(SIGN_IN, device.sign(one.options)))).toEqual(REFUSED);
    expect(refusalOf(await browserOf().post(SIGN_IN, device.sign(one.options)))).toEqual(REFUSED);
  });

  it('after five minutes → refused', async () => {
    const { options, browser } = await started();
    clock.advance(5 * MINUTE_MS);
    expect(refusalOf(await browser.post(SIGN_IN, device.sign(options)))).toEqual(REFUSED);
  });

  it('a counter that did not increase: a cloned authenticator → refused', async () => {
    expect((await signIn(device, { counter: 7 })).status).toBe(200);
    expect(refusalOf(await signIn(device, { counter: 7 }))).toEqual(REFUSED);
    expect((await signIn(device, { counter: 8 })).status).toBe(200);
  });

  it('a challenge of a registration → refused', async () => {
    const person = await freshPerson();
    const { options } = (await person.browser.post('/v1/auth/passkeys/options')).body;
    const { browser } = await started();
    const answer = device.sign({ challenge: options.challenge, rpId: 'localhost' });
    expect(refusalOf(await browser.post(SIGN_IN, answer))).toEqual(REFUSED);
  });

  it('a foreign origin of the request → 403 before any check', async () => {
    const foreign = new ApiClient(origin, world.check, undefined, { origin: 'https://evil.example.com' });
    expect((await foreign.post(OPTIONS)).status).toBe(403);
  });

  it('expired challenges → deleted by later ones', async () => {
    await started();
    clock.advance(5 * MINUTE_MS);
    await started();
    await started();
    const [{ count }] = await world.dataSource.query(
      'SELECT count(*)::int AS count FROM passkey_challenges WHERE expires_at <= $1',
      [new Date(clock.nowMs())],
    );
    expect(count).toBe(0);
  });

  it('eleven sign-ins from one address → the last one 429', async () => {
    const { options, browser } = await started();
    const answer = device.sign(options);
    for (let at = 0; at < 10; at++) expect((await browser.post(SIGN_IN, answer)).status).not.toBe(429);
    const refused = await browser.post(SIGN_IN, answer);
    expect([refused.status, refused.body.error.data.scope]).toEqual([429, 'sign_in_address']);
  });
});

describe('an origin where browsers do not support passkeys', () => {
  it('an IP address → 404 that says what to do; the console does not offer them', async () => {
    const elsewhere = await startWorld();
    try {
      const at = (url: string) => new ApiClient(url, elsewhere.check, undefined, {});
      const refused = await at(elsewhere.baseUrl).post(OPTIONS);
      expect([refused.status, refused.body.error.message]).toEqual([404, expect.stringContaining('PUBLIC_URL')]);
      const local = elsewhere.baseUrl.replace('127.0.0.1', 'localhost');
      expect((await at(local).post(OPTIONS)).status).toBe(200);
      expect((await at(local).get('/v1/console/capabilities')).body.passkeys).toBe(true);
      expect((await at(elsewhere.baseUrl).get('/v1/console/capabilities')).body.passkeys).toBe(false);
    } finally {
      await elsewhere.stop();
    }
  });
});
