import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { DeviceKeysRepository } from '../../../../src/client-auth/devices/device-keys.repository.js';
import { withSignals } from '../../../support/client-auth/devices/device.js';
import { BUNDLE_ID, TEAM_ID } from '../../../support/client-auth/devices/phone.js';
import { AuthTrail } from '../../../support/client-auth/exchange/auth-trail.js';
import { changeApp, type MobileWorld, startMobileWorld } from '../../../support/client-auth/exchange/mobile-world.js';
import { FrameworkClient } from '../../../support/client-auth/framework/framework-client.js';
import { FakeClock } from '../../../support/clock.js';
import { eventually } from '../../../support/eventually.js';
import { json } from '../../../support/proxy/upstream-scripts.js';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const RECORDED = { withinMs: 10_000 };
const APPLE = { team_id: TEAM_ID, bundle_id: BUNDLE_ID, framework_client: true };
const MESSAGE = {
  ...{ id: 'msg_1', type: 'message', role: 'assistant', model: 'claude-haiku-4-5' },
  ...{ content: [{ type: 'text', text: 'Hello' }], usage: { input_tokens: 9, output_tokens: 3 } },
};

const clock = new FakeClock();
let world: MobileWorld;
let phones = 0;
const UNKNOWN = 'nothing-abc123';

beforeAll(async () => {
  world = await startMobileWorld({ clock });
  await world.provider({ type: 'anthropic', slug: 'claude' });
  await world.provider({ type: 'openai', slug: 'other' });
});

afterAll(() => world.stop());

beforeEach(() => {
  world.upstream.script(json(200, MESSAGE));
});

const newApp = (app_attest: object = APPLE) => world.proofsApp('app_install', { app_attest });

function clientOf(app: { id: string }, slug = 'claude'): FrameworkClient {
  const address = `14.0.${Math.floor(++phones / 250)}.${phones % 250}`;
  return new FrameworkClient({ world, appId: app.id, slug, vendor: world.vendor, clock, address });
}

async function installed() {
  const app = await newApp();
  const trail = new AuthTrail(world, app.id);
  return { app, trail, client: clientOf(app) };
}

const post = (path: string, body: object) => world.as(undefined).post(path, body);
const at = (app: { id: string }, path: string, provider = 'claude') =>
  `/v1/apps/${app.id}/proxy/${provider}/v1/oauth/${path}`;

