import { createHash } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { firstOrganizationId, newAccount } from '../../../support/accounts/accounts.js';
import { auditEntries } from '../../../support/accounts/audit-entries.js';
import { PACKAGE_NAME } from '../../../support/client-auth/devices/android.js';
import { type Payload, PlayDevice, PlayVendor, playIntegrity } from '../../../support/client-auth/devices/play.js';
import {
  type PlayServer,
  SERVICE_ACCOUNT,
  serviceAccount,
  startPlayServer,
} from '../../../support/client-auth/devices/play-server.js';
import { AuthTrail } from '../../../support/client-auth/exchange/auth-trail.js';
import { changeApp, type MobileWorld, startMobileWorld } from '../../../support/client-auth/exchange/mobile-world.js';
import { FakeClock } from '../../../support/clock.js';

const MINUTE = 60_000;
const clock = new FakeClock();
const METHOD = { method: 'play_integrity' } as const;
let world: MobileWorld;
let server: PlayServer;
const vendor = new PlayVendor();

beforeAll(async () => {
  server = await startPlayServer(vendor);
  const env = { PLAY_INTEGRITY_BASE_URL: server.url, GOOGLE_OAUTH_TOKEN_URL: server.tokenUrl };
  world = await startMobileWorld({ clock, env, play: vendor });
});

afterAll(async () => {
  await world.stop();
  await server.stop();
});

beforeEach(() => {
  server.scripted = {};
});

const credentialsOf = (app: { id: string }) => `/v1/admin/apps/${app.id}/play-integrity/credentials`;

async function installed(policy: Readonly<Record<string, unknown>> = {}, credentials?: Record<string, unknown>) {
  const app = await world.proofsApp('app_install', { play_integrity: playIntegrity(policy) });
  const sent = credentials ?? (policy.decode === 'vendor' ? { service_account: SERVICE_ACCOUNT } : vendor.credentials);
  expect((await world.api.put(credentialsOf(app), sent)).status).toBe(200);
  return { app, phone: world.playPhone(app), trail: new AuthTrail(world, app.id) };
}

const refused = (event: 'register' | 'token_exchange', reason: string) =>
  ({ event, reason, code: 'attest_failed', status: 403, ...METHOD }) as const;
const unavailable = (reason: string) =>
  ({ event: 'register', reason, code: 'service_unavailable', status: 503, ...METHOD }) as const;

