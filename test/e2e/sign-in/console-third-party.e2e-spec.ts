import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { SESSION_COOKIE } from '../../../src/accounts/sessions/session-cookie.rules.js';
import { firstOrganizationId } from '../../support/accounts/accounts.js';
import { newPerson } from '../../support/accounts/people.js';
import type { ApiAnswer } from '../../support/api-client.js';
import { FakeClock } from '../../support/clock.js';
import {
  browserOf,
  newSignUp,
  registered,
  sessionCookieOf,
  setCookieOf,
  signUpAt,
  startConsoleWorld,
  trailOf,
} from '../../support/sign-in/console.js';
import {
  newOpenIdPerson,
  newSigningKey,
  OPENID_CLIENT,
  OpenIdProvider,
} from '../../support/sign-in/openid-provider.js';
import {
  beginAt,
  CALLBACK,
  CONSOLE,
  comeBackTo,
  placeOf,
  REDIRECT_URI,
  STATE_COOKIE,
  signInThrough,
  stateOf,
  thirdPartySettings,
  userOf,
} from '../../support/sign-in/third-party.js';
import type { World } from '../../support/world.js';

let provider: OpenIdProvider;
let world: World;
let clock: FakeClock;

beforeAll(async () => {
  clock = new FakeClock();
  provider = await OpenIdProvider.start(REDIRECT_URI);
  world = await startConsoleWorld({ clock, env: settings() });
});

beforeEach(() => {
  provider.person = newOpenIdPerson();
  provider.forge = undefined;
  provider.forgingKey = undefined;
  provider.answers.clear();
  provider.called.length = 0;
  world.logs.length = 0;
});
afterAll(async () => {
  await world.stop();
  await provider.stop();
});

function settings(): Record<string, string> {
  return { ALLOW_ADDITIONAL_REGISTRATIONS: 'true', ...thirdPartySettings(provider) };
}

const begin = (body: object = {}, at = world) => beginAt(at, body);
const comeBack = (query: string, cookie: string, at = world) => comeBackTo(at, query, cookie);
const signIn = (body: object = {}, { at = world, cookie = '' } = {}) => signInThrough(provider, at, { body, cookie });
const signedInUser = (answer: ApiAnswer, at = world) => userOf(at, answer);

async function peopleOf({ dataSource }: World): Promise<number> {
  const [row] = await dataSource.query("SELECT count(*)::int AS count FROM identities WHERE kind = 'human'");
  return row.count;
}

