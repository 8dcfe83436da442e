import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { PasswordHashing } from '../../../src/sign-in/passwords/password-hashing.service.js';
import { newPerson } from '../../support/accounts/people.js';
import type { ApiAnswer } from '../../support/api-client.js';
import { FakeClock } from '../../support/clock.js';
import {
  browserOf,
  newAddress,
  newSignUp,
  type RegisteredPerson,
  registered,
  sessionCookieOf,
  signInAt,
  signUpAt,
  startConsoleWorld,
  trailOf,
} from '../../support/sign-in/console.js';
import type { World } from '../../support/world.js';

const FORM = { 'content-type': 'application/x-www-form-urlencoded' };
const TEN_MINUTES_MS = 10 * 60_000;

let world: World;
let clock: FakeClock;
let ada: RegisteredPerson;

beforeAll(async () => {
  clock = new FakeClock();
  world = await startConsoleWorld({ clock, env: { ALLOW_ADDITIONAL_REGISTRATIONS: 'true' } });
});

/** Every test begins in new windows. */
afterEach(() => {
  jest.restoreAllMocks();
  clock.advance(TEN_MINUTES_MS);
});
afterAll(() => world.stop());

/** Her registration counts as a sign-in, in windows before those of the tests. */
async function adaRegisters(): Promise<void> {
  ada = await registered(world);
  clock.advance(TEN_MINUTES_MS);
}

/** Signs in from a separate address, so that only the e-mail address counts. */
function signIn(members: { email?: string; password?: string } = {}): Promise<ApiAnswer> {
  return signInAt(browserOf(world), { ...ada.typed, ...members });
}

function verifications() {
  return jest.spyOn(world.gateway.app.get(PasswordHashing), 'verify');
}

describe('signing in with a password', () => {
  beforeAll(adaRegisters);

  it('e-mail address and password → a session of this person, recorded in their organization', async () => {
    const answer = await signIn();
    expect(answer.status).toBe(200);
    expect(answer.body).toMatchObject({ redirect: false, user: { id: ada.id, email: ada.typed.email } });
    const session = await browserOf(world, { cookie: sessionCookieOf(answer) }).get('/v1/admin/session');
    expect(session.body.session.user.id).toBe(ada.id);
    expect((await trailOf(world, ada.id.replace('user_', 'org_'))).at(-1)).toBe('session.opened');
  });

  it('another case of the e-mail address, blanks around it → the same person', async () => {
    expect((await signIn({ email: `  ${ada.typed.email.toUpperCase()} ` })).body.user.id).toBe(ada.id);
  });

  it('a form → accepted like JSON; a repeated or unknown field → 400', async () => {
    const form = (text: string) =>
      browserOf(world).post('/v1/auth/sign-in/email', undefined, { raw: text, headers: FORM });
    const { email, password } = ada.typed;
    const right = new URLSearchParams({ email, password }).toString();
    expect((await form(right)).body.user.id).toBe(ada.id);
    expect((await form(`${right}&email=x%40y`)).body.error.message).toBe('email: is given twice');
    expect((await form(`${right}&next=%2F`)).status).toBe(400);
  });

  it('unknown, wrong, without a password, not a person → the same answer, after one verification each', async () => {
    const withoutPassword = await newPerson(world, {});
    const verified = verifications();
    const answers = [
      await signIn({ password: 'not the password' }),
      await signIn({ email: 'nobody-at-all@example.com' }),
      await signIn({ email: withoutPassword.email }),
      await signIn({ password: `${ada.typed.password} ` }),
    ];
    for (const { status, text, headers } of answers) {
      expect({ status, text }).toEqual({
        status: 401,
        text: '{"error":{"code":"auth_required","message":"Wrong e-mail or password."}}',
      });
      expect(headers.getSetCookie()).toEqual([]);
    }
    expect(verified.mock.calls).toHaveLength(4);
  });

  it.each([{}, { email: 'a@b' }, { password: 'x' }, { email: 'a@b', password: '' }, { email: 7, password: 'x' }])(
    '%j → 400',
    async (body) => {
      expect((await browserOf(world).post('/v1/auth/sign-in/email', body)).status).toBe(400);
    },
  );

  it('a password that is changed while it is verified → does not sign in', async () => {
    const { dataSource, gateway } = world;
    const hashing = gateway.app.get(PasswordHashing);
    const verify = hashing.verify.bind(hashing);
    jest.spyOn(hashing, 'verify').mockImplementation(async (stored, typed) => {
      const isRight = await verify(stored, typed);
      await dataSource.query("UPDATE passwords SET password_hash = password_hash || 'x' WHERE identity_id = $1", [
        ada.id,
      ]);
      return isRight;
    });
    expect((await signIn()).status).toBe(401);
    await dataSource.query('UPDATE passwords SET password_hash = left(password_hash, -1) WHERE identity_id = $1', [
      ada.id,
    ]);
  });
});