describe.each(['local', 'vendor'])('decode: %s', (decode) => {
  it('registers once and exchanges → its install is the user, and its token is valid for an hour', async () => {
    const { app, phone, trail } = await installed({ decode });
    const registered = await phone.register();
    expect(registered.body).toEqual({ user_id: phone.device.keyId });
    const about = { userId: phone.device.keyId, ...METHOD };
    await trail.isServed(registered, { event: 'register', ...about });
    const decoded = server.decodings.length;
    const exchanged = await phone.exchange();
    expect(exchanged.body).toEqual({ access_token: expect.any(String), expires_in: 3600 });
    await trail.isServed(exchanged, { event: 'token_exchange', ...about });
    expect(server.decodings.length).toBe(decoded);
    expect((await world.as(exchanged.body.access_token).get(`/v1/apps/${app.id}/me`)).status).toBe(200);
  });

  it.each<[string, string, (payload: Payload) => void]>([
    ['of another app', 'integrity_package_mismatch', ({ requestDetails: r }) => (r.requestPackageName = 'com.a.b')],
    ['of another challenge', 'integrity_hash_mismatch', ({ requestDetails: r }) => (r.requestHash = 'AAAA')],
    ['of a modified phone', 'device_verdict_missing', ({ deviceIntegrity: d }) => (d.deviceRecognitionVerdict = [])],
    [
      'of a repackaged app',
      'app_unrecognized',
      ({ appIntegrity: a }) => (a.appRecognitionVerdict = 'UNRECOGNIZED_VERSION'),
    ],
    ['of an unlicensed account', 'app_unlicensed', ({ accountDetails: a }) => (a.appLicensingVerdict = 'UNLICENSED')],
    ['of testers', 'integrity_test_response', (p) => Object.assign(p, { testingDetails: { isTestingResponse: true } })],
  ])(
    'a token %s → attest_failed without details, nothing is stored, the challenge is used up',
    async (_, reason, payload) => {
      const { app, phone, trail } = await installed({ decode });
      const challenge = await phone.challenge();
      const answer = await phone.register({ challenge, changes: { payload } });
      expect(answer.body.error.message).toBe('The device could not be verified; register a new key.');
      await trail.isRefused(answer, refused('register', reason));
      await trail.isRefused(await phone.register({ challenge }), refused('register', 'challenge_not_in_force'));
      expect((await world.api.get(`/v1/admin/apps/${app.id}/users`)).body.users).toEqual([]);
      await trail.isRefused(await phone.exchange(), refused('token_exchange', 'key_unknown'));
    },
  );

  it('a token encrypted with the keys of another vendor → attest_failed', async () => {
    const { phone, trail } = await installed({ decode });
    const forged = { decryption: Buffer.alloc(32), signedBy: new PlayVendor().signing.privateKey };
    const reason = decode === 'local' ? 'integrity_token_undecryptable' : 'integrity_token_refused';
    await trail.isRefused(await phone.register({ changes: forged }), refused('register', reason));
  });

  it('a malformed token → attest_failed, and the vendor is not called', async () => {
    const { phone, trail } = await installed({ decode });
    const decoded = server.decodings.length;
    const answer = await phone.register({ members: { integrity_token: 'soon' } });
    await trail.isRefused(answer, refused('register', 'integrity_token_malformed'));
    expect(server.decodings.length).toBe(decoded);
  });

  it('no credentials for it → 503 with a log line; with the right kind → served', async () => {
    const other = decode === 'local' ? { service_account: SERVICE_ACCOUNT } : vendor.credentials;
    const { app, phone, trail } = await installed({ decode }, other);
    const answer = await phone.register();
    await trail.isRefused(answer, unavailable('play_credentials_missing'));
    expect(answer.headers.get('retry-after')).toBe('5');
    expect(world.logs).toContainEqual(
      expect.objectContaining({ message: 'play_integrity_failed', appId: app.id, reason: 'play_credentials_missing' }),
    );
    const right = decode === 'local' ? vendor.credentials : { service_account: SERVICE_ACCOUNT };
    await world.api.put(credentialsOf(app), right);
    expect((await phone.register()).status).toBe(200);
    await world.api.delete(credentialsOf(app));
    expect((await phone.exchange()).status).toBe(200);
    expect((await phone.register()).status).toBe(503);
  });
});