describe('signing in at a third party', () => {
  it('the redirect → code flow with PKCE, state and nonce, each used once; the client secret is not sent', async () => {
    const [first, second] = [await begin(), await begin()];
    expect(first.status).toBe(200);
    expect(first.body).toEqual({ url: expect.any(String), redirect: true });
    const url = new URL(first.body.url);
    expect(url.origin).toBe(provider.issuer);
    expect(Object.fromEntries(url.searchParams)).toEqual({
      client_id: OPENID_CLIENT.id,
      response_type: 'code',
      redirect_uri: REDIRECT_URI,
      scope: 'openid email profile',
      state: expect.stringMatching(/^[\w-]{43}$/),
      nonce: expect.stringMatching(/^[\w-]{43}$/),
      code_challenge: expect.stringMatching(/^[\w-]{43}$/),
      code_challenge_method: 'S256',
    });
    for (const name of ['state', 'nonce', 'code_challenge']) {
      expect(new URL(second.body.url).searchParams.get(name)).not.toBe(url.searchParams.get(name));
    }
    expect(first.text).not.toContain(OPENID_CLIENT.secret);
    expect((await begin({ disableRedirect: true })).body.redirect).toBe(false);
  });

  it('the cookie in the browser → only for the callback, for ten minutes; the callback clears it', async () => {
    const flags = `Path=${CALLBACK}; HttpOnly; Secure; SameSite=Lax`;
    const begun = await begin();
    expect(setCookieOf(begun, STATE_COOKIE)).toMatch(new RegExp(`^${STATE_COOKIE}=[\\w.-]+; Max-Age=600; ${flags}$`));
    const back = await comeBack('?code=x&state=y', stateOf(begun));
    expect(setCookieOf(back, STATE_COOKIE)).toBe(`${STATE_COOKIE}=; Max-Age=0; ${flags}`);
  });

  it('a new person → registered with the provider’s name, with a new organization', async () => {
    const answer = await signIn({ callbackURL: '/apps?first=1' });
    expect(placeOf(answer)).toBe('/apps?first=1');
    expect(answer.text).toBe('');
    const user = await signedInUser(answer);
    expect(user).toMatchObject({
      email: String(provider.person?.email).toLowerCase(),
      emailVerified: true,
      name: 'Grace Hopper',
      image: 'https://images.example/grace.png',
    });
    expect(await trailOf(world, user.id.replace('user_', 'org_'))).toEqual(['organization.created', 'session.opened']);
    expect(provider.called).toContain('/jwks');
  });

  it('the same subject again, under another e-mail address → the same person, a new session; the browser’s previous one ends', async () => {
    const first = await signIn();
    const user = await signedInUser(first);
    provider.person = { ...newOpenIdPerson(), sub: String(provider.person?.sub) };
    const again = await signIn({}, { cookie: sessionCookieOf(first) });
    expect(placeOf(again)).toBe('/');
    expect(await signedInUser(again)).toEqual(user);
    expect(sessionCookieOf(again)).not.toBe(sessionCookieOf(first));
    const before = await browserOf(world, { cookie: sessionCookieOf(first) }).get('/v1/auth/get-session');
    expect(before.body).toBeNull();
  });

  it('a new person in two windows at once, whose e-mail address changes in between → one person, signed in twice', async () => {
    for (let round = 0; round < 5; round++) {
      provider.person = newOpenIdPerson();
      const before = await peopleOf(world);
      const ways = [];
      for (const email of [provider.person.email, newOpenIdPerson().email]) {
        provider.person = { ...provider.person, email };
        const begun = await begin();
        ways.push({ query: (await provider.visit(begun.body.url)).search, cookie: stateOf(begun) });
      }
      const answers = await Promise.all(ways.map(({ query, cookie }) => comeBack(query, cookie)));
      expect(answers.map(placeOf)).toEqual(['/', '/']);
      const [one, other] = await Promise.all(answers.map((answer) => signedInUser(answer)));
      expect(other).toEqual(one);
      expect(await peopleOf(world)).toBe(before + 1);
    }
  });

  it('another subject with the e-mail address of an existing person → never that person, nor a second one', async () => {
    const ada = await registered(world);
    const grace = await signIn();
    const before = await peopleOf(world);
    for (const email of [ada.typed.email.toUpperCase(), (await signedInUser(grace)).email]) {
      provider.person = newOpenIdPerson({ email });
      const answer = await signIn();
      expect(placeOf(answer)).toBe('/login?error=account_exists');
      expect(setCookieOf(answer, SESSION_COOKIE)).toBeUndefined();
    }
    expect(await peopleOf(world)).toBe(before);
  });

  it('a person registered only there → has no password to sign in or register with', async () => {
    const { email } = await signedInUser(await signIn());
    const typed = newSignUp({ email });
    expect((await browserOf(world).post('/v1/auth/sign-in/email', { email, password: typed.password })).status).toBe(
      401,
    );
    expect((await signUpAt(browserOf(world), typed)).status).toBe(409);
  });

  it('consent declined → back to the console, no session, nothing logged', async () => {
    provider.person = undefined;
    const answer = await signIn({ errorCallbackURL: '/signup?from=%2Fapps' });
    expect(placeOf(answer)).toBe('/signup?from=%2Fapps&error=access_denied');
    expect(setCookieOf(answer, SESSION_COOKIE)).toBeUndefined();
    expect(world.logs.filter(({ message }) => message === 'third_party_sign_in_failed')).toEqual([]);
  });
});

