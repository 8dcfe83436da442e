import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { ApiAnswer } from '../../../support/api-client.js';
import { type AttestationChanges, DeviceVendor } from '../../../support/client-auth/devices/device.js';
import { Phone } from '../../../support/client-auth/devices/phone.js';
import { AuthTrail } from '../../../support/client-auth/exchange/auth-trail.js';
import { changeApp, type MobileWorld, startMobileWorld } from '../../../support/client-auth/exchange/mobile-world.js';
import { FakeClock } from '../../../support/clock.js';

const LIMIT_PER_MINUTE = 60;
const UNKNOWN_CHALLENGE = randomBytes(32).toString('base64url');

const clock = new FakeClock();
let world: MobileWorld;

beforeAll(async () => {
  world = await startMobileWorld({ clock });
});

afterAll(() => world.stop());

async function install(options: Parameters<MobileWorld['deviceApp']>[1] = {}) {
  const app = await world.deviceApp('app_install', options);
  return { app, phone: world.phone(app), trail: new AuthTrail(world, app.id) };
}

async function signedIn(sub = 'ada') {
  const app = await world.deviceApp('issuer');
  const issuerToken = await world.issuer.token({ sub });
  return { app, phone: world.phone(app), trail: new AuthTrail(world, app.id), issuerToken };
}

const expired = () => world.issuer.token({ sub: 'ada' }, { expiresIn: 0 });

const block = (app: { id: string }, userId: string) =>
  world.api.post(`/v1/admin/apps/${app.id}/users/${encodeURIComponent(userId)}/block`);

const refused = (status: number, code: string, reason?: string, userId?: string) =>
  ({ event: 'register', status, code, reason, userId }) as const;

const challengeOf = ({ status, body }: ApiAnswer) => [status, body.error?.code ?? body.challenge.length];

describe('challenges', () => {
  it('any body → 200, 43 characters of base64url, 300 s, never the same, no event', async () => {
    const { phone, trail } = await install();
    const bodies = ['', '{}', '{"a":[1]}', 'not JSON', '\u0000', 'x'.repeat(1_000)];
    const answers = await Promise.all(
      bodies.map((raw) => world.as(undefined).post(`/v1/apps/${phone.appId}/auth/challenge`, undefined, { raw })),
    );
    for (const { status, body } of answers)
      expect([status, body]).toEqual([200, { challenge: expect.stringMatching(/^[\w-]{43}$/), expires_in: 300 }]);
    expect(new Set(answers.map(({ body }) => body.challenge)).size).toBe(bodies.length);
    expect([await trail.events(), trail.lines()]).toEqual([[], []]);
  });

  it('order → limit, application exists, application active, attestation; no events', async () => {
    const { app, phone, trail } = await install();
    const backend = await world.backendApp();
    const ask = (appId: string) => new Phone(world, appId, world.vendor).post('challenge', {});
    expect(challengeOf(await ask('nobodys-app'))).toEqual([404, 'app_not_found']);
    expect(challengeOf(await ask(backend.id))).toEqual([403, 'auth_method_not_supported']);
    await changeApp(world, backend, { status: 'disabled' });
    expect(challengeOf(await ask(backend.id))).toEqual([403, 'app_disabled']);
    await Promise.all(Array.from({ length: LIMIT_PER_MINUTE }, () => phone.post('challenge', {})));
    await changeApp(world, app, { status: 'disabled' });
    await trail.isNoEvent(await phone.post('challenge', {}), 429, 'rate_limited');
    expect(await new AuthTrail(world, backend.id).events()).toEqual([]);
  });
});

