import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { keyAttestation, rootOfTrust } from '../../../support/client-auth/devices/android.js';
import type { AndroidPhone } from '../../../support/client-auth/devices/android-phone.js';
import { BUNDLE_ID, TEAM_ID } from '../../../support/client-auth/devices/phone.js';
import { AuthTrail } from '../../../support/client-auth/exchange/auth-trail.js';
import { changeApp, type MobileWorld, startMobileWorld } from '../../../support/client-auth/exchange/mobile-world.js';
import { FakeClock } from '../../../support/clock.js';
import { eventually } from '../../../support/eventually.js';
import { RESPONSE } from '../../../support/proxy/endpoint-chain.js';
import { EndpointClient } from '../../../support/proxy/endpoint-client.js';
import { json } from '../../../support/proxy/upstream-scripts.js';

const UNPROVEN = /^unproven:[0-9a-f-]{36}$/;
const SELF_SIGNED = {
  description: (key: { hardware: Record<number, Buffer> }) => {
    key.hardware[704] = rootOfTrust({ state: 1 });
  },
};
const APPLE = { team_id: TEAM_ID, bundle_id: BUNDLE_ID };

let world: MobileWorld;

beforeAll(async () => {
  // In the middle of a minute, so that limits of a minute hold for a whole test.
  world = await startMobileWorld({ clock: new FakeClock() });
  world.upstream.script(json(200, RESPONSE));
});

afterAll(() => world.stop());

type Members = Readonly<Record<string, unknown>>;

const installs = (proofs: Members, members: Members = {}) => ({
  authentication: { type: 'device_proofs', end_user: { source: 'app_install' }, proofs, ...members },
});

const android = (mode: string, policy: Members = {}) => ({ key_attestation: keyAttestation({ mode, ...policy }) });

async function appOf(mode: string, policy: Members = {}, config: Members = {}) {
  const app = await world.app({ ...installs(android(mode, policy)), ...config });
  return { app, phone: world.androidPhone(app), trail: new AuthTrail(world, app.id) };
}

/** The claims of a gateway token. */
const claimsOf = (token: string) => JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString());

async function unprovenToken(phone: AndroidPhone, options: Parameters<AndroidPhone['exchange']>[0] = {}) {
  const { status, body } = await phone.exchange(options);
  expect([status, body.proof]).toEqual([200, 'none']);
  return body.access_token as string;
}

const wouldReject = (event: 'register' | 'token_exchange', reason: string, userId: string | null = null) => ({
  ...{ event, reason, outcome: 'would_reject', user_id: userId, auth_method: 'unproven' },
  proof: 'key_attestation',
});