describe('a key of the application', () => {
  it.each([
    ['of another phone', () => new PlayDevice().publicKey.toString('base64'), 'key_id_mismatch'],
    ['of another curve', () => Buffer.alloc(91, 7).toString('base64'), 'public_key_unusable'],
    ['that is not base64', () => '%%%%', 'proof_not_base64'],
    ['of 129 bytes', () => Buffer.alloc(129).toString('base64'), 'proof_too_large'],
  ])('%s → attest_failed', async (_, publicKey, reason) => {
    const { phone, trail } = await installed();
    const answer = await phone.register({ members: { public_key: publicKey() } });
    await trail.isRefused(answer, refused('register', reason));
  });

  it('whose point is not on the curve → attest_failed', async () => {
    const { app, phone, trail } = await installed();
    const spki = Buffer.from(phone.device.publicKey);
    spki.writeUInt8(spki.readUInt8(90) ^ 1, 90);
    const key_id = createHash('sha256').update(spki.subarray(-65)).digest('base64');
    const members = { public_key: spki.toString('base64'), key_id };
    await trail.isRefused(await phone.register({ members }), refused('register', 'public_key_unusable'));
    expect((await world.api.get(`/v1/admin/apps/${app.id}/users`)).body.users).toEqual([]);
  });

  it('a token that was made for another key → attest_failed', async () => {
    const { phone, trail } = await installed();
    const other = new PlayDevice();
    const members = { public_key: other.publicKey.toString('base64'), key_id: other.keyId };
    await trail.isRefused(await phone.register({ members }), refused('register', 'integrity_hash_mismatch'));
  });

  it('a signature over another text, with another key, or used twice → refused', async () => {
    const { phone, trail } = await installed();
    await phone.register();
    await trail.skip();
    for (const signature of [
      phone.device.sign(phone.appId, '', 'something else'),
      new PlayDevice().sign(phone.appId, ''),
    ])
      await trail.isRefused(
        await phone.exchange({ members: { signature } }),
        refused('token_exchange', 'signature_invalid'),
      );
    const challenge = await phone.challenge();
    expect((await phone.exchange({ challenge })).status).toBe(200);
    await trail.skip();
    await trail.isRefused(await phone.exchange({ challenge }), refused('token_exchange', 'challenge_not_in_force'));
  });

  it('named as a key of Android key attestation → refused', async () => {
    const { phone, trail } = await installed();
    await phone.register();
    await trail.skip();
    const answer = await phone.exchange({ members: { proof: 'key_attestation' } });
    expect([answer.status, answer.body.error.code]).toEqual([400, 'auth_method_not_supported']);
  });

  it('invalid bodies: no token, no key, a token of more than 16 KiB → 400', async () => {
    const { phone } = await installed();
    for (const members of [
      { integrity_token: undefined },
      { public_key: undefined },
      { public_key: ['AAAA'] },
      { integrity_token: 'A'.repeat(16 * 1024 + 1) },
      { issuer_token: 'someone' },
    ]) {
      const { status, body } = await phone.register({ challenge: 'unspent', members });
      expect([status, body.error.code]).toEqual([400, 'invalid_request']);
    }
  });

  it('of a signed-in user → the claim is the user', async () => {
    const app = await world.proofsApp('issuer', { play_integrity: playIntegrity() });
    await world.api.put(credentialsOf(app), vendor.credentials);
    const phone = world.playPhone(app);
    const issuerToken = await world.issuer.token({ sub: 'ada' });
    expect((await phone.register({ issuerToken })).body).toEqual({ user_id: 'ada' });
    expect((await phone.exchange({ issuerToken })).status).toBe(200);
    expect((await phone.exchange()).status).toBe(400);
  });

  it('the token of one registration for another → refused', async () => {
    const { phone, trail } = await installed();
    const first = await phone.challenge();
    const integrity_token = await vendor.token(phone.device.requestHash(phone.appId, first), Date.now());
    expect((await phone.register({ challenge: first, members: { integrity_token } })).status).toBe(200);
    await trail.skip();
    const again = await phone.register({ members: { integrity_token } });
    await trail.isRefused(again, refused('register', 'integrity_hash_mismatch'));
  });
});

describe('configurations that change later', () => {
  it.each<[string, Record<string, unknown>, string]>([
    ['a stronger verdict', { require: ['MEETS_STRONG_INTEGRITY'] }, 'device_verdict_missing'],
    ['another package', { package_name: 'com.example.other' }, 'integrity_package_mismatch'],
    ['another certificate', { certificates: ['ab'.repeat(32)] }, 'signing_certificate_not_allowed'],
  ])('%s → registered keys are judged by it, and accepted again once it is lifted', async (_, policy, reason) => {
    const { app, phone, trail } = await installed();
    await phone.register();
    await trail.skip();
    const set = (changes: Record<string, unknown>) => {
      const proofs = { play_integrity: playIntegrity(changes) };
      const authentication = { type: 'device_proofs', end_user: { source: 'app_install' }, proofs };
      return changeApp(world, app, { config: { authentication } });
    };
    await set(policy);
    await trail.isRefused(await phone.exchange(), refused('token_exchange', reason));
    await set({});
    expect((await phone.exchange()).status).toBe(200);
  });

  it('the proof is no longer accepted → its tokens become invalid', async () => {
    const { app, phone } = await installed();
    await phone.register();
    const token = (await phone.exchange()).body.access_token;
    const proofs = { app_attest: { team_id: 'ABCDE12345', bundle_id: PACKAGE_NAME } };
    const authentication = { type: 'device_proofs', end_user: { source: 'app_install' }, proofs };
    await changeApp(world, app, { config: { authentication } });
    expect((await world.as(token).get(`/v1/apps/${app.id}/me`)).status).toBe(401);
  });
});