describe('the order of a registration, each pair of neighbours', () => {
  it('limit before body → 429, no event; the body before the limit → 400, no event', async () => {
    const { phone, trail } = await install();
    const bad = await Promise.all(Array.from({ length: LIMIT_PER_MINUTE }, () => phone.post('register', [])));
    expect(new Set(bad.map(({ status }) => status))).toEqual(new Set([400]));
    expect([await trail.events(), trail.lines().length]).toEqual([[], LIMIT_PER_MINUTE]);
    await trail.isNoEvent(await phone.post('register', []), 429, 'rate_limited');
  });

  it('body before application → 400 for an unknown application', async () => {
    const phone = new Phone(world, 'nobodys-app', world.vendor);
    const trail = new AuthTrail(world, (await install()).app.id);
    const codes = [await phone.post('register', []), await phone.post('register', {})].map(
      ({ body }) => body.error.code,
    );
    expect([codes, await trail.events()]).toEqual([['invalid_request', 'app_not_found'], []]);
  });

  it('active before kind of application → app_disabled; kind before schema → auth_method_not_supported', async () => {
    const app = await world.backendApp();
    const [phone, trail] = [world.phone(app), new AuthTrail(world, app.id)];
    const unknown = { ...refused(403, 'auth_method_not_supported', 'not_an_attestation_app'), method: null };
    await trail.isRefused(await phone.post('register', {}), unknown);
    await changeApp(world, app, { status: 'disabled' });
    await trail.isRefused(await phone.post('register', {}), { ...refused(403, 'app_disabled'), method: null });
  });

  it('schema before issuer token → invalid_request; issuer token before block → issuer_token_rejected', async () => {
    const { app, phone, trail, issuerToken } = await signedIn();
    await phone.register({ issuerToken });
    await block(app, 'ada');
    await trail.skip();
    const members = { key_id: '' };
    await trail.isRefused(await phone.register({ issuerToken: 'no', members }), refused(400, 'invalid_request'));
    const rejected = refused(403, 'issuer_token_rejected', 'expired');
    await trail.isRefused(await phone.register({ issuerToken: await expired() }), rejected);
  });

  it('block before challenge → auth_required, and the challenge stays valid', async () => {
    const { app, phone, trail, issuerToken } = await signedIn();
    await phone.register({ issuerToken });
    await block(app, 'ada');
    await trail.skip();
    const challenge = await phone.challenge();
    for (const sent of [UNKNOWN_CHALLENGE, challenge]) {
      const answer = await phone.register({ issuerToken, challenge: sent });
      await trail.isRefused(answer, refused(403, 'auth_required', 'user_blocked', 'ada'));
    }
    const benToken = await world.issuer.token({ sub: 'ben' });
    expect((await phone.register({ issuerToken: benToken, challenge })).status).toBe(200);
  });

  it('a blocked install → auth_required without naming the install, because it is not proven', async () => {
    const { app, phone, trail } = await install();
    await phone.register();
    await block(app, phone.keyId);
    await trail.skip();
    await trail.isRefused(await phone.register(), refused(403, 'auth_required', 'user_blocked'));
  });

  it('challenge before attestation → challenge_not_in_force; an attestation that fails uses the challenge up', async () => {
    const { phone, trail } = await install();
    const changes = { bytes: () => Buffer.from('no') };
    const notInForce = refused(403, 'attest_failed', 'challenge_not_in_force');
    await trail.isRefused(await phone.register({ challenge: UNKNOWN_CHALLENGE, changes }), notInForce);
    const challenge = await phone.challenge();
    const answer = await phone.register({ challenge, changes });
    await trail.isRefused(answer, refused(403, 'attest_failed', 'cbor_invalid'));
    await trail.isRefused(await phone.register({ challenge }), notInForce);
    await trail.isServed(await phone.register(), { event: 'register', userId: phone.keyId });
  });
});