describe.each(['observe', 'tier'] as const)('a failed proof in mode %s', (mode) => {
  it('registration → 200 without a key; exchange → a token marked as unproven; one event each with the reason', async () => {
    const { app, phone, trail } = await appOf(mode);
    const registered = await phone.register({ changes: SELF_SIGNED });
    expect(registered.body).toEqual({ user_id: expect.stringMatching(UNPROVEN), proof: 'none' });
    const facts = { boot: 'self_signed', security_level: 'tee', os_patch: 202_511, version_code: 42 };
    expect(await trail.events()).toMatchObject([{ ...wouldReject('register', 'boot_not_verified'), facts }]);
    const { body } = await phone.exchange();
    expect(body).toEqual({ access_token: expect.any(String), expires_in: 3600, proof: 'none' });
    expect(claimsOf(body.access_token)).toMatchObject({ auth_method: 'unproven', proof: 'none', mode });
    expect(claimsOf(body.access_token).sub).toMatch(UNPROVEN);
    const [exchanged, ...others] = await trail.events();
    expect(exchanged).toMatchObject(wouldReject('token_exchange', 'key_unknown'));
    expect([exchanged, others]).toEqual([expect.not.objectContaining({ facts: expect.anything() }), []]);
    expect(trail.lines()).toEqual([]);
    expect((await world.api.get(`/v1/admin/apps/${app.id}/users`)).body.users).toEqual([]);
  });

  it('a genuine device → proven as usual, and its facts are in the events', async () => {
    const { phone, trail } = await appOf(mode);
    expect((await phone.register()).body).toEqual({ user_id: phone.device.keyId });
    expect((await phone.exchange()).body).not.toHaveProperty('proof');
    const facts = { boot: 'verified', os_patch: 202_511 };
    expect(await trail.events()).toMatchObject([
      { event: 'register', outcome: 'ok', proof: 'key_attestation', facts },
      { event: 'token_exchange', outcome: 'ok', proof: 'key_attestation', facts },
    ]);
  });

  it('the key of another device → never that device’s user, and its counter and key are unchanged', async () => {
    const { phone } = await appOf(mode);
    await phone.register();
    const forged = { signature: world.android.device().sign(phone.appId, 'x') };
    const token = await unprovenToken(phone, { members: forged });
    expect(claimsOf(token).sub).toMatch(UNPROVEN);
    expect((await phone.exchange()).body).not.toHaveProperty('proof');
  });

  it('a used, foreign or made-up challenge → refused; a failed proof uses its challenge up', async () => {
    const { phone, trail } = await appOf(mode);
    const { phone: other } = await appOf(mode);
    const challenge = await phone.challenge();
    await phone.register({ challenge, changes: SELF_SIGNED });
    await trail.skip();
    const refusal = { status: 403, code: 'attest_failed', reason: 'challenge_not_in_force' } as const;
    const ofRegister = { ...refusal, event: 'register', method: 'key_attestation' } as const;
    const ofToken = { ...refusal, event: 'token_exchange', method: 'key_attestation' } as const;
    await trail.isRefused(await phone.register({ challenge, changes: SELF_SIGNED }), ofRegister);
    await trail.isRefused(await phone.exchange({ challenge }), ofToken);
    await trail.isRefused(await phone.exchange({ challenge: await other.challenge() }), ofToken);
    await trail.isRefused(await phone.exchange({ challenge: 'AAAA' }), ofToken);
    const next = await phone.challenge();
    await unprovenToken(phone, { challenge: next });
    await trail.skip();
    await trail.isRefused(await phone.exchange({ challenge: next }), ofToken);
  });

  it('the same challenge twice at once → one token', async () => {
    const { phone } = await appOf(mode);
    const challenge = await phone.challenge();
    const answers = await Promise.all([phone.exchange({ challenge }), phone.exchange({ challenge })]);
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 403]);
  });

  it('users sign in → the verified user, counted and blocked as usual; without a token 400', async () => {
    const user = { source: 'issuer', issuer: world.issuer.issuerConfig() };
    const app = await world.app(installs(android(mode), { end_user: user }));
    const [phone, trail] = [world.androidPhone(app), new AuthTrail(world, app.id)];
    const issuerToken = await world.issuer.token({ sub: 'ada' });
    const { body } = await phone.register({ issuerToken, changes: SELF_SIGNED });
    expect(body).toEqual({ user_id: 'ada', proof: 'none' });
    expect(claimsOf(await unprovenToken(phone, { issuerToken })).sub).toBe('ada');
    expect(await trail.events()).toMatchObject([
      wouldReject('register', 'boot_not_verified', 'ada'),
      wouldReject('token_exchange', 'key_unknown', 'ada'),
    ]);
    expect((await phone.exchange()).status).toBe(400);
    await world.api.post(`/v1/admin/apps/${app.id}/users/ada/block`);
    for (const answer of [await phone.register({ issuerToken }), await phone.exchange({ issuerToken })])
      expect([answer.status, answer.body.error.code]).toEqual([403, 'auth_required']);
  });

  it('an attested version that is too old → refused in every mode', async () => {
    const { phone, trail } = await appOf(mode, { min_version_code: 43 });
    await trail.isRefused(await phone.register(), {
      ...{ status: 403, code: 'app_version_too_old', reason: 'version_code_too_low' },
      ...{ event: 'register', method: 'key_attestation' },
    });
  });

  it('enforced again → tokens without a proof become invalid, and the failed proof is refused', async () => {
    const { app, phone, trail } = await appOf(mode);
    const token = await unprovenToken(phone);
    const me = () => world.as(token).get(`/v1/apps/${app.id}/me`);
    expect((await me()).status).toBe(200);
    await changeApp(world, app, { config: installs(android('enforce')) });
    expect((await me()).status).toBe(401);
    await trail.skip();
    await trail.isRefused(await phone.exchange(), {
      ...{ status: 403, code: 'attest_failed', reason: 'key_unknown' },
      ...{ event: 'token_exchange', method: 'key_attestation' },
    });
  });
});

