import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { AuthTrail } from '../../../support/client-auth/exchange/auth-trail.js';
import { refreshAfterSeconds } from '../../../support/client-auth/exchange/mobile-client.js';
import { OPERATOR_PROXY_PREFIX } from '../../../support/client-auth/exchange/operator-proxy.js';
import {
  CHAT,
  FIRST_USE,
  type SdkWorld,
  sdkRefusal,
  startSdkWorld,
  VERSION,
  watchedIdentity,
} from '../../../support/client-auth/exchange/sdk-world.js';
import { eventually } from '../../../support/eventually.js';
import { event, sse } from '../../../support/proxy/upstream-scripts.js';

const BASE64 = /^(?:[A-Za-z0-9+/]{4})+(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

let world: SdkWorld;

beforeAll(async () => {
  world = await startSdkWorld();
});

afterEach(() => world.tidy());

afterAll(() => world.stop());

describe('what is on the wire', () => {
  it('URLs, Auth calls, First use, Encoding: attestation alone → five calls, exactly as the SDK sends them', async () => {
    const app = await world.deviceApp('app_install');
    const { edge, keystore, say } = await world.installOnPhone(app);
    expect(JSON.parse(await say())).toMatchObject({ object: 'chat.completion' });
    const [first, register, second, token, call] = edge.calls;
    const at = `${OPERATOR_PROXY_PREFIX}/v1/apps/${app.id}`;
    expect(edge.calls.map(({ method, path }) => `${method} ${path.slice(at.length)}`)).toEqual([
      'POST /auth/challenge',
      'POST /auth/register',
      'POST /auth/challenge',
      'POST /auth/token',
      `POST /proxy/${world.slug}/v1/chat/completions`,
    ]);
    expect([first?.body, second?.body]).toEqual(['{}', '{}']);
    for (const { headers } of edge.calls.slice(0, 4)) {
      expect(headers['content-type']).toBe('application/json');
      expect([headers.authorization, headers['x-app-version']]).toEqual([undefined, undefined]);
    }
    const [keyId] = keystore.generated;
    const flat = { key_id: keyId, challenge: expect.stringMatching(/^[\w-]{43}$/) };
    expect(JSON.parse(register?.body ?? '')).toEqual({ ...flat, attestation: expect.stringMatching(BASE64) });
    expect(JSON.parse(token?.body ?? '')).toEqual({ ...flat, assertion: expect.stringMatching(BASE64) });
    expect(call?.headers).toMatchObject({
      authorization: expect.stringMatching(/^Bearer [\w-]+\.[\w-]+\.[\w-]+$/),
      'x-app-version': VERSION,
    });
    expect(await world.recorded(app)).toMatchObject([{ user_id: keyId, auth_method: 'attest', app_version: VERSION }]);
  });

  it('Modes: attestation and issuer → the token in both proofs, the call belongs to the signed-in user', async () => {
    const app = await world.deviceApp('issuer');
    const identity = watchedIdentity(() => world.issuer.token({ sub: 'ada' }));
    const { edge, say } = await world.installOnPhone(app, identity);
    await say();
    const proofs = edge.calls.filter(({ body }) => body.includes('issuer_token'));
    expect(proofs.map(({ path }) => path.split('/').at(-1))).toEqual(['register', 'token']);
    expect(edge.takeRoutes()).toEqual(FIRST_USE);
    expect(identity.asked).toEqual([false]);
    expect(await world.recorded(app)).toMatchObject([{ user_id: 'ada', auth_method: 'attest' }]);
  });

  it('Modes: API key and issuer → one exchange of exactly two members', async () => {
    const app = await world.backendApp();
    const issuerToken = await world.issuer.token({ sub: 'ben' });
    const { edge, say } = await world.install(app, { apiKey: app.key, issuerToken: async () => issuerToken });
    await say();
    expect(JSON.parse(edge.calls[0]?.body ?? '')).toEqual({ api_key: app.key, issuer_token: issuerToken });
    expect(edge.takeRoutes()).toEqual(['token', 'completions']);
    expect(await world.recorded(app)).toMatchObject([{ user_id: 'ben', auth_method: 'api_key' }]);
  });

  it.each([
    ['nobody', undefined, undefined, undefined],
    ['the usual header', { source: 'header' }, undefined, 'x-end-user-id'],
    ['a header of its own', { source: 'header', header: 'X-Customer' }, 'X-Customer', 'x-customer'],
  ])('Modes: API key direct, users named by %s → key, version and user in headers', async (_, end_user, name, sent) => {
    const app = await world.app({ authentication: { type: 'api_key', end_user } });
    const userId = end_user && 'cleo';
    const { edge, say } = await world.install(app, { apiKey: app.key, userId, userHeader: name });
    await say();
    const headers = edge.calls[0]?.headers;
    expect([edge.takeRoutes(), headers?.authorization]).toEqual([['completions'], `Bearer ${app.key}`]);
    expect([headers?.['x-app-version'], sent && headers?.[sent]]).toEqual([VERSION, userId]);
    expect(await world.recorded(app)).toMatchObject([{ user_id: userId ?? null, app_version: VERSION }]);
  });

  it('Data-plane request: version unknown → "0", served and recorded', async () => {
    const app = await world.deviceApp('app_install');
    const { say } = await world.installOnPhone(app, { appVersion: undefined });
    await say();
    expect(await world.recorded(app)).toMatchObject([{ app_version: '0' }]);
  });

  it('a streamed answer → every chunk reaches the phone unchanged', async () => {
    const app = await world.deviceApp('app_install');
    const { client } = await world.installOnPhone(app);
    const pieces = ['Hel', 'lo'].map((content) => event({ choices: [{ index: 0, delta: { content } }] }));
    world.upstream.script(sse([...pieces, event('[DONE]')], { delayMs: 100 }));
    const answer = await client.call(world.slug, 'v1/chat/completions', { ...CHAT, stream: true });
    const arrived: string[] = [];
    for await (const piece of answer.body ?? []) arrived.push(Buffer.from(piece).toString());
    expect([arrived.length > 1, arrived.join('')]).toEqual([true, [...pieces, event('[DONE]')].join('')]);
    expect(await world.recorded(app)).toMatchObject([{ status: 'ok' }]);
  });
});

describe('what the SDK stores', () => {
  it('Stored: application deleted and installed again → the key is still known, only a token is fetched', async () => {
    const app = await world.deviceApp('app_install');
    const { keystore, say } = await world.installOnPhone(app);
    await say();
    const again = await world.install(app, { keystore });
    await again.say();
    expect(again.edge.takeRoutes()).toEqual(['challenge', 'token', 'completions']);
  });

  it('Stored: registration refused → no key is kept, the next attempt creates a new one', async () => {
    const app = await world.deviceApp('app_install');
    const { edge, keystore, say } = await world.installOnPhone(app);
    edge.answer({ status: 200, body: { challenge: 'AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8' } });
    expect(await sdkRefusal(say())).toMatchObject({ status: 403, code: 'attest_failed', isRetryable: false });
    expect(keystore.keychain.size).toBe(0);
    await say();
    expect(edge.takeRoutes()).toEqual(['challenge', 'register', ...FIRST_USE]);
  });

  it.each([
    [3600, 3300],
    [1500, 1200],
    [600, 480],
    [60, 45],
    [20, 5],
  ])('Token cache: lifetime of %d s → replaced after %d s', (lifetime, after) => {
    expect(refreshAfterSeconds(lifetime)).toBe(after);
  });

  it('Token cache: before 3300 s → kept; from then on → replaced in the background, calls continue', async () => {
    const app = await world.deviceApp('app_install');
    const { edge, say } = await world.installOnPhone(app);
    await say();
    const bearer = () => edge.calls.findLast(({ headers }) => headers.authorization)?.headers.authorization;
    const first = bearer();
    world.clock.advance(3_299_000);
    await say();
    expect([bearer() === first, edge.takeRoutes()]).toEqual([true, [...FIRST_USE, 'completions']]);
    world.clock.advance(1_000);
    await say();
    expect(bearer()).toBe(first);
    await eventually(() => edge.calls.some(({ path }) => path.endsWith('/token')), { withinMs: 10_000 });
    await eventually(async () => (await say()) !== '' && bearer() !== first, { withinMs: 10_000 });
    expect(edge.takeRoutes().filter((route) => route === 'token')).toHaveLength(1);
  });

  it('Token cache: expired and not replaced → the service refuses it, and the SDK never sends it', async () => {
    const app = await world.deviceApp('app_install');
    const { edge, say } = await world.installOnPhone(app);
    await say();
    const [old] = edge.calls.slice(-1).map(({ headers }) => String(headers.authorization).slice('Bearer '.length));
    world.clock.advance(3_600_000);
    expect((await world.as(old).get(`/v1/apps/${app.id}/me`)).status).toBe(401);
    await say();
    expect(edge.takeRoutes()).toEqual([...FIRST_USE, 'challenge', 'token', 'completions']);
  });

  it('Token cache: 20 concurrent callers at first use → one registration and one exchange', async () => {
    const app = await world.deviceApp('app_install');
    const { edge, say } = await world.installOnPhone(app);
    await Promise.all(Array.from({ length: 20 }, say));
    expect(edge.takeRoutes()).toEqual([...FIRST_USE.slice(0, 4), ...Array.from({ length: 20 }, () => 'completions')]);
    expect(await new AuthTrail(world, app.id).events()).toHaveLength(2);
  });

  it('401 on data-plane calls → not repeated, and the token is kept', async () => {
    const app = await world.backendApp();
    const issuerToken = () => world.issuer.token({ sub: 'dora' });
    const { edge, say } = await world.install(app, { apiKey: app.key, issuerToken });
    await say();
    const [key] = (await world.api.get(`/v1/admin/apps/${app.id}/keys`)).body.keys;
    await world.api.post(`/v1/admin/apps/${app.id}/keys/${key.id}/revoke`);
    const refusals = [await sdkRefusal(say()), await sdkRefusal(say())];
    for (const error of refusals)
      expect(error).toMatchObject({ status: 401, code: 'auth_required', isRetryable: false });
    expect(edge.takeRoutes()).toEqual(['token', 'completions', 'completions', 'completions']);
  });
});