describe('answers that the provider did not send to this browser (RFC 9700)', () => {
  async function expectRefused(answer: ApiAnswer, error = 'sign_in_failed'): Promise<void> {
    expect(placeOf(answer)).toBe(`/login?error=${error}`);
    expect(setCookieOf(answer, SESSION_COOKIE)).toBeUndefined();
  }

  it('another state, none, or two → refused without asking the provider for a token', async () => {
    for (const change of [
      (query: URLSearchParams) => query.set('state', 'x'.repeat(43)),
      (query: URLSearchParams) => query.delete('state'),
      (query: URLSearchParams) => query.append('state', 'x'.repeat(43)),
    ]) {
      const begun = await begin();
      const { searchParams } = await provider.visit(begun.body.url);
      change(searchParams);
      await expectRefused(await comeBack(`?${searchParams}`, stateOf(begun)));
    }
    expect(provider.called).not.toContain('/token');
  });

  it('no cookie, another browser’s, a changed one, or one of ten minutes ago → refused', async () => {
    const [begun, other] = [await begin(), await begin()];
    const { search } = await provider.visit(begun.body.url);
    const changed = stateOf(begun).replace(/=./, '=_');
    await expectRefused(await comeBack(search, ''), 'sign_in_expired');
    await expectRefused(await comeBack(search, changed), 'sign_in_expired');
    await expectRefused(await comeBack(search, stateOf(other)));
    clock.advance(10 * 60_000);
    await expectRefused(await comeBack(search, stateOf(begun)), 'sign_in_expired');
    expect(provider.called).not.toContain('/token');
  });

  it('an answer that is used a second time → refused', async () => {
    const begun = await begin();
    const { search } = await provider.visit(begun.body.url);
    expect(placeOf(await comeBack(search, stateOf(begun)))).toBe('/');
    await expectRefused(await comeBack(search, stateOf(begun)));
  });

  it('an answer that names another issuer → refused', async () => {
    const begun = await begin();
    const { searchParams } = await provider.visit(begun.body.url);
    searchParams.set('iss', 'https://evil.example');
    await expectRefused(await comeBack(`?${searchParams}`, stateOf(begun)));
    expect(provider.called).not.toContain('/token');
  });

  const hourAgo = () => Math.floor(Date.now() / 1000) - 3_600;

  it.each<[string, () => object]>([
    ['another nonce', () => ({ nonce: 'x'.repeat(43) })],
    ['no nonce', () => ({ nonce: undefined })],
    ['another audience', () => ({ aud: 'another-client' })],
    ['several audiences and another authorized party', () => ({ aud: [OPENID_CLIENT.id, 'b'], azp: 'b' })],
    ['another issuer', () => ({ iss: 'https://evil.example' })],
    ['a time that is over', () => ({ exp: hourAgo() })],
    ['no subject', () => ({ sub: undefined })],
    ['no e-mail address', () => ({ email: undefined })],
    ['an e-mail address that is none', () => ({ email: 'grace' })],
  ])('an identity token with %s → refused, and logged without it', async (_what, changes) => {
    provider.forge = (claims) => ({ ...claims, ...changes() });
    const before = await peopleOf(world);
    await expectRefused(await signIn());
    expect(await peopleOf(world)).toBe(before);
    const lines = world.logs.filter(({ message }) => message === 'third_party_sign_in_failed');
    expect(lines).toEqual([
      expect.objectContaining({ provider: 'google', step: 'callback', error: expect.any(String) }),
    ]);
    expect(JSON.stringify(lines)).not.toMatch(/eyJ|subject-|the-secret/);
  });

  it('an unmodified token → accepted, so that the others are refused for their changes', async () => {
    provider.forge = (claims) => claims;
    expect(placeOf(await signIn())).toBe('/');
  });

  it('a token signed with a key that the provider does not publish → refused', async () => {
    provider.forge = (claims) => claims;
    provider.forgingKey = await newSigningKey();
    await expectRefused(await signIn());
  });

  it.each<[string, Parameters<OpenIdProvider['answers']['set']>[1]]>([
    ['an error', (context) => Object.assign(context, { status: 500, body: 'out of order' })],
    [
      'a redirect',
      (context) => {
        context.status = 307;
        context.set('location', 'https://evil.example/');
        context.body = '';
      },
    ],
    ['more than it may', (context) => Object.assign(context, { status: 200, body: { x: 'x'.repeat(300_000) } })],
    [
      'no identity token',
      (context) => Object.assign(context, { status: 200, body: { access_token: 'a', token_type: 'bearer' } }),
    ],
  ])('a provider that answers the code with %s → refused', async (_what, answer) => {
    provider.answers.set('/token', answer);
    await expectRefused(await signIn());
  });
});