describe('the body', () => {
  it.each([
    ['key_id', [undefined, null, 7, '', {}, 'k'.repeat(201)]],
    ['attestation', [undefined, null, 7, '', ['a']]],
    ['challenge', [undefined, null, 7, '', 'c'.repeat(201)]],
    ['issuer_token', [undefined, null, 7, '']],
  ])('%s missing, of another type, empty or too long → 400 that names it', async (member, values) => {
    const { phone, trail, issuerToken } = await signedIn();
    const good = await phone.registration({ issuerToken, challenge: UNKNOWN_CHALLENGE });
    for (const value of values) {
      const answer = await phone.post('register', { ...good, [member]: value });
      await trail.isRefused(answer, refused(400, 'invalid_request'));
      expect(answer.body.error.message).toMatch(new RegExp(`^${member}: `));
    }
  });

  it('unknown members → ignored', async () => {
    const { phone, trail } = await install();
    const members = JSON.parse('{"colour":1,"nested":{"a":[null]},"api_key":"gw_x","__proto__":{"key_id":7}}');
    await trail.isServed(await phone.register({ members }), { event: 'register', userId: phone.keyId });
  });

  it.each([['a.b.c'], [''], [null], [7]])('install that sends issuer_token %j → 400', async (issuer_token) => {
    const { phone, trail } = await install();
    await trail.isRefused(await phone.register({ members: { issuer_token } }), refused(400, 'invalid_request'));
  });

  it('texts of 200 characters pass the schema', async () => {
    const { phone, trail } = await install();
    const members = { key_id: 'k'.repeat(200), challenge: 'c'.repeat(200) };
    const answer = await phone.register({ members });
    await trail.isRefused(answer, refused(403, 'attest_failed', 'challenge_not_in_force'));
  });

  it('X-App-Version → on event and line, at most 64 characters of it', async () => {
    const { phone, trail } = await install();
    await phone.post('register', {}, { 'x-app-version': '9'.repeat(80) });
    const version = '9'.repeat(64);
    expect([await trail.events(), trail.lines()]).toMatchObject([
      [{ app_version: version }],
      [{ appVersion: version }],
    ]);
  });
});

describe('a challenge is used once, within five minutes, by its application', () => {
  const notInForce = refused(403, 'attest_failed', 'challenge_not_in_force');

  it('used before → refused', async () => {
    const { phone, trail } = await install();
    const challenge = await phone.challenge();
    await trail.isServed(await phone.register({ challenge }), { event: 'register', userId: phone.keyId });
    await trail.isRefused(await phone.register({ challenge }), notInForce);
  });

  it('expired → refused', async () => {
    const { app, phone, trail } = await install();
    const challenge = await phone.challenge();
    await world.dataSource.query('UPDATE auth_challenges SET expires_at = now() WHERE app_id = $1', [app.id]);
    await trail.isRefused(await phone.register({ challenge }), notInForce);
  });

  it.each([
    ['6 minutes', 200],
    ['7 minutes', 403],
    ['1 year', 403],
  ])('ADR 0014: valid for %s more by a database clock that was ahead → %d', async (left, status) => {
    const { app, phone } = await install();
    const challenge = await phone.challenge();
    await world.dataSource.query(
      "UPDATE auth_challenges SET expires_at = now() + $2::interval - interval '1 second' WHERE app_id = $1",
      [app.id, left],
    );
    expect((await phone.register({ challenge })).status).toBe(status);
  });

  it('of another application → refused, and still valid for its own', async () => {
    const [own, other] = [await install(), await install()];
    const challenge = await own.phone.challenge();
    await other.trail.isRefused(await other.phone.register({ challenge }), notInForce);
    await own.trail.isServed(await own.phone.register({ challenge }), { event: 'register', userId: own.phone.keyId });
  });
});

