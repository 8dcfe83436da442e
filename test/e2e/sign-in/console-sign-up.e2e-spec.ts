import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { PasswordHashing } from '../../../src/sign-in/passwords/password-hashing.service.js';
import { firstOrganizationId } from '../../support/accounts/accounts.js';
import { newPerson } from '../../support/accounts/people.js';
import { FakeClock } from '../../support/clock.js';
import {
  browserOf,
  newAddress,
  newSignUp,
  registered,
  sessionCookieOf,
  signInAt,
  signUpAt,
  startConsoleWorld,
  trailOf,
} from '../../support/sign-in/console.js';
import type { World } from '../../support/world.js';

let world: World;

beforeAll(async () => {
  world = await startConsoleWorld();
});

beforeEach(() => nobody());
afterEach(() => {
  jest.restoreAllMocks();
});
afterAll(() => world.stop());

async function nobody(): Promise<void> {
  await world.dataSource.query("DELETE FROM identities WHERE kind = 'human'");
}

async function people(): Promise<string[]> {
  const rows: { email: string }[] = await world.dataSource.query(
    "SELECT email FROM identities WHERE kind = 'human' ORDER BY email",
  );
  return rows.map(({ email }) => email);
}

function hashings(): { readonly mock: { readonly calls: readonly unknown[] } } {
  return jest.spyOn(world.gateway.app.get(PasswordHashing), 'hash');
}

async function isOpen(): Promise<boolean> {
  return (await world.as(undefined).get('/v1/console/capabilities')).body.registrationOpen;
}

/** The token of a new invitation into the first organization, by its owner. */
async function invitation(members: object): Promise<string> {
  const organizationId = await firstOrganizationId(world.dataSource);
  const owner = await newPerson(world, { organizationId });
  const { status, body, text } = await owner.client.post('/v1/admin/invitations', members);
  if (status !== 201) throw new Error(`invitation: ${status} ${text}`);
  return body.url.split('#')[1];
}

