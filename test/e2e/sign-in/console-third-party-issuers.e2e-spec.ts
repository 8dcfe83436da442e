import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { SESSION_COOKIE } from '../../../src/accounts/sessions/session-cookie.rules.js';
import type { ApiAnswer } from '../../support/api-client.js';
import { type FurtherInstance, startFurtherInstance } from '../../support/platform/further-instance.js';
import { describeWithRedis, reachRedis, type TestRedis } from '../../support/platform/redis.js';
import { setCookieOf, startConsoleWorld } from '../../support/sign-in/console.js';
import { newOpenIdPerson, OpenIdProvider } from '../../support/sign-in/openid-provider.js';
import {
  beginAt,
  placeOf,
  REDIRECT_URI,
  signInThrough,
  thirdPartySettings,
  userOf,
} from '../../support/sign-in/third-party.js';
import type { World } from '../../support/world.js';

const METADATA = '/.well-known/openid-configuration';

let one: OpenIdProvider;
let other: OpenIdProvider;

beforeAll(async () => {
  [one, other] = [await OpenIdProvider.start(REDIRECT_URI), await OpenIdProvider.start(REDIRECT_URI)];
});
afterAll(async () => {
  await one.stop();
  await other.stop();
});

describeWithRedis('subjects belong to their issuer (OpenID Connect Core 5.7)', () => {
  let redis: Pick<TestRedis, 'url' | 'stop'>;
  let atOne: World;
  let atOther: FurtherInstance;

  /** One more instance of the service, whose operator has changed the issuer. */
  const instanceAtOther = (env: Record<string, string> = {}) =>
    startFurtherInstance(atOne, atOne.databaseUrl, { env: { ...thirdPartySettings(other), ...env } });

  beforeAll(async () => {
    redis = await reachRedis();
    const env = { ...thirdPartySettings(one), ALLOW_ADDITIONAL_REGISTRATIONS: 'true', REDIS_URL: redis.url };
    atOne = await startConsoleWorld({ env });
    atOther = await instanceAtOther();
  });
  beforeEach(() => {
    one.person = newOpenIdPerson();
    other.person = newOpenIdPerson({ sub: one.person.sub });
  });
  afterAll(async () => {
    await atOther.stop();
    await atOne.stop();
    await redis.stop();
  });

  function expectNobody(answer: ApiAnswer, error: string): void {
    expect(placeOf(answer)).toBe(`/login?error=${error}`);
    expect(setCookieOf(answer, SESSION_COOKIE)).toBeUndefined();
  }

  it('the same subject at another issuer → another person; each stays the same at their own', async () => {
    const ada = await userOf(atOne, await signInThrough(one, atOne));
    const mallory = await userOf(atOther, await signInThrough(other, atOther));
    expect(mallory.id).not.toBe(ada.id);
    expect(await userOf(atOne, await signInThrough(one, atOne))).toEqual(ada);
    expect(await userOf(atOther, await signInThrough(other, atOther))).toEqual(mallory);
  });

  it('also with the same e-mail address → refused like any taken address', async () => {
    await signInThrough(one, atOne);
    other.person = one.person;
    expectNobody(await signInThrough(other, atOther), 'account_exists');
  });

  it('closed registration → refused; a person known from the issuer signs in', async () => {
    await signInThrough(one, atOne);
    const closed = await instanceAtOther({ ALLOW_ADDITIONAL_REGISTRATIONS: 'false' });
    try {
      expectNobody(await signInThrough(other, closed), 'registration_disabled');
      const known = await userOf(atOther, await signInThrough(other, atOther));
      expect(await userOf(closed, await signInThrough(other, closed))).toEqual(known);
    } finally {
      await closed.stop();
    }
  });

  it('a person whose issuer an earlier version did not store → belongs to Google', async () => {
    const { id } = await userOf(atOne, await signInThrough(one, atOne));
    const { dataSource } = atOne;
    await dataSource.query('DELETE FROM openid_subjects WHERE identity_id = $1', [id]);
    await dataSource.query(
      "INSERT INTO openid_subjects (provider, subject, identity_id, created_at) VALUES ('google', $1, $2, now())",
      [one.person?.sub, id],
    );
    expectNobody(await signInThrough(one, atOne), 'account_exists');
    expect((await userOf(atOther, await signInThrough(other, atOther))).id).not.toBe(id);
    const stored = await dataSource.query('SELECT issuer FROM openid_subjects WHERE identity_id = $1', [id]);
    expect(stored).toEqual([{ issuer: 'https://accounts.google.com' }]);
  });
});

describe('an issuer that claims to be another one', () => {
  let world: World;

  beforeAll(async () => {
    world = await startConsoleWorld({ env: thirdPartySettings(one) });
  });
  afterAll(() => world.stop());

  it('its metadata name Google → 503, without a redirect; its own name → redirected', async () => {
    const metadata: object = JSON.parse(await (await fetch(`${one.issuer}${METADATA}`)).text());
    one.answers.set(METADATA, (context) => {
      Object.assign(context, { status: 200, body: { ...metadata, issuer: 'https://accounts.google.com' } });
    });
    expect((await beginAt(world)).status).toBe(503);
    one.answers.clear();
    expect((await beginAt(world)).status).toBe(200);
  });
});
