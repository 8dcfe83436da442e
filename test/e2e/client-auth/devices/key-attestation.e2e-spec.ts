import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { keyAttestation, rootOfTrust } from '../../../support/client-auth/devices/android.js';
import { boolean } from '../../../support/client-auth/devices/der-writer.js';
import { BUNDLE_ID, TEAM_ID } from '../../../support/client-auth/devices/phone.js';
import { AuthTrail } from '../../../support/client-auth/exchange/auth-trail.js';
import { changeApp, type MobileWorld, startMobileWorld } from '../../../support/client-auth/exchange/mobile-world.js';
import { FakeClock } from '../../../support/clock.js';
import { rejectionOf } from '../../../support/rejection-of.js';
import { startWorld } from '../../../support/world.js';

const clock = new FakeClock();
const APPLE = { team_id: TEAM_ID, bundle_id: BUNDLE_ID };
let world: MobileWorld;

beforeAll(async () => {
  world = await startMobileWorld({ clock });
});

afterAll(() => world.stop());

async function installed(policy: Readonly<Record<string, unknown>> = {}) {
  const app = await world.proofsApp('app_install', { key_attestation: keyAttestation(policy) });
  return { app, phone: world.androidPhone(app), trail: new AuthTrail(world, app.id) };
}

async function mixed() {
  const app = await world.proofsApp('app_install', { app_attest: APPLE, key_attestation: keyAttestation() });
  return { app, android: world.androidPhone(app), apple: world.phone(app), trail: new AuthTrail(world, app.id) };
}

const refused = (event: 'register' | 'token_exchange', reason: string, code = 'attest_failed', status = 403) =>
  ({ event, reason, code, status, method: 'key_attestation' }) as const;

const setPolicy = (app: { id: string }, changes: Readonly<Record<string, unknown>>) => {
  const proofs = { key_attestation: keyAttestation(changes) };
  const authentication = { type: 'device_proofs', end_user: { source: 'app_install' }, proofs };
  return changeApp(world, app, { config: { authentication } });
};

describe('an Android phone', () => {
  it('registers and exchanges → its install is the user, and its token is accepted', async () => {
    const { app, phone, trail } = await installed();
    const registered = await phone.register();
    expect(registered.body).toEqual({ user_id: phone.device.keyId });
    const about = { userId: phone.device.keyId, method: 'key_attestation' } as const;
    await trail.isServed(registered, { event: 'register', ...about });
    const exchanged = await phone.exchange();
    expect(exchanged.body).toEqual({ access_token: expect.any(String), expires_in: 1800 });
    await trail.isServed(exchanged, { event: 'token_exchange', ...about });
    const me = await world.as(exchanged.body.access_token).get(`/v1/apps/${app.id}/me`);
    expect([me.status, me.body.user?.id ?? me.body.user_id]).toEqual([200, phone.device.keyId]);
  });

  it('of a signed-in user → the claim is the user', async () => {
    const app = await world.proofsApp('issuer', { key_attestation: keyAttestation() });
    const phone = world.androidPhone(app);
    const issuerToken = await world.issuer.token({ sub: 'ada' });
    expect((await phone.register({ issuerToken })).body).toEqual({ user_id: 'ada' });
    expect((await phone.exchange({ issuerToken })).status).toBe(200);
    expect((await phone.exchange()).status).toBe(400);
  });

  it('of a signed-in user who is blocked → auth_required, the challenge stays', async () => {
    const app = await world.proofsApp('issuer', { key_attestation: keyAttestation() });
    const phone = world.androidPhone(app);
    const issuerToken = await world.issuer.token({ sub: 'ada' });
    await phone.register({ issuerToken });
    await world.api.post(`/v1/admin/apps/${app.id}/users/ada/block`);
    const challenge = await phone.challenge();
    for (const answer of [
      await phone.register({ issuerToken, challenge }),
      await phone.exchange({ issuerToken, challenge }),
    ])
      expect([answer.status, answer.body.error.code]).toEqual([403, 'auth_required']);
    const ben = await world.issuer.token({ sub: 'ben' });
    expect((await phone.register({ issuerToken: ben, challenge })).status).toBe(200);
  });

  it('unlocked → attest_failed without details, nothing is stored, the challenge is used up', async () => {
    const { app, phone, trail } = await installed();
    const challenge = await phone.challenge();
    const unlocked = (key: { hardware: Record<number, Buffer> }) => {
      key.hardware[704] = rootOfTrust({ locked: boolean(false) });
    };
    const answer = await phone.register({ challenge, changes: { description: unlocked } });
    expect(answer.body.error.message).toBe('The device could not be verified; register a new key.');
    await trail.isRefused(answer, refused('register', 'bootloader_unlocked'));
    await trail.isRefused(await phone.register({ challenge }), refused('register', 'challenge_not_in_force'));
    expect((await world.api.get(`/v1/admin/apps/${app.id}/users`)).body.users).toEqual([]);
    await trail.isRefused(await phone.exchange(), refused('token_exchange', 'key_unknown'));
  });

  it('a signature over another text, with another key, or used twice → refused', async () => {
    const { phone, trail } = await installed();
    await phone.register();
    await trail.skip();
    const challenge = await phone.challenge();
    const ofText = { signature: phone.device.sign(phone.appId, challenge, 'something else') };
    await trail.isRefused(
      await phone.exchange({ challenge, members: ofText }),
      refused('token_exchange', 'signature_invalid'),
    );
    await trail.isRefused(await phone.exchange({ challenge }), refused('token_exchange', 'challenge_not_in_force'));
    const next = await phone.challenge();
    const other = { signature: world.android.device().sign(phone.appId, next) };
    await trail.isRefused(
      await phone.exchange({ challenge: next, members: other }),
      refused('token_exchange', 'signature_invalid'),
    );
    const last = await phone.challenge();
    expect((await phone.exchange({ challenge: last })).status).toBe(200);
    await trail.skip();
    await trail.isRefused(
      await phone.exchange({ challenge: last }),
      refused('token_exchange', 'challenge_not_in_force'),
    );
  });

  it('the same proof twice at once → one of the two is served', async () => {
    const { phone } = await installed();
    await phone.register();
    const challenge = await phone.challenge();
    const answers = await Promise.all([phone.exchange({ challenge }), phone.exchange({ challenge })]);
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 403]);
  });

  it('invalid bodies: more than ten certificates, one of more than 16 KiB, none, text → 400', async () => {
    const { phone } = await installed();
    const chains = [Array(11).fill('AAAA'), [Buffer.alloc(16_385).toString('base64')], [], 'AAAA', [1], ['']];
    for (const certificate_chain of chains) {
      const { status, body } = await phone.register({ challenge: 'unspent', members: { certificate_chain } });
      expect([status, body.error.code]).toEqual([400, 'invalid_request']);
      expect(body.error.message).toContain('certificate_chain: must be a list of 1 to 10 texts');
    }
  });

  it('certificates of 16 KiB each, and invalid base64 → attest_failed', async () => {
    const { phone, trail } = await installed();
    const large = { certificate_chain: [Buffer.alloc(16_384).toString('base64')] };
    await trail.isRefused(await phone.register({ members: large }), refused('register', 'certificate_unreadable'));
    const garbled = { certificate_chain: ['%%%%'] };
    await trail.isRefused(await phone.register({ members: garbled }), refused('register', 'proof_not_base64'));
  });
});