describe('the vendor', () => {
  it('is called with an access token of the service account, which is reused until a minute before it expires', async () => {
    const { app, phone } = await installed({ decode: 'vendor' });
    const grants = server.grants.length;
    const phones = [phone, world.playPhone(app), world.playPhone(app)];
    const answers = await Promise.all(phones.map((one) => one.register()));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(server.grants.length).toBe(grants + 1);
    const { header, claims } = server.grants.at(-1) ?? {};
    expect(header).toEqual({ alg: 'RS256', typ: 'JWT', kid: SERVICE_ACCOUNT.private_key_id });
    expect(claims).toEqual({
      ...{ iss: SERVICE_ACCOUNT.client_email, aud: server.tokenUrl },
      scope: 'https://www.googleapis.com/auth/playintegrity',
      ...{ iat: Math.floor(clock.nowMs() / 1000), exp: Math.floor(clock.nowMs() / 1000) + 3600 },
    });
    expect(server.decodings.at(-1)).toEqual({
      path: `/play/v1/${PACKAGE_NAME}:decodeIntegrityToken`,
      bearer: `bearer-${server.grants.length}`,
      body: { integrity_token: expect.any(String) },
    });
    clock.advance(59 * MINUTE);
    expect((await world.playPhone(app).register()).status).toBe(200);
    expect(server.grants.length).toBe(grants + 2);
  });

  it.each([
    [429, 'play_quota_exhausted', '60'],
    [403, 'play_access_refused', '5'],
    [401, 'play_access_refused', '5'],
    [404, 'play_access_refused', '5'],
    [500, 'play_unreachable', '5'],
    [503, 'play_unreachable', '5'],
    [302, 'play_unreachable', '5'],
    [200, 'play_unreachable', '5'],
  ])('answers %i → 503 %s, and nothing is stored', async (status, reason, retryAfter) => {
    const { app, phone, trail } = await installed({ decode: 'vendor' });
    server.scripted.decode = () => ({ status, body: '{"error":{"message":"secret of the vendor"}}' });
    const answer = await phone.register();
    await trail.isRefused(answer, unavailable(reason));
    expect(answer.headers.get('retry-after')).toBe(retryAfter);
    expect(JSON.stringify(world.logs)).not.toContain('secret of the vendor');
    expect((await world.api.get(`/v1/admin/apps/${app.id}/users`)).body.users).toEqual([]);
    server.scripted = {};
    expect((await phone.register()).status).toBe(200);
  });

  it('refuses an access token → the next registration uses a new one', async () => {
    const { phone } = await installed({ decode: 'vendor' });
    expect((await phone.register()).status).toBe(200);
    const grants = server.grants.length;
    server.scripted.decode = () => ({ status: 401, body: '{}' });
    expect((await phone.register()).status).toBe(503);
    server.scripted = {};
    expect((await phone.register()).status).toBe(200);
    expect(server.grants.length).toBe(grants + 1);
  });

  it.each<[string, () => { status: number; body: string } | undefined, string]>([
    ['is gone', () => undefined, 'play_unreachable'],
    ['answers something else', () => ({ status: 200, body: 'soon' }), 'play_unreachable'],
    ['answers without a token', () => ({ status: 200, body: '{"expires_in":3599}' }), 'play_unreachable'],
    ['refuses the account', () => ({ status: 400, body: '{"error":"invalid_grant"}' }), 'play_access_refused'],
    ['fails', () => ({ status: 500, body: '' }), 'play_unreachable'],
  ])('its token service %s → 503, and it is not called again for two seconds', async (_, script, reason) => {
    const { phone, trail } = await installed({ decode: 'vendor' });
    let asked = 0;
    server.scripted.token = () => {
      asked++;
      return script();
    };
    await trail.isRefused(await phone.register(), unavailable(reason));
    await trail.isRefused(await phone.register(), unavailable(reason));
    expect(asked).toBe(1);
    clock.advance(2_000);
    server.scripted = {};
    expect((await phone.register()).status).toBe(200);
  });

  it('closes the connection → 503', async () => {
    const { phone, trail } = await installed({ decode: 'vendor' });
    server.scripted.decode = () => undefined;
    await trail.isRefused(await phone.register(), unavailable('play_unreachable'));
  });

  it('an account that signs with another key → 503; the rotated credentials work at once', async () => {
    const { app, phone, trail } = await installed({ decode: 'vendor' }, { service_account: serviceAccount() });
    await trail.isRefused(await phone.register(), unavailable('play_access_refused'));
    await world.api.put(credentialsOf(app), { service_account: SERVICE_ACCOUNT });
    expect((await phone.register()).status).toBe(200);
  });
});