describe('each proof has its own mode', () => {
  it('one enforced, one observed → each follows its own mode; a signature without `proof` belongs to the proof that signs', async () => {
    const app = await world.app(installs({ app_attest: APPLE, ...android('observe') }));
    const [apple, phone] = [world.phone(app), world.androidPhone(app)];
    expect((await apple.exchange()).body.error.code).toBe('attest_failed');
    expect((await apple.register({ environment: 'development' })).body.error.code).toBe('attest_failed');
    await unprovenToken(phone, { members: { proof: undefined } });
  });

  it('App Attest in mode observe → a development build and a foreign key get a token', async () => {
    const app = await world.app(installs({ app_attest: { ...APPLE, mode: 'observe' } }));
    const [phone, trail] = [world.phone(app), new AuthTrail(world, app.id)];
    expect((await phone.register({ environment: 'development' })).body.proof).toBe('none');
    expect((await phone.exchange()).body.proof).toBe('none');
    expect(await trail.events()).toMatchObject([
      { outcome: 'would_reject', reason: 'environment_not_allowed', proof: 'app_attest' },
      { outcome: 'would_reject', reason: 'key_unknown', proof: 'app_attest' },
    ]);
  });
});

describe('limits of devices without a proof', () => {
  const limits = (unproven: Members) => ({ limits: { unproven, per_user: { requests: { per_minute: 1 } } } });

  async function limited(mode: string, unproven: Members) {
    const client = await EndpointClient.create(world, { config: { ...installs(android(mode)), ...limits(unproven) } });
    const app = { id: client.proxy.appId };
    const call = (token: string, path = 'endpoints/answer') =>
      world
        .as(token)
        .post(`/v1/apps/${app.id}/${path}`, { input: 'Hi', model: 'gpt-4.1' }, { headers: { 'x-app-version': '1' } });
    const proxied = `proxy/${client.proxy.slug}/v1/responses`;
    const models = `proxy/${client.proxy.slug}/v1/models`;
    return { app, call, proxied, models, phone: () => world.androidPhone(app) };
  }

  it('tier → one pool for all of them, named as the group `unproven`; proven devices have their own limits', async () => {
    const { app, call, phone } = await limited('tier', { requests: { per_day: 2 } });
    const [one, other, genuine] = [await unprovenToken(phone()), await unprovenToken(phone()), phone()];
    expect([(await call(one)).status, (await call(other)).status]).toEqual([200, 200]);
    const refused = await call(other);
    expect([refused.status, refused.body.error]).toMatchObject([
      429,
      { code: 'app_rate_limited', data: { scope: 'group', group: 'unproven', window: 'day', limit: 'requests' } },
    ]);
    await genuine.register();
    const token = (await genuine.exchange()).body.access_token;
    expect([(await call(token)).status, (await call(token)).status]).toEqual([200, 429]);
    const path = `/v1/admin/apps/${app.id}/usage/breakdown?by=group:unproven`;
    await eventually(async () => (await world.api.get(path)).text.includes('"all"'), { withinMs: 10_000 });
  });

  it('tier → only the listed endpoints', async () => {
    const { app, call, phone, proxied, models } = await limited('tier', { allowed_endpoints: ['other'] });
    const token = await unprovenToken(phone());
    const listed = await world.as(token).get(`/v1/apps/${app.id}/${models}`, { headers: { 'x-app-version': '1' } });
    expect([listed.status, listed.body.error.code]).toEqual([403, 'path_not_allowed']);
    for (const path of ['endpoints/answer', proxied]) {
      const { status, body } = await call(token, path);
      expect([status, body.error.code]).toEqual([403, 'path_not_allowed']);
    }
    const genuine = phone();
    await genuine.register();
    expect((await call((await genuine.exchange()).body.access_token)).status).toBe(200);
  });

  it('observe → neither the pool nor limits of users apply to them', async () => {
    const { app, call, phone } = await limited('observe', { requests: { per_day: 1 }, allowed_endpoints: [] });
    const token = await unprovenToken(phone());
    expect([(await call(token)).status, (await call(token)).status]).toEqual([200, 200]);
    const { limits: shown } = (await world.as(token).get(`/v1/apps/${app.id}/me`)).body;
    expect(shown.requests_per_minute).toBeNull();
  });

  it('from observe to tier → tokens of the previous mode become invalid', async () => {
    const { app, call, phone } = await limited('observe', { requests: { per_day: 1 } });
    const token = await unprovenToken(phone());
    await changeApp(world, app, { config: installs(android('tier')) });
    expect((await call(token)).status).toBe(401);
  });
});