describe('configurations that change later', () => {
  it.each([
    ['a later patch', { min_os_patch: 202_512 }, 'os_patch_too_old'],
    ['StrongBox', { min_security_level: 'strongbox' }, 'security_level_too_low'],
    ['another package', { package_names: ['com.example.other'] }, 'package_not_allowed'],
    ['another signature', { signing_certificates: ['ab'.repeat(32)] }, 'signing_certificate_not_allowed'],
  ])('%s → registered keys are judged by it, and accepted again once it is lifted', async (_, policy, reason) => {
    const { app, phone, trail } = await installed();
    await phone.register();
    await trail.skip();
    await setPolicy(app, policy);
    await trail.isRefused(await phone.exchange(), refused('token_exchange', reason));
    await setPolicy(app, {});
    expect((await phone.exchange()).status).toBe(200);
  });

  it('a higher version code → app_version_too_old with the minimum, at registration and exchange', async () => {
    const { app, phone, trail } = await installed();
    await phone.register();
    await trail.skip();
    await setPolicy(app, { min_version_code: 43 });
    const answer = await phone.exchange();
    expect(answer.body.error.data).toEqual({ minimum: 43, kind: 'version_code' });
    const old = refused('token_exchange', 'version_code_too_low', 'app_version_too_old');
    await trail.isRefused(answer, old);
    await trail.isRefused(await phone.register(), { ...old, event: 'register' });
  });
});