describe('where a sign-in may lead', () => {
  it.each([
    { callbackURL: '//evil.example' },
    { callbackURL: 'https://evil.example/' },
    { callbackURL: `${CONSOLE}.evil.example/` },
    { callbackURL: '/\\evil.example' },
    { errorCallbackURL: '/\t/evil.example' },
    { errorCallbackURL: 'javascript:alert(1)' },
    { provider: 'github' },
    { scope: 'https://mail.example/' },
  ])('%j → 400', async (members) => {
    expect((await begin(members)).status).toBe(400);
  });
});

describe('third parties and closed registration', () => {
  let closed: World;

  beforeAll(async () => {
    closed = await startConsoleWorld({ env: { ...settings(), ALLOW_ADDITIONAL_REGISTRATIONS: 'false' } });
  });
  afterAll(() => closed.stop());

  it('the first person → allowed; the next → refused, whether or not their e-mail address is known; with an invitation → allowed', async () => {
    expect((await closed.as(undefined).get('/v1/console/capabilities')).body).toMatchObject({
      googleAuth: true,
      simulatedProvider: false,
      registrationOpen: true,
    });
    const first = await signIn({}, { at: closed });
    const { email } = await signedInUser(first, closed);
    for (const person of [newOpenIdPerson(), newOpenIdPerson({ email })]) {
      provider.person = person;
      const answer = await signIn({}, { at: closed });
      expect(placeOf(answer)).toBe('/login?error=registration_disabled');
    }
    expect(await peopleOf(closed)).toBe(1);

    const organizationId = await firstOrganizationId(closed.dataSource);
    const owner = await newPerson(closed, { organizationId });
    const { body } = await owner.client.post('/v1/admin/invitations', { role: 'member' });
    const invitationToken = body.url.split('#')[1];
    provider.person = newOpenIdPerson();
    const invited = await signIn({ invitationToken }, { at: closed });
    const session = await browserOf(closed, { cookie: sessionCookieOf(invited) }).get('/v1/admin/session');
    expect(session.body.session).toMatchObject({ organization: { id: organizationId }, role: 'member' });
    provider.person = newOpenIdPerson();
    expect(placeOf(await signIn({ invitationToken }, { at: closed }))).toBe('/login?error=invitation_invalid');
  });
});

describe('a third party that is not configured', () => {
  it('not configured → 404 on both routes', async () => {
    const { GOOGLE_CLIENT_ID: _id, GOOGLE_CLIENT_SECRET: _secret, ...rest } = settings();
    const without = await startConsoleWorld({ env: rest });
    try {
      const refused = await begin({}, without);
      expect({ status: refused.status, code: refused.body.error.code }).toEqual({ status: 404, code: 'not_found' });
      for (const state of [stateOf(await begin()), '']) {
        const { status, body } = await comeBack('?code=x&state=y', state, without);
        expect({ status, code: body?.error?.code }).toEqual({ status: 404, code: 'not_found' });
      }
    } finally {
      await without.stop();
    }
  });

  it('plain http to a host that is not trusted → 503, and no connection', async () => {
    const distrusting = await startConsoleWorld({ env: { ...settings(), TRUSTED_PRIVATE_HOSTS: '' } });
    try {
      const refused = await begin({}, distrusting);
      expect({ status: refused.status, code: refused.body.error.code }).toEqual({
        status: 503,
        code: 'service_unavailable',
      });
      expect(refused.headers.get('retry-after')).toBe('5');
      expect(distrusting.logs).toContainEqual(
        expect.objectContaining({
          message: 'third_party_sign_in_failed',
          step: 'begin',
          error: expect.stringContaining('blocked'),
        }),
      );
      expect(provider.called).toEqual([]);
    } finally {
      await distrusting.stop();
    }
  });
});