describe('registration with a password', () => {
  it.each(['password1', 'PassWord1', '1234567890', 'qwertyuiop'])(
    'the common password %s → 400 with what to do, at sign-up and at a change; nobody is stored',
    async (password) => {
      const refused = await signUpAt(browserOf(world), newSignUp({ password }));
      expect([refused.status, refused.body.error.message]).toEqual([
        400,
        expect.stringMatching(/^password: is among the most common passwords.*choose another/),
      ]);
      expect(await people()).toEqual([]);
      const { cookie, typed } = await registered(world);
      const change = { currentPassword: typed.password, newPassword: password };
      const changed = await browserOf(world, { cookie }).post('/v1/auth/change-password', change);
      expect([changed.status, changed.body.error.message]).toEqual([
        400,
        expect.stringMatching(/^newPassword: is among/),
      ]);
      expect((await signInAt(browserOf(world), typed)).status).toBe(200);
    },
  );

  it('the first person → a session, and their own organization, whose audit trail starts with it', async () => {
    expect(await isOpen()).toBe(true);
    const typed = newSignUp({ email: 'Ada@Example.COM', name: '  Ada ' });
    const answer = await signUpAt(browserOf(world), typed);
    expect(answer.status).toBe(200);
    const { id } = answer.body.user;
    expect(id).toMatch(/^user_[0-9a-z]{20}$/);
    expect(answer.body).toEqual({
      token: expect.stringMatching(/^[0-9A-Za-z]{48}$/),
      user: {
        id,
        name: 'Ada',
        email: 'ada@example.com',
        emailVerified: false,
        image: null,
        createdAt: expect.stringMatching(/Z$/),
        updatedAt: answer.body.user.createdAt,
      },
    });
    const { body } = await browserOf(world, { cookie: sessionCookieOf(answer) }).get('/v1/admin/session');
    expect(body.session).toMatchObject({
      user: { id, email: 'ada@example.com', kind: 'human' },
      organization: { id: id.replace('user_', 'org_'), name: 'My Organization', claimed: true, expiresAt: null },
      role: 'owner',
      credentialType: 'session',
    });
    expect(body.session.memberships).toHaveLength(1);
    expect(await trailOf(world, body.session.organization.id)).toEqual(['organization.created', 'session.opened']);
    expect(await isOpen()).toBe(false);
  });

  it('everybody afterwards → 403 before their e-mail address is checked, without hashing', async () => {
    const first = await registered(world);
    const hashed = hashings();
    const answers = [await signUpAt(browserOf(world), newSignUp()), await signUpAt(browserOf(world), first.typed)];
    for (const { status, body } of answers) {
      expect({ status, code: body.error.code }).toEqual({ status: 403, code: 'registration_disabled' });
    }
    expect(answers[0]?.text).toBe(answers[1]?.text);
    expect(hashed.mock.calls).toEqual([]);
    expect(await people()).toEqual([first.typed.email]);
  });

  it('several people register first at once → one succeeds', async () => {
    for (let round = 0; round < 3; round++) {
      await nobody();
      const answers = await Promise.all(Array.from({ length: 6 }, () => signUpAt(browserOf(world), newSignUp())));
      expect(answers.map(({ status }) => status).sort()).toEqual([200, 403, 403, 403, 403, 403]);
      expect(await people()).toHaveLength(1);
    }
  });

  it('stored and logged data → neither password nor token', async () => {
    const typed = newSignUp({ password: 'a password nobody may read' });
    const { body } = await signUpAt(browserOf(world), typed);
    const [row] = await world.dataSource.query(
      `SELECT (SELECT jsonb_agg(s) FROM sessions s)::text || (SELECT jsonb_agg(p) FROM passwords p)::text
           || (SELECT jsonb_agg(i) FROM identities i)::text || (SELECT jsonb_agg(a) FROM audit_events a)::text AS all`,
    );
    expect(row.all).toContain('$argon2id$v=19$m=19456,t=2,p=1$');
    for (const secret of [typed.password, body.token]) {
      expect(row.all).not.toContain(secret);
      expect(JSON.stringify(world.logs)).not.toContain(secret);
    }
  });

  it.each([
    [{ email: 'nobody' }, 'email: '],
    [{ email: `${'a'.repeat(250)}@example.com` }, 'email: '],
    [{ password: 'seven 7' }, 'password: '],
    [{ password: 'x'.repeat(129) }, 'password: '],
    [{ password: 12_345_678 }, 'password: '],
    [{ name: ' ' }, 'name: '],
    [{ name: 'x'.repeat(101) }, 'name: '],
    [{ name: 'a\u0000b' }, 'name: '],
    [{ role: 'owner' }, 'role: '],
    [{ emailVerified: true }, 'emailVerified: '],
  ])('%j → 400 that names it', async (members, path) => {
    const { status, body } = await signUpAt(browserOf(world), { ...newSignUp(), ...members });
    expect(status).toBe(400);
    expect(body.error.message.startsWith(path)).toBe(true);
    expect(await people()).toEqual([]);
  });

  it('a password of blanks and signs, 128 characters → stored unchanged', async () => {
    const typed = newSignUp({ password: `  ${'€ü\n🔑'.repeat(25)} ` });
    expect(typed.password).toHaveLength(128);
    expect((await signUpAt(browserOf(world), typed)).status).toBe(200);
    expect((await signInAt(browserOf(world), typed)).status).toBe(200);
    expect((await signInAt(browserOf(world), { ...typed, password: typed.password.trim() })).status).toBe(401);
  });
});

describe('registration by invitation', () => {
  it('closed, with an invitation → the person joins only its organization', async () => {
    const invitationToken = await invitation({ role: 'admin' });
    const answer = await signUpAt(browserOf(world), newSignUp({ invitationToken }));
    expect(answer.status).toBe(200);
    const { body } = await browserOf(world, { cookie: sessionCookieOf(answer) }).get('/v1/admin/session');
    const organizationId = await firstOrganizationId(world.dataSource);
    expect(body.session).toMatchObject({ organization: { id: organizationId }, role: 'admin' });
    expect(body.session.memberships).toHaveLength(1);
    expect((await trailOf(world, organizationId)).slice(-2)).toEqual(['member.joined', 'session.opened']);
  });

  it('an invalid token → 404, whether or not the e-mail address is known, without a hash', async () => {
    const used = await invitation({ role: 'member' });
    const known = newSignUp({ invitationToken: used });
    expect((await signUpAt(browserOf(world), known)).status).toBe(200);
    const hashed = hashings();
    const answers = [
      await signUpAt(browserOf(world), known),
      await signUpAt(browserOf(world), newSignUp({ invitationToken: used })),
      await signUpAt(browserOf(world), { ...known, invitationToken: 'nobodys' }),
    ];
    expect(answers.map(({ status }) => status)).toEqual([404, 404, 404]);
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    expect(hashed.mock.calls).toEqual([]);
  });

  it('one for another e-mail address → 403, nothing is stored, and it can still be used', async () => {
    const invitationToken = await invitation({ role: 'member', email: 'Grace@Example.com' });
    const before = await people();
    const wrong = await signUpAt(browserOf(world), newSignUp({ invitationToken }));
    expect({ status: wrong.status, code: wrong.body.error.code }).toEqual({ status: 403, code: 'forbidden' });
    expect(wrong.headers.getSetCookie()).toEqual([]);
    expect(await people()).toEqual(before);
    const right = newSignUp({ invitationToken, email: 'grace@example.COM' });
    expect((await signUpAt(browserOf(world), right)).status).toBe(200);
  });

  it('one for another e-mail address → does not reveal who has an account, and needs no hash', async () => {
    const known = newSignUp({ invitationToken: await invitation({ role: 'member' }) });
    expect((await signUpAt(browserOf(world), known)).status).toBe(200);
    const invitationToken = await invitation({ role: 'member', email: 'grace@example.com' });
    const hashed = hashings();
    const answers = [
      await signUpAt(browserOf(world), { ...known, invitationToken }),
      await signUpAt(browserOf(world), newSignUp({ invitationToken })),
    ];
    expect(answers.map(({ status }) => status)).toEqual([403, 403]);
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    expect(hashed.mock.calls).toEqual([]);
  });

  it('two people with the same token at once → one joins, nothing is stored for the other', async () => {
    const invitationToken = await invitation({ role: 'member' });
    const before = (await people()).length;
    const answers = await Promise.all(
      [newSignUp({ invitationToken }), newSignUp({ invitationToken })].map((typed) =>
        signUpAt(browserOf(world), typed),
      ),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 404]);
    expect(await people()).toHaveLength(before + 1);
  });
});

