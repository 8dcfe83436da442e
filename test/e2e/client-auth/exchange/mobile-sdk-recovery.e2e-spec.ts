import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { DeviceKeystore } from '../../../support/client-auth/devices/device-keystore.js';
import { AuthTrail } from '../../../support/client-auth/exchange/auth-trail.js';
import { MobileClient } from '../../../support/client-auth/exchange/mobile-client.js';
import { changeApp, deviceAuthentication } from '../../../support/client-auth/exchange/mobile-world.js';
import {
  CHAT,
  FIRST_USE,
  type SdkWorld,
  said,
  sdkRefusal,
  startSdkWorld,
  watchedIdentity,
} from '../../../support/client-auth/exchange/sdk-world.js';
import { json } from '../../../support/proxy/upstream-scripts.js';

const PAID = { required_claims: [{ path: 'plan', equals: 'pro' }] };

let world: SdkWorld;

beforeAll(async () => {
  world = await startSdkWorld();
});

afterEach(() => world.tidy());

afterAll(() => world.stop());

describe('recovery', () => {
  it('attest_failed on token: registration lost on the server → a new key, one more challenge and token, served', async () => {
    const app = await world.deviceApp('app_install');
    const { keystore, say } = await world.installOnPhone(app);
    await say();
    await world.dataSource.query('DELETE FROM device_keys WHERE app_id = $1', [app.id]);
    const again = await world.install(app, { keystore });
    await again.say();
    expect(again.edge.takeRoutes()).toEqual(['challenge', 'token', ...FIRST_USE]);
    expect(keystore.keychain.get(app.id)).toBe(keystore.generated[1]);
  });

  it('attest_failed on token: another user signs in on the phone → a new key, both users keep theirs', async () => {
    const app = await world.deviceApp('issuer');
    const keystore = new DeviceKeystore(world.vendor);
    for (const sub of ['eve', 'finn']) {
      const { say } = await world.install(app, { keystore, issuerToken: () => world.issuer.token({ sub }) });
      await say();
    }
    const keys = await world.dataSource.query('SELECT user_id FROM device_keys WHERE app_id = $1 ORDER BY 1', [app.id]);
    expect([keystore.generated.length, keys]).toEqual([2, [{ user_id: 'eve' }, { user_id: 'finn' }]]);
  });

  it('attest_failed on token: environment no longer allowed → one new key is tried, without further retries; allowed again → served', async () => {
    const app = await world.deviceApp('app_install');
    const { keystore, say } = await world.installOnPhone(app);
    await say();
    const allow = (environment: string) => ({
      config: { authentication: deviceAuthentication({ source: 'app_install' }, [environment]) },
    });
    await changeApp(world, app, allow('development'));
    const again = await world.install(app, { keystore });
    const error = await sdkRefusal(again.say());
    expect([error.status, error.code]).toEqual([403, 'attest_failed']);
    expect(again.edge.takeRoutes()).toEqual(['challenge', 'token', 'challenge', 'register']);
    await changeApp(world, app, allow('production'));
    await again.say();
    expect(again.edge.takeRoutes()).toEqual(['challenge', 'token', 'completions']);
  });

  it('Local signing failure: restored from a copy, keys missing → a new key, served', async () => {
    const app = await world.deviceApp('app_install');
    const { keystore, say } = await world.installOnPhone(app);
    await say();
    keystore.loseKeys();
    const again = await world.install(app, { keystore });
    await again.say();
    expect(again.edge.takeRoutes()).toEqual(['challenge', ...FIRST_USE]);
  });

  it('issuer_claims_missing: the entitlement arrives during the hook → one retry, the delay is recorded', async () => {
    const app = await world.deviceApp('issuer', { issuer: PAID });
    let plan = 'free';
    const identity = watchedIdentity(() => world.issuer.token({ sub: 'gil', plan }));
    const recoverClaims = () => {
      plan = 'pro';
      world.clock.advance(42_000);
    };
    const { edge, say } = await world.installOnPhone(app, { ...identity, recoverClaims });
    await say();
    expect([edge.takeRoutes(), identity.asked]).toEqual([
      ['challenge', 'register', ...FIRST_USE],
      [false, true],
    ]);
    const refused = { event: 'register', outcome: 'issuer_claims_missing', reason: 'claims_missing' };
    expect(await new AuthTrail(world, app.id).events()).toMatchObject([
      { ...refused, user_id: 'gil', claim_delay_ms: null },
      { event: 'register', outcome: 'ok', user_id: 'gil', claim_delay_ms: 42_000 },
      { event: 'token_exchange', outcome: 'ok', user_id: 'gil', claim_delay_ms: null },
    ]);
    const recovered = world.logs.filter((line) => line.message === 'claim_propagation_recovered');
    expect(recovered.filter(({ appId }) => appId === app.id)).toMatchObject([{ delayMs: 42_000 }]);
  });

  it('issuer_claims_missing: still missing after the hook → surfaced, no third attempt', async () => {
    const app = await world.deviceApp('issuer', { issuer: PAID });
    let hooks = 0;
    const identity = watchedIdentity(() => world.issuer.token({ sub: 'hal' }));
    const recoverClaims = () => void hooks++;
    const { edge, say } = await world.installOnPhone(app, { ...identity, recoverClaims });
    expect(await sdkRefusal(say())).toMatchObject({ status: 403, code: 'issuer_claims_missing', isRetryable: false });
    expect([edge.takeRoutes(), hooks]).toEqual([['challenge', 'register', 'challenge', 'register'], 1]);
  });

  it('issuer_token_rejected: an expired token → one retry with a fresh one, no hook', async () => {
    const app = await world.backendApp();
    let hooks = 0;
    const identity = watchedIdentity((isFresh) => world.issuer.token({ sub: 'ida' }, isFresh ? {} : { expiresIn: 0 }));
    const recoverClaims = () => void hooks++;
    const { edge, say } = await world.install(app, { apiKey: app.key, ...identity, recoverClaims });
    await say();
    expect([edge.takeRoutes(), identity.asked, hooks]).toEqual([['token', 'token', 'completions'], [false, true], 0]);
  });

  it('rotated issuer keys: within a minute of the last fetch → refused after one retry; later → served', async () => {
    const issuer = await world.ownIssuer();
    const app = await world.deviceApp('issuer', { issuer: issuer.issuerConfig() });
    const setup = { issuerToken: () => issuer.token({ sub: 'jon' }) };
    await (await world.installOnPhone(app, setup)).say();
    await issuer.rotate();
    const { edge, say } = await world.installOnPhone(app, setup);
    expect(await sdkRefusal(say())).toMatchObject({ status: 403, code: 'issuer_token_rejected' });
    expect([edge.takeRoutes(), issuer.fetches()]).toEqual([['challenge', 'register', 'challenge', 'register'], 1]);
    world.clock.advance(60_000);
    await say();
    expect([edge.takeRoutes(), issuer.fetches()]).toEqual([FIRST_USE, 2]);
  });

  it('issuer_verification_unavailable: the issuer is down → surfaced, no retry; back → served', async () => {
    const issuer = await world.ownIssuer();
    const app = await world.deviceApp('issuer', { issuer: issuer.issuerConfig() });
    const identity = watchedIdentity(() => issuer.token({ sub: 'kim' }));
    const { edge, say } = await world.installOnPhone(app, identity);
    await issuer.die();
    const error = await sdkRefusal(say());
    expect(error).toMatchObject({ status: 503, code: 'issuer_verification_unavailable', isRetryable: true });
    expect([error.retryAfterSeconds, identity.asked, edge.takeRoutes()]).toEqual([
      undefined,
      [false],
      ['challenge', 'register'],
    ]);
    await issuer.revive();
    world.clock.advance(2_000);
    await say();
    expect(edge.takeRoutes()).toEqual(FIRST_USE);
  });
});