describe('credentials', () => {
  it('set, rotated, deleted → only a hint is shown, the secret is sealed, and the audit trail has an entry', async () => {
    const app = await world.proofsApp('app_install', { play_integrity: playIntegrity() });
    expect((await world.api.get(credentialsOf(app))).body).toEqual({ app_id: app.id, credentials: [] });
    await world.api.put(credentialsOf(app), vendor.credentials);
    const text = JSON.stringify(SERVICE_ACCOUNT);
    const { status, body, text: answer } = await world.api.put(credentialsOf(app), { service_account: text });
    expect([status, body.credentials.map(({ kind }: { kind: string }) => kind)]).toEqual([
      200,
      ['service_account', 'response_keys'],
    ]);
    expect(body.credentials[0].hint).toBe(SERVICE_ACCOUNT.client_email);
    expect(answer).not.toContain('PRIVATE KEY');
    expect((await world.api.get(credentialsOf(app))).body).toEqual(body);
    const rows = await world.dataSource.query('SELECT secret_blob FROM play_credentials WHERE app_id = $1', [app.id]);
    expect(JSON.stringify(rows)).not.toMatch(/PRIVATE|gserviceaccount/);
    expect((await world.api.delete(credentialsOf(app))).body).toEqual({ app_id: app.id, deleted: true });
    expect((await world.api.delete(credentialsOf(app))).status).toBe(200);
    const entries = await auditEntries(world, await firstOrganizationId(world.dataSource));
    const ofApp = entries.filter(({ target_id }) => target_id === app.id);
    expect(ofApp.slice(-3).map(({ action, details }) => [action, details])).toEqual([
      ['play_credentials.replaced', { kind: 'response_keys', hint: expect.any(String) }],
      ['play_credentials.replaced', { kind: 'service_account', hint: SERVICE_ACCOUNT.client_email }],
      ['play_credentials.deleted', null],
    ]);
    expect(JSON.stringify(world.logs)).not.toContain('PRIVATE KEY');
  });

  it('none for the decoding → check and validate warn until they are set', async () => {
    const app = await world.proofsApp('app_install', { play_integrity: playIntegrity({ decode: 'local' }) });
    const path = `/v1/admin/apps/${app.id}`;
    const warnings = async () => {
      const { name, config } = (await world.api.get(path)).body.app;
      const validated = (await world.api.post(`${path}/validate`, { name, config })).body;
      const { validation } = (await world.api.get(`${path}/check`)).body;
      expect(validation.warnings).toEqual(validated.warnings);
      return validated.warnings;
    };
    await world.api.put(credentialsOf(app), { service_account: SERVICE_ACCOUNT });
    expect(await warnings()).toEqual([expect.stringContaining('play_integrity (decode: local) has no credentials')]);
    await world.api.put(credentialsOf(app), vendor.credentials);
    expect(await warnings()).toBeUndefined();
  });

  it('invalid ones → 400, and nothing changes', async () => {
    const app = await world.proofsApp('app_install', { play_integrity: playIntegrity() });
    for (const sent of [
      {},
      { service_account: 7 },
      { service_account: {} },
      { decryption_key: 'AAAA', verification_key: 'AAAA' },
      { ...vendor.credentials, service_account: SERVICE_ACCOUNT },
      { ...vendor.credentials, token_uri: 'https://example.com' },
    ])
      expect((await world.api.put(credentialsOf(app), sent)).body.error?.code).toBe('invalid_request');
    expect((await world.api.get(credentialsOf(app))).body.credentials).toEqual([]);
  });

  it('moved to another application → they cannot be opened: 503', async () => {
    const one = await installed();
    const other = await installed();
    await world.dataSource.query(
      `UPDATE play_credentials SET secret_blob = (SELECT secret_blob FROM play_credentials WHERE app_id = $1)
       WHERE app_id = $2`,
      [one.app.id, other.app.id],
    );
    await other.trail.isRefused(await other.phone.register(), unavailable('secret_undecryptable'));
  });

  it('of a foreign account → app_not_found', async () => {
    const { app } = await installed();
    const stranger = world.as((await newAccount(world.dataSource)).key);
    for (const answer of [
      await stranger.get(credentialsOf(app)),
      await stranger.put(credentialsOf(app), vendor.credentials),
      await stranger.delete(credentialsOf(app)),
    ])
      expect([answer.status, answer.body.error.code]).toEqual([404, 'app_not_found']);
  });

  it('an application that is deleted → its credentials are deleted too', async () => {
    const { app } = await installed();
    await world.api.delete(`/v1/admin/apps/${app.id}?confirm=${app.id}`);
    expect(await world.dataSource.query('SELECT FROM play_credentials WHERE app_id = $1', [app.id])).toEqual([]);
  });
});