describe('attestations, each wrong in one way', () => {
  const WRONG: [what: string, reason: string, changes: AttestationChanges][] = [
    ['another format', 'attestation_format_unknown', { members: (map) => map.set('fmt', 'packed') }],
    ['one certificate', 'attestation_certificates_invalid', { certificates: ([leaf]) => [leaf] }],
    ['no receipt', 'attestation_receipt_missing', { statement: (map) => map.delete('receipt') }],
    ['86 bytes of data', 'authenticator_data_invalid', { authenticatorData: (bytes) => bytes.subarray(0, 86) }],
    ['an expired leaf', 'certificate_not_in_force', { leaf: { notAfter: new Date(Date.now() - 60_000) } }],
    ['a leaf of another authority', 'certificate_issuer_mismatch', { leaf: { issuer: 'CN=Somebody' } }],
    ['no nonce', 'nonce_missing', { leaf: { nonceExtension: () => null } }],
    ['another challenge signed', 'nonce_mismatch', { clientDataHash: randomBytes(32) }],
    ['another application', 'app_mismatch', { authenticatorData: (bytes) => changed(bytes, 0) }],
    ['a counter', 'counter_not_zero', { authenticatorData: (bytes) => changed(bytes, 36) }],
    ['an environment nobody knows', 'environment_unknown', { authenticatorData: (bytes) => changed(bytes, 52) }],
    ['another credential', 'credential_id_mismatch', { authenticatorData: (bytes) => changed(bytes, 55) }],
    ['half of its bytes', 'cbor_invalid', { bytes: (cbor) => cbor.subarray(0, cbor.length / 2) }],
  ];

  function changed(bytes: Buffer, at: number): Buffer {
    const copy = Buffer.from(bytes);
    copy[at] = (copy[at] ?? 0) ^ 1;
    return copy;
  }

  it.each(WRONG)('%s → attest_failed, %s, with no user in the event', async (_, reason, changes) => {
    const { phone, trail } = await install();
    await trail.isRefused(await phone.register({ changes }), refused(403, 'attest_failed', reason));
  });

  it.each([
    ['no base64', '~~~', 'proof_not_base64'],
    ['too long', 'A'.repeat(60_000), 'proof_too_large'],
  ])('attestation that is %s → attest_failed', async (_, attestation, reason) => {
    const { phone, trail } = await install();
    await trail.isRefused(await phone.register({ members: { attestation } }), refused(403, 'attest_failed', reason));
  });

  it('key id of another key → attest_failed; of a signed-in user → the event names them', async () => {
    const { app, phone, trail, issuerToken } = await signedIn();
    const members = { key_id: world.phone(app).keyId };
    const answer = await phone.register({ issuerToken, members });
    await trail.isRefused(answer, refused(403, 'attest_failed', 'credential_id_mismatch', 'ada'));
  });

  it('another vendor under the same names → attest_failed', async () => {
    const { app, trail } = await install();
    const forged = new Phone(world, app.id, await DeviceVendor.create());
    const answer = await forged.register();
    await trail.isRefused(answer, refused(403, 'attest_failed', 'certificate_untrusted'));
  });

  it('base64url without padding → accepted', async () => {
    const { phone, trail } = await install();
    const body: { attestation?: string } = await phone.registration();
    const attestation = Buffer.from(body.attestation ?? '', 'base64').toString('base64url');
    await trail.isServed(await phone.post('register', { ...body, attestation }), {
      event: 'register',
      userId: phone.keyId,
    });
  });

  it.each([
    ['production', ['production'], true],
    ['development', ['development'], true],
    ['production', ['production', 'development'], true],
    ['development', ['production', 'development'], true],
    ['development', ['production'], false],
    ['production', ['development'], false],
    ['development', undefined, false],
    ['production', undefined, true],
  ] as const)('a %s device where %j is allowed → registered: %s', async (environment, allowed, isAllowed) => {
    const { phone, trail } = await install({ environments: allowed ?? ['production', 'development'] });
    if (allowed === undefined) await allowDefault(phone);
    const answer = await phone.register({ environment });
    if (isAllowed) await trail.isServed(answer, { event: 'register', userId: phone.keyId });
    else await trail.isRefused(answer, refused(403, 'attest_failed', 'environment_not_allowed'));
  });

  /** Leaves `environments` out of the configuration. */
  async function allowDefault({ appId }: Phone): Promise<void> {
    const { authentication } = (await world.api.get(`/v1/admin/apps/${appId}`)).body.app.config;
    const { team_id, bundle_id } = authentication.app_attest;
    const config = { authentication: { ...authentication, app_attest: { team_id, bundle_id } } };
    await changeApp(world, { id: appId }, { config });
  }
});
