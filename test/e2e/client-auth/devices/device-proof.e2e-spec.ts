import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { AssertionChanges } from '../../../support/client-auth/devices/device.js';
import { Phone } from '../../../support/client-auth/devices/phone.js';
import { AuthTrail } from '../../../support/client-auth/exchange/auth-trail.js';
import {
  changeApp,
  deviceAuthentication,
  type MobileWorld,
  startMobileWorld,
} from '../../../support/client-auth/exchange/mobile-world.js';
import { FakeClock } from '../../../support/clock.js';

const LIMIT_PER_MINUTE = 60;
const MAX_KEYS = 20;
const UNKNOWN_CHALLENGE = randomBytes(32).toString('base64url');

const clock = new FakeClock();
let world: MobileWorld;

beforeAll(async () => {
  world = await startMobileWorld({ clock });
});

afterAll(() => world.stop());

/** A registered install. */
async function install() {
  const app = await world.deviceApp('app_install');
  const [phone, trail] = [world.phone(app), new AuthTrail(world, app.id)];
  await phone.register();
  await trail.skip();
  return { app, phone, trail, served: { event: 'token_exchange', userId: phone.keyId } as const };
}

/** A registered phone of a signed-in user. */
async function signedIn(sub = 'ada') {
  const app = await world.deviceApp('issuer');
  const [phone, trail] = [world.phone(app), new AuthTrail(world, app.id)];
  const issuerToken = await world.issuer.token({ sub });
  await phone.register({ issuerToken });
  await trail.skip();
  return { app, phone, trail, issuerToken, served: { event: 'token_exchange', userId: sub } as const };
}

const expired = () => world.issuer.token({ sub: 'ada' }, { expiresIn: 0 });

const block = (app: { id: string }, userId: string) =>
  world.api.post(`/v1/admin/apps/${app.id}/users/${encodeURIComponent(userId)}/block`);

const refused = (status: number, code: string, reason?: string, userId?: string) =>
  ({ event: 'token_exchange', status, code, reason, userId }) as const;

const notInForce = refused(403, 'attest_failed', 'challenge_not_in_force');

function changed(bytes: Buffer, at: number): Buffer {
  const copy = Buffer.from(bytes);
  copy[at] = (copy[at] ?? 0) ^ 1;
  return copy;
}