describe('the framework’s client with the gateway’s address', () => {
  it('first use → challenge, registration with the first token, call: its install is the user', async () => {
    const { app, client, trail } = await installed();
    const answer = await client.call();
    expect([answer.status, answer.body.content]).toEqual([200, MESSAGE.content]);
    expect(client.routes).toEqual(['challenge', 'register', 'call']);
    const userId = client.device?.keyId;
    expect(await trail.events()).toMatchObject([
      { event: 'register', outcome: 'ok', user_id: userId, auth_method: 'attest', app_version: null },
    ]);
    const { users } = (await world.api.get(`/v1/admin/apps/${app.id}/users`)).body;
    expect(users.map(({ id }: { id: string }) => id)).toEqual([userId]);
    await client.call();
    expect(client.routes).toEqual(['challenge', 'register', 'call', 'call']);
  });

  it('signed signals → calls name no version, events have the attested one; X-App-Version counts for others', async () => {
    const end_user = { source: 'app_install' };
    const authentication = { type: 'device_proofs', end_user, proofs: { app_attest: APPLE }, min_app_version: '3' };
    const app = await world.app({ authentication });
    const [client, trail] = [clientOf(app), new AuthTrail(world, app.id)];
    client.authenticatorData = withSignals({ category: 4, version: '2.10' });
    expect((await client.call()).status).toBe(200);
    client.dropToken();
    client.authenticatorData = withSignals({ category: 4, version: '2.11' });
    expect((await client.call()).status).toBe(200);
    expect(await trail.events()).toMatchObject([
      { event: 'register', outcome: 'ok', app_version: '2.10', facts: { category: 4, framework_client: true } },
      { event: 'token_exchange', outcome: 'ok', app_version: '2.11', facts: { bundle_version: '2.11' } },
    ]);
    const usage = `/v1/admin/apps/${app.id}/events`;
    await eventually(async () => {
      const { events } = (await world.api.get(usage)).body;
      return events.map((event: { app_version: string }) => event.app_version).join() === '2.11,2.10';
    }, RECORDED);
    const preview = await world.api.post(`/v1/admin/apps/${app.id}/enforcement-preview`, { authentication });
    expect(preview.body).toMatchObject({ attempts: 2, would_reject: 0 });
    const register = await world.phone(app).register();
    expect(register.body.error.code).toBe('app_version_too_old');
  });

  it('an attested version that is too old → 403 for a registration and a token, without another key', async () => {
    const app = await newApp({ ...APPLE, min_bundle_version: '2.10' });
    const client = clientOf(app);
    client.authenticatorData = withSignals({ version: '2.9' });
    await expect(client.call()).rejects.toMatchObject({ reason: 'failed' });
    expect([client.last?.status, client.last?.body.error.code]).toEqual([403, 'app_version_too_old']);
    client.authenticatorData = withSignals({ version: '2.10' });
    await client.call();
    client.dropToken();
    client.routes.length = 0;
    client.authenticatorData = withSignals({ version: '2.9' });
    await expect(client.call()).rejects.toMatchObject({ reason: 'failed' });
    expect([client.routes, client.last?.status]).toEqual([['token'], 403]);
  });

  it('a proof that fails in observe → tokens that say so, and calls that are served', async () => {
    const app = await newApp({ ...APPLE, mode: 'observe', allowed_categories: [4] });
    const [client, trail] = [clientOf(app), new AuthTrail(world, app.id)];
    client.authenticatorData = withSignals({ category: 2, version: '7' });
    expect((await client.call()).status).toBe(200);
    client.dropToken();
    expect((await client.call()).status).toBe(200);
    expect(client.routes).toEqual(['challenge', 'register', 'call', 'token', 'call']);
    expect(await trail.events()).toMatchObject([
      { outcome: 'would_reject', reason: 'category_not_allowed', auth_method: 'unproven', app_version: '7' },
      { outcome: 'would_reject', reason: 'key_unknown', auth_method: 'unproven', app_version: null },
    ]);
  });

  it('an hour later → one refresh for all callers, from a minute before the end, with a new challenge', async () => {
    const { client, trail } = await installed();
    await client.call();
    clock.advance(HOUR - MINUTE - SECOND);
    await client.call();
    expect(client.routes.splice(0)).toEqual(['challenge', 'register', 'call', 'call']);
    await trail.skip();
    clock.advance(SECOND);
    await Promise.all([client.bearer(), client.bearer()]);
    expect(client.routes).toEqual(['challenge', 'token']);
    const about = { outcome: 'ok', user_id: client.device?.keyId, auth_method: 'attest', app_version: null };
    expect(await trail.events()).toMatchObject([{ event: 'token_exchange', ...about }]);
  });

  it('a token that is needed soon after → the next challenge is used, once', async () => {
    const { client } = await installed();
    await client.call();
    client.routes.length = 0;
    client.dropToken();
    await client.call();
    expect(client.routes).toEqual(['token', 'call']);
    client.routes.length = 0;
    client.dropToken();
    clock.advance(5 * MINUTE - 14 * SECOND);
    await client.call();
    expect(client.routes).toEqual(['challenge', 'token', 'call']);
  });

  it('a pending challenge → issued again with its remaining life, until it expires', async () => {
    const app = await newApp();
    const key_id = world.vendor.device().keyId;
    const ask = async () => (await post(at(app, 'app-attest/challenge'), { client_id: app.id, key_id })).body;
    const first = await ask();
    expect(first).toEqual({ challenge: expect.stringMatching(/^[\w-]{43}$/), expires_in: 300 });
    await world.dataSource.query(
      `UPDATE auth_challenges SET expires_at = now() + interval '10 seconds' WHERE challenge = $1`,
      [first.challenge],
    );
    const again = await ask();
    expect(again.challenge).toBe(first.challenge);
    expect(again.expires_in).toBeGreaterThanOrEqual(9);
    expect(again.expires_in).toBeLessThanOrEqual(10);
    await world.dataSource.query('UPDATE auth_challenges SET expires_at = now() WHERE challenge = $1', [
      first.challenge,
    ]);
    expect(await ask()).toMatchObject({ challenge: expect.not.stringMatching(first.challenge), expires_in: 300 });
    const other = await post(at(app, 'app-attest/challenge'), {
      ...{ client_id: app.id, key_id: world.vendor.device().keyId },
    });
    expect(other.body.challenge).not.toBe(first.challenge);
  });

  it('a challenge that is almost expired, or says nothing of its life → waited out', async () => {
    const { client } = await installed();
    const lives = [10, undefined, 86_401, 300];
    client.edit = (route, received) =>
      route === 'challenge' ? { ...received, body: { ...received.body, expires_in: lives.shift() } } : received;
    expect((await client.call()).status).toBe(200);
    expect(client.waitedMs).toEqual([11 * SECOND, SECOND, SECOND]);
    expect(client.routes).toEqual(['challenge', 'challenge', 'challenge', 'challenge', 'register', 'call']);
  });

  it('an unknown key → 401 twice, then a new key; another one only after ten minutes', async () => {
    const { app, client, trail } = await installed();
    await client.call();
    const first = client.device?.keyId;
    await world.dataSource.query('DELETE FROM device_keys WHERE app_id = $1', [app.id]);
    client.dropToken();
    client.routes.length = 0;
    await trail.skip();
    await expect(client.call()).rejects.toMatchObject({ reason: 'new_key_too_soon' });
    expect(client.routes).toEqual(['token', 'challenge', 'token']);
    expect(await trail.events()).toMatchObject([
      { outcome: 'attest_failed', reason: 'key_unknown', user_id: null },
      { outcome: 'attest_failed', reason: 'key_unknown', user_id: null },
    ]);
    clock.advance(10 * MINUTE);
    client.routes.length = 0;
    expect((await client.call()).status).toBe(200);
    expect(client.routes).toEqual(['challenge', 'token', 'challenge', 'token', 'challenge', 'register', 'call']);
    expect(client.device?.keyId).not.toBe(first);
  });

  it('a wrong assertion → 401 without a word; a second try with a fresh challenge serves', async () => {
    const { client, trail } = await installed();
    await client.call();
    client.dropToken();
    await trail.skip();
    client.routes.length = 0;
    let wrong = true;
    const device = client.device;
    if (device === undefined) throw new TypeError('no device');
    const genuine = device.assert.bind(device);
    device.assert = (request, changes) => {
      const clientData = wrong ? 'something else' : changes?.clientData;
      wrong = false;
      return genuine(request, { ...changes, ...(clientData !== undefined && { clientData }) });
    };
    expect((await client.call()).status).toBe(200);
    expect(client.routes).toEqual(['token', 'challenge', 'token', 'call']);
    expect(await trail.events()).toMatchObject([
      { outcome: 'attest_failed', reason: 'signature_invalid' },
      { outcome: 'ok', reason: null },
    ]);
  });

  it('too many from one address → 429: the device waits as long as it is told', async () => {
    const { app, client } = await installed();
    await client.call();
    const headers = { 'x-forwarded-for': client.address };
    const tried = await Promise.all(
      Array.from({ length: 61 }, () => world.as(undefined).post(at(app, 'token'), {}, { headers })),
    );
    expect(tried.map(({ status }) => status).filter((status) => status === 429).length).toBeGreaterThan(0);
    client.dropToken();
    await expect(client.call()).rejects.toMatchObject({ reason: 'device_limited' });
    const routes = client.routes.length;
    await expect(client.call()).rejects.toMatchObject({ reason: 'device_limited' });
    expect(client.routes.slice(routes)).not.toContain('token');
    clock.advance(MINUTE);
    expect((await client.call()).status).toBe(200);
  });

  it('429 without Retry-After → a minute for a token, a quarter of an hour for a registration', async () => {
    const { client } = await installed();
    const limited = { status: 429, retryAfter: null, body: {} };
    client.edit = (route, received) => (route === 'register' ? limited : received);
    await expect(client.call()).rejects.toMatchObject({ reason: 'quota' });
    client.edit = (_, received) => received;
    clock.advance(900 * SECOND - 1);
    await expect(client.call()).rejects.toMatchObject({ reason: 'quota' });
    clock.advance(1);
    expect((await client.call()).status).toBe(200);
    client.edit = (route, received) => (route === 'token' ? limited : received);
    client.dropToken();
    await expect(client.call()).rejects.toMatchObject({ reason: 'device_limited' });
    client.edit = (_, received) => received;
    clock.advance(MINUTE - 1);
    await expect(client.call()).rejects.toMatchObject({ reason: 'device_limited' });
    clock.advance(1);
    expect((await client.call()).status).toBe(200);
  });

  it('a call that is 401 → the token is dropped, and the call repeated once', async () => {
    const { client } = await installed();
    await client.call();
    client.routes.length = 0;
    client.spoilToken();
    expect((await client.call()).status).toBe(200);
    expect(client.routes).toEqual(['call', 'token', 'call']);
  });

  it('a registration that fails → 403, and the key is not kept', async () => {
    const { client, trail } = await installed();
    const attest = client.vendor.device.bind(client.vendor);
    client.vendor = { device: () => Object.assign(attest(), { attest: async () => 'AAAA' }) };
    await expect(client.call()).rejects.toMatchObject({ reason: 'failed' });
    expect(client.device).toBeUndefined();
    if (client.last === undefined) throw new TypeError('no answer');
    await trail.isRefused(client.last, {
      event: 'register',
      status: 403,
      code: 'attest_failed',
      reason: 'cbor_invalid',
    });
  });
});