describe('refusals', () => {
  it('blocked while holding a token → calls and exchanges refused, nothing repeated; unblocked → served', async () => {
    const app = await world.deviceApp('app_install');
    const { edge, keystore, say } = await world.installOnPhone(app);
    await say();
    const userId = keystore.generated[0] ?? '';
    await world.api.post(`/v1/admin/apps/${app.id}/users/${encodeURIComponent(userId)}/block`);
    const again = await world.install(app, { keystore });
    for (const call of [say, again.say])
      expect(await sdkRefusal(call())).toMatchObject({ status: 403, code: 'auth_required', isRetryable: false });
    expect(edge.takeRoutes()).toEqual([...FIRST_USE, 'completions']);
    expect(again.edge.takeRoutes()).toEqual(['challenge', 'token']);
    await world.api.post(`/v1/admin/apps/${app.id}/users/${encodeURIComponent(userId)}/unblock`);
    await Promise.all([say(), again.say()]);
    expect([edge.takeRoutes(), again.edge.takeRoutes()]).toEqual([
      ['completions'],
      ['challenge', 'token', 'completions'],
    ]);
  });

  it('application disabled → refused everywhere; enabled again → the same token serves', async () => {
    const app = await world.deviceApp('app_install');
    const { edge, say } = await world.installOnPhone(app);
    await say();
    await changeApp(world, app, { status: 'disabled' });
    const other = await world.installOnPhone(app);
    for (const call of [say, other.say])
      expect(await sdkRefusal(call())).toMatchObject({ status: 403, code: 'app_disabled' });
    await changeApp(world, app, { status: 'active' });
    await say();
    expect(edge.takeRoutes()).toEqual([...FIRST_USE, 'completions', 'completions']);
  });

  it('429 with Retry-After: challenges exhausted → the SDK waits without a call and still uses its cached token; then served', async () => {
    const app = await world.deviceApp('app_install');
    const { edge, client, keystore, say } = await world.installOnPhone(app);
    await say();
    const challenges = Array.from({ length: 58 }, () =>
      fetch(`${edge.url}v1/apps/${app.id}/auth/challenge`, { method: 'POST' }).then(({ status }) => status),
    );
    expect(new Set(await Promise.all(challenges))).toEqual(new Set([200]));
    edge.takeRoutes();
    const setup = { baseUrl: edge.url, appId: app.id, clock: world.clock, keystore };
    const relaunched = new MobileClient(setup);
    const first = await sdkRefusal(said(relaunched, world.slug));
    expect(first).toMatchObject({ status: 429, code: 'rate_limited', limitScope: undefined, isRetryable: true });
    const waitSeconds = first.retryAfterSeconds ?? 0;
    expect([waitSeconds >= 1 && waitSeconds <= 60, first.data.scope]).toEqual([true, 'app_auth_challenge']);
    const untilResetMs = (first.resetAt?.getTime() ?? 0) - world.clock.nowMs();
    expect([untilResetMs > (waitSeconds - 1) * 1_000, untilResetMs <= waitSeconds * 1_000]).toEqual([true, true]);
    expect(edge.takeRoutes()).toEqual(['challenge']);

    world.clock.advance(500);
    const held = await sdkRefusal(said(relaunched, world.slug));
    expect([held.code, held.retryAfterSeconds, edge.takeRoutes()]).toEqual(['rate_limited', waitSeconds - 0.5, []]);
    await said(client, world.slug);
    expect(edge.takeRoutes()).toEqual(['completions']);
    world.clock.advance((waitSeconds - 0.5) * 1_000);
    await said(relaunched, world.slug);
    expect(edge.takeRoutes()).toEqual(['challenge', 'token', 'completions']);
  });

  it('429 with a decimal Retry-After → the SDK waits that long, to the millisecond', async () => {
    const app = await world.deviceApp('app_install');
    const { edge, say } = await world.installOnPhone(app);
    const error = { code: 'rate_limited', message: 'Too many.' };
    edge.answer({ status: 429, body: { error }, headers: { 'retry-after': '1.5' } });
    for (const expected of [1.5, 0.001]) {
      expect((await sdkRefusal(say())).retryAfterSeconds).toBe(expected);
      world.clock.advance(1_499);
    }
    await say();
    expect(edge.takeRoutes()).toEqual(['challenge', ...FIRST_USE]);
  });

  it.each([
    ['a value of each kind', { scope: 'user', limit: 60, final: false }, 'app_rate_limited'],
    ['an object inside', { scope: { of: 'user' } }, 'unknown'],
    ['a list inside', { scopes: ['user'] }, 'unknown'],
    ['null inside', { scope: 'user', resetAt: null }, 'unknown'],
  ])('Error decode: data with %s → %j is %s', async (_, data, code) => {
    const app = await world.deviceApp('app_install');
    const { edge, say } = await world.installOnPhone(app);
    edge.answer({ status: 429, body: { error: { code: 'app_rate_limited', message: 'Too many.', data } } });
    const error = await sdkRefusal(say());
    expect([error.status, error.code, error.limitScope, error.isRetryable]).toEqual([
      429,
      code,
      code === 'unknown' ? undefined : 'user',
      true,
    ]);
  });

  it.each([
    ['a path the application does not allow', 'files', CHAT, 403, 'path_not_allowed'],
    ['a body without a model', 'v1/chat/completions', {}, 400, 'invalid_request'],
  ])('Error decode: %s → our envelope is read', async (_, path, body, status, code) => {
    const app = await world.deviceApp('app_install');
    const { client } = await world.installOnPhone(app);
    expect(await sdkRefusal(client.call(world.slug, path, body))).toMatchObject({ status, code, isRetryable: false });
  });

  it('an error of the provider → relayed unchanged; unknown to the SDK, but with a usable status', async () => {
    const app = await world.deviceApp('app_install');
    const { say } = await world.installOnPhone(app);
    world.upstream.script(json(529, { error: { type: 'overloaded', param: null } }));
    expect(await sdkRefusal(say())).toMatchObject({ status: 529, code: 'unknown', isRetryable: true });
  });
});