describe('the order of an exchange, each pair of neighbours', () => {
  it('limit before body → 429, no event', async () => {
    const { phone, trail } = await install();
    const bad = await Promise.all(Array.from({ length: LIMIT_PER_MINUTE }, () => phone.post('token', 'text')));
    expect(new Set(bad.map(({ status }) => status))).toEqual(new Set([400]));
    expect([await trail.events(), trail.lines().length]).toEqual([[], LIMIT_PER_MINUTE]);
    await trail.isNoEvent(await phone.post('token', {}), 429, 'rate_limited');
  });

  it('body before application → 400; application unknown → 404', async () => {
    const phone = new Phone(world, 'nobodys-app', world.vendor);
    const codes = [await phone.post('token', []), await phone.post('token', {})].map(({ body }) => body.error.code);
    expect(codes).toEqual(['invalid_request', 'app_not_found']);
  });

  it('active before API key → app_disabled; API key before schema → auth_method_not_supported', async () => {
    const { app, phone, trail } = await install();
    for (const api_key of ['gw_key', '', null]) {
      const unsupported = refused(400, 'auth_method_not_supported', 'api_key_on_attestation_app');
      await trail.isRefused(await phone.post('token', { api_key, key_id: 7 }), unsupported);
    }
    await changeApp(world, app, { status: 'disabled' });
    const answer = await phone.post('token', { api_key: 'gw_key' });
    await trail.isRefused(answer, { ...refused(403, 'app_disabled'), method: null });
  });

  it('schema before issuer token → invalid_request; issuer token before block → issuer_token_rejected', async () => {
    const { app, phone, trail } = await signedIn();
    await block(app, 'ada');
    const members = { challenge: 7 };
    await trail.isRefused(await phone.exchange({ issuerToken: 'no', members }), refused(400, 'invalid_request'));
    const rejected = refused(403, 'issuer_token_rejected', 'expired');
    await trail.isRefused(await phone.exchange({ issuerToken: await expired() }), rejected);
  });

  it('block before key → auth_required, also with an unregistered key; the challenge stays valid', async () => {
    const { app, phone, trail, issuerToken, served } = await signedIn();
    await block(app, 'ada');
    const challenge = await phone.challenge();
    const blocked = refused(403, 'auth_required', 'user_blocked', 'ada');
    for (const one of [world.phone(app), phone])
      await trail.isRefused(await one.exchange({ issuerToken, challenge }), blocked);
    await world.api.post(`/v1/admin/apps/${app.id}/users/ada/unblock`);
    await trail.isServed(await phone.exchange({ issuerToken, challenge }), served);
  });

  it('key before challenge → key_unknown, and the challenge stays valid', async () => {
    const { app, phone, trail, served } = await install();
    const challenge = await phone.challenge();
    const unknown = refused(403, 'attest_failed', 'key_unknown');
    for (const sent of [UNKNOWN_CHALLENGE, challenge])
      await trail.isRefused(await world.phone(app).exchange({ challenge: sent }), unknown);
    await trail.isServed(await phone.exchange({ challenge }), served);
  });

  it('2.5 step 5: environment no longer allowed, before challenge → environment_not_allowed; allowed again → served', async () => {
    const { app, phone, trail, served } = await install();
    const allow = (environment: string) =>
      changeApp(world, app, {
        config: { authentication: deviceAuthentication({ source: 'app_install' }, [environment]) },
      });
    const challenge = await phone.challenge();
    await allow('development');
    const withdrawn = refused(403, 'attest_failed', 'environment_not_allowed');
    for (const sent of [UNKNOWN_CHALLENGE, challenge])
      await trail.isRefused(await phone.exchange({ challenge: sent }), withdrawn);
    await allow('production');
    await trail.isServed(await phone.exchange({ challenge }), served);
  });

  it('challenge before assertion → challenge_not_in_force, whether the assertion is good or not', async () => {
    const { phone, trail } = await install();
    for (const changes of [{}, { signature: (der: Buffer) => changed(der, 20) }])
      await trail.isRefused(await phone.exchange({ challenge: UNKNOWN_CHALLENGE, changes }), notInForce);
  });

  it('an assertion that fails → its challenge is used up, the stored counter is unchanged', async () => {
    const { phone, trail, served } = await install();
    const challenge = await phone.challenge();
    const changes = { counter: 9, signature: (der: Buffer) => changed(der, 20) };
    const invalid = refused(403, 'attest_failed', 'signature_invalid');
    await trail.isRefused(await phone.exchange({ challenge, changes }), invalid);
    await trail.isRefused(await phone.exchange({ challenge }), notInForce);
    await trail.isServed(await phone.exchange({ changes: { counter: 1 } }), served);
  });
});

describe('the body', () => {
  it.each([
    ['issuer_token', [undefined, null, 7, '']],
    ['key_id', [undefined, null, 7, '', {}, 'k'.repeat(201)]],
    ['assertion', [undefined, null, 7, '', ['a']]],
    ['challenge', [undefined, null, 7, '', 'c'.repeat(201)]],
  ])('%s missing, of another type, empty or too long → 400 that names it', async (member, values) => {
    const { phone, trail, issuerToken } = await signedIn();
    const good = await phone.proof({ issuerToken, challenge: UNKNOWN_CHALLENGE });
    for (const value of values) {
      const answer = await phone.post('token', { ...good, [member]: value });
      await trail.isRefused(answer, refused(400, 'invalid_request'));
      expect(answer.body.error.message).toMatch(new RegExp(`^${member}: `));
    }
  });

  it('unknown members → ignored; the answer is exactly a token and its lifetime', async () => {
    const { phone, trail, served } = await install();
    const answer = await phone.exchange({ members: { colour: 1, nested: { a: [null] }, user_id: 'ada' } });
    expect(answer.body).toEqual({ access_token: expect.any(String), expires_in: 3600 });
    expect(answer.headers.get('cache-control')).toBe('no-store');
    await trail.isServed(answer, served);
  });

  it.each([['a.b.c'], [''], [null], [7]])('install that sends issuer_token %j → 400', async (issuer_token) => {
    const { phone, trail } = await install();
    await trail.isRefused(await phone.exchange({ members: { issuer_token } }), refused(400, 'invalid_request'));
  });
});