describe('what is not offered', () => {
  const key_id = Buffer.alloc(32, 7).toString('base64');
  const bodies = (id: string) =>
    [
      ['app-attest/challenge', { client_id: id, key_id }],
      ['app-attest/register', { client_id: id, key_id, attestation_object: 'AAAA' }],
      [
        'token',
        { grant_type: 'urn:anthropic:params:oauth:grant-type:app-attest', client_id: id, key_id, assertion: 'AAAA' },
      ],
    ] as const;

  it.each<[string, () => Promise<{ id: string }>, string]>([
    ['switched off', () => newApp({ ...APPLE, framework_client: false }), 'claude'],
    ['by default', () => newApp({ team_id: TEAM_ID, bundle_id: BUNDLE_ID }), 'claude'],
    ['an application of App Attest alone', () => world.deviceApp('app_install'), 'claude'],
    ['users of an issuer', () => world.proofsApp('issuer', { app_attest: APPLE }), 'claude'],
    ['a provider that speaks otherwise', () => newApp(), 'other'],
    ['an unknown provider', () => newApp(), 'nothing'],
    ['an application with a key', () => world.app(), 'claude'],
    ['an unknown application', async () => ({ id: UNKNOWN }), 'claude'],
  ])('%s → 404, no event', async (_, make, provider) => {
    const app = await make();
    for (const [path, body] of bodies(app.id))
      expect([path, (await post(at(app, path, provider), body)).status]).toEqual([path, 404]);
    if (app.id !== UNKNOWN) expect(await new AuthTrail(world, app.id).events()).toEqual([]);
  });

  it('another client id → 404', async () => {
    const app = await newApp();
    for (const [path, body] of bodies('another')) expect((await post(at(app, path), body)).status).toBe(404);
  });

  it('asked by the client → it asks nowhere again', async () => {
    const app = await newApp({ ...APPLE, framework_client: false });
    const client = clientOf(app);
    await expect(client.call()).rejects.toMatchObject({ reason: 'not_offered' });
    const asked = client.routes.length;
    await expect(client.call()).rejects.toMatchObject({ reason: 'not_offered' });
    expect(client.routes.length).toBe(asked);
  });

  it('bad bodies → 400; another method, or an address with an escape → as any call', async () => {
    const app = await newApp();
    for (const [path, body] of bodies(app.id))
      for (const wrong of [{}, [], { ...body, key_id: 'short' }, { ...body, key_id: 7 }, { ...body, client_id: '' }])
        expect([path, (await post(at(app, path), wrong)).status]).toEqual([path, 400]);
    const wrongGrant = { ...bodies(app.id)[2][1], grant_type: 'authorization_code' };
    expect((await post(at(app, 'token'), wrongGrant)).status).toBe(400);
    expect((await world.as(undefined).get(at(app, 'token'))).status).toBe(401);
    expect((await post(at(app, 'tokens'), {})).status).toBe(401);
  });

  it('a disabled application → 403, without a new key', async () => {
    const { app, client } = await installed();
    await client.call();
    await changeApp(world, app, { status: 'disabled' });
    client.dropToken();
    await expect(client.call()).rejects.toMatchObject({ reason: 'failed' });
  });

  it('a blocked user → 401 for a token and a registration', async () => {
    const { app, client } = await installed();
    await client.call();
    const { device } = client;
    if (device === undefined) throw new TypeError('no device');
    const user = encodeURIComponent(device.keyId);
    await world.api.post(`/v1/admin/apps/${app.id}/users/${user}/block`);
    client.dropToken();
    client.routes.length = 0;
    await expect(client.call()).rejects.toMatchObject({ reason: 'new_key_too_soon' });
    expect(client.routes).toEqual(['token', 'challenge', 'token']);
    const ids = { client_id: app.id, key_id: device.keyId };
    const { challenge } = (await post(at(app, 'app-attest/challenge'), ids)).body;
    const attestation_object = await device.attest({ teamId: TEAM_ID, bundleId: BUNDLE_ID, challenge });
    const again = await post(at(app, 'app-attest/register'), { ...ids, attestation_object });
    expect([again.status, again.body.error.code]).toEqual([401, 'auth_required']);
  });

  it('trouble of the gateway → 503, never a failed proof', async () => {
    const { client } = await installed();
    await client.call();
    client.dropToken();
    const keys = world.gateway.app.get(DeviceKeysRepository, { strict: false });
    const { findDevice } = keys;
    keys.findDevice = () => Promise.reject(Object.assign(new Error('down'), { code: '57P01' }));
    try {
      await expect(client.call()).rejects.toMatchObject({ reason: 'failed' });
      expect(client.last?.status).toBe(503);
    } finally {
      keys.findDevice = findDevice;
    }
    expect((await client.call()).status).toBe(200);
  });

  it('one challenge for two registrations at once → one of the two is served', async () => {
    const app = await newApp();
    const device = world.vendor.device();
    const ids = { client_id: app.id, key_id: device.keyId };
    const { challenge } = (await post(at(app, 'app-attest/challenge'), ids)).body;
    const attestation_object = await device.attest({ teamId: TEAM_ID, bundleId: BUNDLE_ID, challenge });
    const register = () => post(at(app, 'app-attest/register'), { ...ids, attestation_object });
    const answers = await Promise.all([register(), register()]);
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 403]);
    expect((await register()).status).toBe(403);
  });
});