describe('the minimum version', () => {
  const MINIMUM = { min_app_version: '2.10' };
  const old = { status: 403, code: 'app_version_too_old', reason: 'app_version_too_low', method: 'attest' } as const;

  it.each([undefined, '2.9', '2.10-beta', ''])(
    '%j → app_version_too_old, before the challenge is used up',
    async (sent) => {
      const app = await world.app(installs({ app_attest: { ...APPLE, mode: 'observe' } }, MINIMUM));
      const [phone, trail] = [world.phone(app), new AuthTrail(world, app.id)];
      const headers: Record<string, string> = sent === undefined ? {} : { 'x-app-version': sent };
      const challenge = await phone.challenge();
      const register = await phone.post('register', await phone.registration({ challenge }), headers);
      expect(register.body.error.data).toEqual({ minimum: '2.10', kind: 'app_version' });
      await trail.isRefused(register, { ...old, event: 'register' });
      const exchange = await phone.post('token', await phone.proof({ challenge }), headers);
      await trail.isRefused(exchange, { ...old, event: 'token_exchange' });
      const current = { 'x-app-version': '2.10.0' };
      const served = await phone.post('register', await phone.registration({ challenge }), current);
      expect(served.body).toEqual({ user_id: phone.keyId });
      expect((await phone.post('token', await phone.proof(), { 'x-app-version': '10' })).status).toBe(200);
    },
  );
});

describe('configurations that are refused', () => {
  const proofs = android('tier');
  it.each([
    ['an unknown mode', installs(android('lax')), 'key_attestation.mode'],
    [
      'a mode of App Attest alone',
      { authentication: { ...apple(), app_attest: { ...APPLE, mode: 'observe' } } },
      'mode',
    ],
    ['a version in words', installs(proofs, { min_app_version: '2.x' }), 'min_app_version'],
    ['a version of another kind', { authentication: { ...apple(), min_app_version: '2' } }, 'min_app_version'],
    ['limits of another kind', { authentication: apple(), limits: { unproven: {} } }, 'config.limits.unproven'],
    ['no slug', { ...installs(proofs), limits: { unproven: { allowed_endpoints: ['A b'] } } }, 'allowed_endpoints.0'],
    [
      'one twice',
      { ...installs(proofs), limits: { unproven: { allowed_endpoints: ['a', 'a'] } } },
      'allowed_endpoints',
    ],
  ])('%s → 400 that names it', async (_, config, named) => {
    await expect(world.app(config)).rejects.toThrow(named);
  });

  it('a group of the same name → 400', async () => {
    const user = { source: 'issuer', issuer: world.issuer.issuerConfig() };
    const limits = { unproven: {}, groups: { unproven: { claim: 'org' } } };
    const config = { ...installs(proofs, { end_user: user }), limits };
    await expect(world.app(config)).rejects.toThrow('config.limits.unproven');
  });

  function apple() {
    return { type: 'device_app_attest', end_user: { source: 'app_install' }, app_attest: APPLE };
  }
});