describe('assertions, each wrong in one way', () => {
  const WRONG: [what: string, reason: string, changes: AssertionChanges][] = [
    ['another text signed', 'signature_invalid', { clientData: '{}' }],
    ['a changed signature', 'signature_invalid', { signature: (der) => changed(der, 20) }],
    ['no signature', 'signature_missing', { members: (map) => map.delete('signature') }],
    ['36 bytes of data', 'authenticator_data_invalid', { authenticatorData: (bytes) => bytes.subarray(0, 36) }],
    ['another application', 'app_mismatch', { authenticatorData: (bytes) => changed(bytes, 0) }],
    ['the counter of the attestation', 'counter_not_greater', { counter: 0 }],
    ['half of its bytes', 'cbor_invalid', { bytes: (cbor) => cbor.subarray(0, cbor.length / 2) }],
  ];

  it.each(WRONG)('%s → attest_failed, %s; afterwards a good one is served', async (_, reason, changes) => {
    const { phone, trail, served } = await install();
    await trail.isRefused(await phone.exchange({ changes }), refused(403, 'attest_failed', reason));
    await trail.isServed(await phone.exchange(), served);
  });

  it('a slash in the key id is not escaped: among 20 devices at least one has it → all are served', async () => {
    const { app } = await install();
    const phones = Array.from({ length: 20 }, () => world.phone(app));
    expect(phones.some(({ keyId }) => keyId.includes('/'))).toBe(true);
    for (const phone of phones) await phone.signIn();
  });

  it('step 4: the counter → must be strictly greater than the last accepted one, by any step, up to the maximum', async () => {
    const { phone, trail, served } = await install();
    const old = refused(403, 'attest_failed', 'counter_not_greater');
    const last = 2 ** 32 - 1;
    for (const counter of [5, 5, 4, 6, last, last, 1]) {
      const answer = await phone.exchange({ changes: { counter } });
      if (answer.status === 200) await trail.isServed(answer, served);
      else await trail.isRefused(answer, old);
    }
    const [{ counter }] = await world.dataSource.query('SELECT counter FROM device_keys WHERE key_id = $1', [
      phone.keyId,
    ]);
    expect(Number(counter)).toBe(last);
  });

  it('the same assertion again → refused; with another challenge → refused', async () => {
    const { phone, trail, served } = await install();
    const proof = await phone.proof();
    await trail.isServed(await phone.post('token', proof), served);
    const old = refused(403, 'attest_failed', 'challenge_not_in_force');
    await trail.isRefused(await phone.post('token', proof), old);
    const challenge = await phone.challenge();
    const answer = await phone.post('token', { ...proof, challenge });
    await trail.isRefused(answer, refused(403, 'attest_failed', 'counter_not_greater'));
  });

  it('expired, or of another application → refused; still valid in its own application', async () => {
    const [own, other] = [await install(), await install()];
    const challenge = await own.phone.challenge();
    await other.trail.isRefused(await other.phone.exchange({ challenge }), notInForce);
    await own.trail.isServed(await own.phone.exchange({ challenge }), own.served);
    const late = await own.phone.challenge();
    await world.dataSource.query('UPDATE auth_challenges SET expires_at = now() WHERE app_id = $1', [own.app.id]);
    await own.trail.isRefused(await own.phone.exchange({ challenge: late }), notInForce);
    const ahead = await own.phone.challenge();
    await world.dataSource.query(
      "UPDATE auth_challenges SET expires_at = now() + interval '1 year' WHERE app_id = $1",
      [own.app.id],
    );
    await own.trail.isRefused(await own.phone.exchange({ challenge: ahead }), notInForce);
  });
});