describe('guessing passwords', () => {
  beforeAll(adaRegisters);

  it('ten wrong passwords from ten addresses → the right one is refused for the rest of ten minutes, unverified', async () => {
    for (let guess = 0; guess < 10; guess++) expect((await signIn({ password: `guess ${guess}` })).status).toBe(401);
    const verified = verifications();
    const refused = await signIn({ email: ada.typed.email.toUpperCase() });
    const { retryAfterSeconds, resetAt } = refused.body.error.data;
    expect(refused.status).toBe(429);
    expect(refused.body.error).toEqual({
      code: 'rate_limited',
      message: 'Too many requests: at most 10 sign-ins per 600 seconds are allowed with one e-mail address.',
      data: { scope: 'sign_in_email', limit: 10, windowSeconds: 600, retryAfterSeconds, resetAt },
    });
    expect(refused.headers.get('retry-after')).toBe(String(retryAfterSeconds));
    expect(verified.mock.calls).toEqual([]);
    clock.advance(retryAfterSeconds * 1000);
    expect((await signIn()).status).toBe(200);
  });

  it('registrations with the e-mail address → count with its sign-ins', async () => {
    for (let call = 0; call < 10; call++) {
      expect((await signUpAt(browserOf(world), ada.typed)).status).toBe(409);
    }
    expect((await signIn()).status).toBe(429);
    expect((await signUpAt(browserOf(world), ada.typed)).status).toBe(429);
  });

  it('the eleventh call from one address within a minute, for any person → 429 before the body is read', async () => {
    const browser = browserOf(world, { address: newAddress() });
    for (let call = 0; call < 5; call++) {
      expect((await signInAt(browser, newSignUp())).status).toBe(401);
      expect((await signUpAt(browser, { ...newSignUp(), password: 'short' })).status).toBe(400);
    }
    const refused = await browser.post('/v1/auth/sign-in/email', undefined, { raw: 'not even JSON' });
    expect(refused.status).toBe(429);
    expect(refused.body.error.data).toMatchObject({ scope: 'sign_in_address', limit: 10, windowSeconds: 60 });
    clock.advance(60_000);
    expect((await signInAt(browser, ada.typed)).status).toBe(200);
  });

  it('addresses and e-mail addresses of others → counted separately', async () => {
    const grace = await registered(world);
    for (let guess = 0; guess < 10; guess++) await signIn({ password: 'wrong' });
    expect((await signInAt(browserOf(world), grace.typed)).status).toBe(200);
  });
});

describe('response times', () => {
  const ROUNDS = 15;

  async function tookMs(call: () => Promise<ApiAnswer>): Promise<number> {
    const begin = performance.now();
    expect((await call()).status).toBe(401);
    return performance.now() - begin;
  }

  const medianOf = (times: number[]) => times.sort((a, b) => a - b)[Math.floor(times.length / 2)] ?? Number.NaN;

  it('an unknown e-mail address and a wrong password → medians within 20 percent, in the best of five', async () => {
    await adaRegisters();
    const ratios: number[] = [];
    while (ratios.length < 5 && !ratios.some((ratio) => Math.abs(ratio - 1) <= 0.2)) {
      const [wrong, unknown]: [number[], number[]] = [[], []];
      // In turn, so that other load of the machine slows both.
      for (let round = 0; round < ROUNDS; round++) {
        if (round % 4 === 0) clock.advance(TEN_MINUTES_MS);
        wrong.push(await tookMs(() => signIn({ password: 'wrong' })));
        unknown.push(await tookMs(() => signIn({ email: `unknown-${round}@example.com` })));
      }
      ratios.push(medianOf(unknown) / medianOf(wrong));
    }
    expect(ratios.at(-1)).toBeGreaterThan(0.8);
    expect(ratios.at(-1)).toBeLessThan(1.2);
  });
});