describe('registration that stays open', () => {
  let open: World;

  beforeAll(async () => {
    open = await startConsoleWorld({
      clock: new FakeClock(),
      env: {
        ALLOW_ADDITIONAL_REGISTRATIONS: 'true',
        TERMS_OF_SERVICE_URL: 'https://example.com/terms',
        PRIVACY_POLICY_URL: 'https://example.com/privacy',
      },
    });
  });
  afterAll(() => open.stop());

  it('options of the console → public, without unset links; the first registration is open until it happens', async () => {
    const awaits = async () => (await open.as(undefined).get('/v1/console/capabilities')).body.awaitsFirstPerson;
    expect(await awaits()).toBe(true);
    await registered(open);
    expect((await open.as(undefined).get('/v1/console/capabilities')).body).toEqual({
      billing: false,
      registrationOpen: true,
      awaitsFirstPerson: false,
      googleAuth: false,
      passkeys: false,
      simulatedProvider: false,
      termsOfServiceUrl: 'https://example.com/terms',
      privacyPolicyUrl: 'https://example.com/privacy',
    });
    expect((await world.as(undefined).get('/v1/console/capabilities')).body).toEqual({
      billing: false,
      registrationOpen: true,
      awaitsFirstPerson: true,
      googleAuth: false,
      passkeys: false,
      simulatedProvider: false,
    });
  });

  it('a second person → a separate account, with none of the first one’s data', async () => {
    const [first, second] = [await registered(open), await registered(open)];
    const session = await browserOf(open, { cookie: second.cookie }).get('/v1/admin/session');
    expect(session.body.session.organization.id).toBe(second.id.replace('user_', 'org_'));
    expect(session.text).not.toContain(first.id.replace('user_', ''));
  });

  it('an e-mail address that is taken, in whatever case → 409 after as much hashing as a success', async () => {
    const first = await registered(open);
    const hashed = jest.spyOn(open.gateway.app.get(PasswordHashing), 'hash');
    const again = await signUpAt(browserOf(open), newSignUp({ email: first.typed.email.toUpperCase() }));
    expect({ status: again.status, error: again.body.error }).toEqual({
      status: 409,
      error: { code: 'conflict', message: 'This e-mail cannot be registered; sign in instead.' },
    });
    expect(again.headers.getSetCookie()).toEqual([]);
    await registered(open);
    expect(hashed.mock.calls).toHaveLength(2);
  });

  it('the eleventh registration from one address within a minute → 429, without a hash', async () => {
    const address = newAddress();
    const hashed = jest.spyOn(open.gateway.app.get(PasswordHashing), 'hash');
    const statuses: number[] = [];
    for (let call = 0; call < 11; call++) {
      statuses.push((await signUpAt(browserOf(open, { address }), newSignUp({ password: 'short' }))).status);
    }
    expect(statuses).toEqual([...Array.from({ length: 10 }, () => 400), 429]);
    expect(hashed.mock.calls).toEqual([]);
  });
});