describe('applications of several proofs', () => {
  it('both kinds of phones → served; a registration without `proof` means App Attest, and a signature identifies its own proof', async () => {
    const { android, apple } = await mixed();
    expect((await apple.register()).status).toBe(200);
    expect((await apple.exchange()).status).toBe(200);
    expect((await apple.exchange({ members: { proof: 'app_attest' } })).status).toBe(200);
    expect((await android.register()).status).toBe(200);
    expect((await android.exchange({ members: { proof: undefined } })).status).toBe(200);
  });

  it('a key registered with the other proof → refused', async () => {
    const { android, apple, trail } = await mixed();
    await android.register();
    await apple.register();
    await trail.skip();
    const asApple = { ...(await apple.proof()), key_id: android.device.keyId };
    await trail.isRefused(await apple.post('token', asApple), {
      ...refused('token_exchange', 'key_of_other_proof'),
      method: 'attest',
    });
  });

  it('the proof is no longer accepted → its keys and tokens become invalid', async () => {
    const { app, android } = await mixed();
    await android.register();
    const token = (await android.exchange()).body.access_token;
    const authentication = {
      type: 'device_proofs',
      end_user: { source: 'app_install' },
      proofs: { app_attest: APPLE },
    };
    await changeApp(world, app, { config: { authentication } });
    expect((await world.as(token).get(`/v1/apps/${app.id}/me`)).status).toBe(401);
    const trail = new AuthTrail(world, app.id);
    await trail.skip();
    const answer = await android.exchange({ members: { proof: undefined } });
    await trail.isRefused(answer, refused('token_exchange', 'key_of_other_proof'));
    expect((await android.exchange()).body.error).toMatchObject({ code: 'auth_method_not_supported' });
  });

  it.each([
    ['none where App Attest is not taken', undefined, 'invalid_request', 'proof: is required: key_attestation'],
    [
      'one that is not configured',
      'app_attest',
      'auth_method_not_supported',
      'proof: the application accepts key_attestation.',
    ],
    ['an unknown one', 'constructor', 'auth_method_not_supported', 'proof: the application accepts key_attestation.'],
    ['a number', 7, 'invalid_request', 'proof: must be text'],
  ])('%s → 400', async (_, proof, code, message) => {
    const { phone } = await installed();
    for (const answer of [await phone.register({ members: { proof } }), await phone.exchange({ members: { proof } })])
      expect([answer.status, answer.body.error.code, answer.body.error.message]).toEqual([400, code, message]);
  });

  it('an application of App Attest alone → ignores the member', async () => {
    const app = await world.deviceApp('app_install');
    const phone = world.phone(app);
    expect((await phone.register({ members: { proof: 'key_attestation' } })).status).toBe(200);
    expect((await phone.exchange({ members: { proof: 7 } })).status).toBe(200);
  });

  it('from App Attest alone to several proofs → keys and tokens stay valid', async () => {
    const app = await world.deviceApp('app_install');
    const phone = world.phone(app);
    const token = await phone.signIn();
    const proofs = { app_attest: { ...APPLE, environments: ['production'] }, key_attestation: keyAttestation() };
    const authentication = { type: 'device_proofs', end_user: { source: 'app_install' }, proofs };
    await changeApp(world, app, { config: { authentication } });
    expect((await world.as(token).get(`/v1/apps/${app.id}/me`)).status).toBe(200);
    expect((await phone.exchange()).status).toBe(200);
    const { apps } = (await world.api.get(`/v1/admin/apps?query=${BUNDLE_ID}`)).body;
    expect(apps.find(({ id }: { id: string }) => id === app.id)).toMatchObject({
      authentication_type: 'device_proofs',
      apple_bundle_id: BUNDLE_ID,
    });
  });
});

describe('ANDROID_ATTESTATION_ROOTS_FILE', () => {
  const directory = mkdtempSync(join(tmpdir(), 'gw-android-roots-'));
  afterAll(() => rmSync(directory, { recursive: true }));

  it('replaced → a line names the roots', () => {
    expect(world.logs).toContainEqual(
      expect.objectContaining({
        message: 'android_attestation_roots_replaced',
        level: 'warn',
        subjects: 'serialNumber=f0f0f0f0f0f0f0f0',
      }),
    );
  });

  it.each(['', 'soon', '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n'])(
    'a file of %j → the service refuses to start',
    async (text) => {
      const file = join(directory, `${createHash('sha256').update(text).digest('hex')}.pem`);
      writeFileSync(file, text);
      const failure = await rejectionOf(startWorld({ env: { ANDROID_ATTESTATION_ROOTS_FILE: file } }));
      expect(String(failure)).toContain('ANDROID_ATTESTATION_ROOTS_FILE must be a readable PEM file');
    },
  );

  it('unset → the simulated vendor is not trusted', async () => {
    const plain = await startWorld({ env: { TRUSTED_PROXIES: '127.0.0.1' } });
    try {
      const authentication = {
        ...{ type: 'device_proofs', end_user: { source: 'app_install' } },
        proofs: { key_attestation: keyAttestation() },
      };
      const app = await plain.app({ authentication });
      const device = world.android.device();
      const path = `/v1/apps/${app.id}/auth`;
      const { challenge } = (await plain.as(undefined).post(`${path}/challenge`, {})).body;
      const { status, body } = await plain.as(undefined).post(`${path}/register`, {
        ...{ proof: 'key_attestation', key_id: device.keyId, challenge, certificate_chain: device.attest(challenge) },
      });
      expect([status, body.error.code]).toEqual([403, 'attest_failed']);
      expect(plain.logs).toContainEqual(expect.objectContaining({ reason: 'certificate_untrusted' }));
    } finally {
      await plain.stop();
    }
  });
});