describe('several keys per user, found by their id', () => {
  const unknown = refused(403, 'attest_failed', 'key_unknown', 'ada');

  it('21st key → the least recently used one is removed, all others stay', async () => {
    const { app, phone, trail, issuerToken } = await signedIn();
    const phones = [phone, ...Array.from({ length: MAX_KEYS }, () => world.phone(app))];
    for (const one of phones.slice(1, MAX_KEYS)) {
      clock.advance(1_000);
      await one.register({ issuerToken });
    }
    clock.advance(1_000);
    await phone.exchange({ issuerToken });
    await phones[MAX_KEYS]?.register({ issuerToken });
    await trail.skip();
    const statuses = await Promise.all(phones.map((one) => one.exchange({ issuerToken }).then(({ status }) => status)));
    expect(statuses.map((status, index) => (status === 200 ? undefined : index)).filter(Number)).toEqual([1]);
  });

  it.each([
    ['in the same instant as all others', 0],
    ['by a clock that is behind', -3_600_000],
  ])('registered %s → the new key is never the one removed', async (_, step) => {
    const { app, issuerToken } = await signedIn();
    for (let count = 0; count < MAX_KEYS + 5; count++) {
      if (count >= MAX_KEYS - 1) clock.advance(step);
      await world.phone(app).signIn(issuerToken);
    }
    clock.advance(-6 * step);
    const [{ keys }] = await world.dataSource.query('SELECT count(*)::int AS keys FROM device_keys WHERE app_id = $1', [
      app.id,
    ]);
    expect(keys).toBe(MAX_KEYS);
  });

  it('registered again → counter from 0, one row', async () => {
    const { app, phone, trail, issuerToken, served } = await signedIn();
    await phone.exchange({ issuerToken, changes: { counter: 50 } });
    await phone.register({ issuerToken });
    await trail.skip();
    await trail.isServed(await phone.exchange({ issuerToken, changes: { counter: 1 } }), served);
    const rows = await world.dataSource.query('SELECT user_id FROM device_keys WHERE app_id = $1', [app.id]);
    expect(rows).toEqual([{ user_id: 'ada' }]);
  });

  it('key of another user → unknown for this user, and the challenge stays valid; registered by this user → theirs', async () => {
    const { phone, trail, issuerToken, served } = await signedIn('ben');
    const adaToken = await world.issuer.token({ sub: 'ada' });
    const challenge = await phone.challenge();
    await trail.isRefused(await phone.exchange({ issuerToken: adaToken, challenge }), unknown);
    await trail.isServed(await phone.exchange({ issuerToken, challenge }), served);
    await phone.register({ issuerToken: adaToken });
    await trail.skip();
    await trail.isServed(await phone.exchange({ issuerToken: adaToken }), { ...served, userId: 'ada' });
    await trail.isRefused(await phone.exchange({ issuerToken }), { ...unknown, userId: 'ben' });
  });

  it('the same key in two applications → two registrations with separate counters', async () => {
    const [one, other] = [await install(), await install()];
    const twin = Object.assign(new Phone(world, other.app.id, world.vendor), { device: one.phone.device });
    await one.trail.isServed(await one.phone.exchange({ changes: { counter: 7 } }), one.served);
    await other.trail.isRefused(await twin.exchange(), refused(403, 'attest_failed', 'key_unknown'));
    await twin.register();
    await other.trail.skip();
    await other.trail.isServed(await twin.exchange({ changes: { counter: 1 } }), one.served);
  });
});
