import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import * as oauth from 'oauth4webapi';
import { clientOf, newOrganization, newPerson, type Person } from '../../support/accounts/people.js';
import { codeOf } from '../../support/api-client.js';
import { FakeClock } from '../../support/clock.js';
import {
  CLIENT,
  CLIENT_NAME,
  ConsentBrowser,
  codeIn,
  connected,
  OAuthTestClient,
  openedIn,
  REDIRECT_URI,
  startConsentWorld,
  tokensIn,
} from '../../support/consent/oauth-client.js';
import { trailOf } from '../../support/sign-in/console.js';
import type { World } from '../../support/world.js';

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

const clock = new FakeClock();
let world: World;
let organizationId: string;
let owner: Person;
let browser: ConsentBrowser;
let client: OAuthTestClient;

beforeAll(async () => {
  world = await startConsentWorld({ clock, env: { REDIS_URL: '' } });
});
beforeEach(async () => {
  // The next window: the limit of an address starts again.
  clock.advance(15 * MINUTE_MS);
  ({ organizationId, owner } = await newOrganization(world));
  browser = new ConsentBrowser(world, owner.cookie);
  client = new OAuthTestClient(world);
});
afterAll(() => world.stop());

async function errorOf(answer: Response): Promise<[number, string]> {
  const { error } = (await answer.json()) as { error: string };
  return [answer.status, error];
}

function listed(): Promise<{ body: { keys: Record<string, unknown>[] } }> {
  return clientOf(world, owner.cookie).get('/v1/admin/keys');
}

describe('a strict OAuth client', () => {
  const INSECURE = { [oauth.allowInsecureRequests]: true };

  it('discovery, PKCE, consent, code, refresh, revocation → as OAuth 2.1 requires', async () => {
    const issuer = new URL(world.consoleOrigin);
    const resource = new URL(`${world.consoleOrigin}/mcp`);
    const protectedResource = await oauth
      .resourceDiscoveryRequest(resource, INSECURE)
      .then((answer) => oauth.processResourceDiscoveryResponse(resource, answer));
    expect(protectedResource.authorization_servers).toEqual([world.consoleOrigin]);
    const server = await oauth
      .discoveryRequest(issuer, { ...INSECURE, algorithm: 'oauth2' })
      .then((answer) => oauth.processDiscoveryResponse(issuer, answer));
    const verifier = oauth.generateRandomCodeVerifier();
    const state = oauth.generateRandomState();
    const url = new URL(server.authorization_endpoint ?? '');
    url.search = new OAuthTestClient(world)
      .query({ code_challenge: await oauth.calculatePKCECodeChallenge(verifier), state, resource: resource.href })
      .toString();
    const opened = openedIn(await fetch(url, { redirect: 'manual' }));
    const { body } = await browser.allow(opened, organizationId);
    const asClient = { client_id: CLIENT };
    const callback = oauth.validateAuthResponse(server, asClient, new URL(body.redirect), state);
    const granted = await oauth
      .authorizationCodeGrantRequest(server, asClient, oauth.None(), callback, REDIRECT_URI, verifier, {
        ...INSECURE,
        additionalParameters: { resource: resource.href },
      })
      .then((answer) => oauth.processAuthorizationCodeResponse(server, asClient, answer));
    expect(granted).toMatchObject({ token_type: 'bearer', expires_in: 600, scope: 'manage' });
    clock.advance(MINUTE_MS);
    const refreshed = await oauth
      .refreshTokenGrantRequest(server, asClient, oauth.None(), granted.refresh_token ?? '', INSECURE)
      .then((answer) => oauth.processRefreshTokenResponse(server, asClient, answer));
    expect(refreshed.access_token).not.toBe(granted.access_token);
    await oauth
      .revocationRequest(server, asClient, oauth.None(), refreshed.refresh_token ?? '', INSECURE)
      .then(oauth.processRevocationResponse);
    expect((await world.as(refreshed.access_token).post('/mcp', {})).status).toBe(401);
  });
});

describe('metadata', () => {
  it.each(['oauth-protected-resource', 'oauth-protected-resource/mcp', 'oauth-authorization-server'])(
    '/.well-known/%s → readable from any origin, cached for an hour',
    async (path) => {
      const answer = await fetch(`${world.baseUrl}/.well-known/${path}`);
      expect([answer.status, answer.headers.get('access-control-allow-origin')]).toEqual([200, '*']);
      expect(answer.headers.get('cache-control')).toBe('public, max-age=3600');
      const preflight = await fetch(`${world.baseUrl}/.well-known/${path}`, { method: 'OPTIONS' });
      expect([preflight.status, preflight.headers.get('access-control-allow-origin')]).toEqual([204, '*']);
    },
  );

  it('the endpoint → names the metadata in its challenge', async () => {
    const answer = await fetch(`${world.baseUrl}/mcp`, { method: 'POST', body: '{}' });
    expect(answer.headers.get('www-authenticate')).toBe(
      `Bearer realm="management", resource_metadata="${world.consoleOrigin}/.well-known/oauth-protected-resource/mcp"`,
    );
  });
});

describe('consent', () => {
  it('details → the client, the scopes, and the accounts of the viewer; nothing changes', async () => {
    const opened = await client.open({ scope: 'read', redirect_uri: 'https://client.example.com/back?from=gateway' });
    const first = await browser.details(opened);
    expect([first.status, first.body]).toEqual([
      200,
      {
        ...{ id: opened.id, state: 'pending', requestedGrant: 'read', redirectHost: 'client.example.com' },
        client: { id: CLIENT, name: CLIENT_NAME, domain: null, source: 'registered' },
        expiresAt: new Date(clock.nowMs() + 10 * MINUTE_MS).toISOString(),
        viewer: { name: expect.any(String), email: owner.email },
        accounts: [{ id: organizationId, name: expect.any(String), role: 'owner' }],
        ...{ blockedBy: null, guestAvailable: false, guestExpiresAt: null },
        ...{ googleEnabled: false, registrationOpen: expect.any(Boolean) },
      },
    ]);
    expect((await browser.details(opened)).body).toEqual(first.body);
    const stranger = await new ConsentBrowser(world).details(opened);
    expect(stranger.body).toMatchObject({ viewer: null, accounts: [], blockedBy: 'registration_required' });
  });

  it('allow → the redirect with code, state and issuer; repeated by anybody with the proof → the same answer, byte for byte', async () => {
    const opened = await client.open();
    const { status, body, text } = await browser.allow(opened, organizationId);
    expect(status).toBe(200);
    expect(body.redirect).toMatch(/^http:\/\/127\.0\.0\.1:49152\/callback\?code=[\w-]{43}&state=the\+state&iss=/);
    expect((await browser.allow(opened, organizationId, 'read')).text).toBe(text);
    expect((await new ConsentBrowser(world).allow(opened, 'any')).text).toBe(text);
    expect((await new ConsentBrowser(world).guest(opened)).text).toBe(text);
    expect((await browser.details(opened)).body.state).toBe('completed');
    expect(await trailOf(world, organizationId)).toContain('connection.created');
    expect((await listed()).body.keys.filter(({ source }) => source === 'oauth')).toHaveLength(1);
  });

  it('a redirect URI with its own query → the parameters are appended to it', async () => {
    const opened = await client.open({
      redirect_uri: 'https://client.example.com/back?from=gateway',
      state: null,
    });
    const { body } = await browser.allow(opened, organizationId);
    expect(body.redirect).toMatch(/^https:\/\/client\.example\.com\/back\?from=gateway&code=[\w-]{43}&iss=/);
  });

  it('deny, signed in or not → access_denied; repeated → the same; afterwards nobody can allow', async () => {
    const opened = await client.open();
    const denied = await new ConsentBrowser(world).deny(opened);
    expect(new URL(denied.body.redirect).searchParams.get('error')).toBe('access_denied');
    expect(new URL(denied.body.redirect).searchParams.get('iss')).toBe(world.consoleOrigin);
    expect((await browser.deny(opened)).text).toBe(denied.text);
    expect(codeOf(await browser.allow(opened, organizationId))).toEqual([409, 'operation_denied']);
    expect(codeOf(await browser.guest(opened))).toEqual([409, 'operation_denied']);
    expect((await browser.details(opened)).body.state).toBe('denied');
  });

  it('allowed, then denied → 409; a denial by a member → in the audit trail', async () => {
    const opened = await client.open();
    await browser.allow(opened, organizationId);
    expect(codeOf(await browser.deny(opened))).toEqual([409, 'already_completed']);
    await browser.deny(await client.open());
    expect(await trailOf(world, organizationId)).toContain('connection.denied');
  });

  it('the last millisecond of ten minutes → allowed; then 410, and details say expired', async () => {
    const opened = await client.open();
    clock.advance(10 * MINUTE_MS - 1);
    expect((await browser.details(opened)).body.state).toBe('pending');
    clock.advance(1);
    expect((await browser.details(opened)).body.state).toBe('expired');
    expect(codeOf(await browser.allow(opened, organizationId))).toEqual([410, 'operation_expired']);
    expect(codeOf(await browser.deny(opened))).toEqual([410, 'operation_expired']);
  });

  it('a wrong proof 403, an unknown id 404, nobody signed in 401, a key 403', async () => {
    const opened = await client.open();
    expect(codeOf(await browser.allow({ ...opened, proof: 'x'.repeat(43) }, organizationId))).toEqual([
      403,
      'forbidden',
    ]);
    const unknown = { ...opened, id: `oauth-${'0'.repeat(64)}` };
    expect(codeOf(await browser.allow(unknown, organizationId))).toEqual([404, 'not_found']);
    expect(codeOf(await new ConsentBrowser(world).allow(opened, organizationId))).toEqual([401, 'session_required']);
    const withKey = await browser.post(
      `${opened.id}/allow`,
      { submissionToken: opened.proof, organizationId, grant: 'read' },
      { authorization: `Bearer ${world.managementKey}` },
    );
    expect(codeOf(withKey)).toEqual([403, 'session_required']);
  });

  it('another account 403; more than requested 400; less → only that is granted', async () => {
    const { organizationId: foreign } = await newOrganization(world);
    const opened = await client.open({ scope: 'read' });
    expect(codeOf(await browser.allow(opened, foreign, 'read'))).toEqual([403, 'not_a_member']);
    expect(codeOf(await browser.allow(opened, organizationId, 'manage'))).toEqual([400, 'invalid_request']);
    const lowered = await client.open({ scope: 'read manage' });
    const answer = await client.exchange(codeIn(await browser.allow(lowered, organizationId, 'read')));
    expect(await answer.json()).toMatchObject({ scope: 'read' });
  });

  it('a missing or foreign Origin → 403; another host → 404', async () => {
    const opened = await client.open();
    for (const origin of ['https://evil.example', 'null']) {
      const answer = await browser.post(`${opened.id}/deny`, { submissionToken: opened.proof }, { origin });
      expect(codeOf(answer)).toEqual([403, 'forbidden']);
    }
    const elsewhere = await fetch(`http://localhost:${new URL(world.baseUrl).port}/oauth/authorize?${client.query()}`);
    expect(elsewhere.status).toBe(404);
  });
});

describe('codes', () => {
  it('used twice → invalid_grant, and the connection ends', async () => {
    const code = codeIn(await browser.allow(await client.open(), organizationId));
    const { access } = await tokensIn(await client.exchange(code));
    expect((await world.as(access).get('/v1/admin/apps')).status).toBe(200);
    expect(await errorOf(await client.exchange(code))).toEqual([400, 'invalid_grant']);
    expect((await world.as(access).get('/v1/admin/apps')).status).toBe(401);
    expect(await trailOf(world, organizationId)).toContain('connection.revoked');
  });

  it('used twenty times at once → at most one pair of tokens, and the connection ends', async () => {
    const code = codeIn(await browser.allow(await client.open(), organizationId));
    const answers = await Promise.all(Array.from({ length: 20 }, () => client.exchange(code)));
    const good = answers.filter(({ status }) => status === 200);
    expect(good).toHaveLength(1);
    const [first] = good;
    if (first === undefined) throw new Error('no answer');
    const { access } = await tokensIn(first);
    expect((await world.as(access).get('/v1/admin/apps')).status).toBe(401);
  });

  it.each([
    ['another verifier', { code_verifier: 'v'.repeat(43) }, 'invalid_grant'],
    ['another redirect URI, though declared', { redirect_uri: 'http://127.0.0.1:1/callback' }, 'invalid_grant'],
    ['another client', { client_id: 'another-client' }, 'invalid_grant'],
    ['another resource', { resource: 'https://elsewhere.example' }, 'invalid_target'],
  ])('%s → refused, and the code stays valid', async (_name, members, error) => {
    const code = codeIn(await browser.allow(await client.open(), organizationId));
    expect(await errorOf(await client.exchange(code, members))).toEqual([400, error]);
    expect((await client.exchange(code)).status).toBe(200);
  });

  it('ten minutes after the decision → expired; the connection is not active', async () => {
    const code = codeIn(await browser.allow(await client.open(), organizationId));
    clock.advance(10 * MINUTE_MS);
    expect(await errorOf(await client.exchange(code))).toEqual([400, 'invalid_grant']);
    const [connection] = (await listed()).body.keys;
    expect(connection).toMatchObject({ source: 'oauth', enabled: false });
  });

  it('revoked before its exchange → invalid_grant; details say retired', async () => {
    const opened = await client.open();
    const allowed = await browser.allow(opened, organizationId);
    const [connection] = (await listed()).body.keys;
    await clientOf(world, owner.cookie).post(`/v1/admin/keys/${connection?.id}/revoke`, {});
    expect(await errorOf(await client.exchange(codeIn(allowed)))).toEqual([400, 'invalid_grant']);
    expect((await browser.details(opened)).body.state).toBe('retired');
  });
});

describe('tokens', () => {
  it('for the issuer → work on the management API and on /mcp; in the list of keys as a connection', async () => {
    const { access } = await connected(client, browser, organizationId);
    const session = await world.as(access).get('/v1/admin/session');
    expect(session.body.session).toMatchObject({ credentialType: 'oauth', actor: { kind: 'human' } });
    const [connection] = (await listed()).body.keys;
    expect(connection).toMatchObject({
      ...{ id: expect.stringMatching(/^conn_[0-9a-z]{20}$/), name: CLIENT_NAME, clientId: CLIENT, source: 'oauth' },
      ...{ credentialType: 'oauth', grant: 'manage', enabled: true, userId: owner.identityId },
      expiresAt: new Date(clock.nowMs() + 30 * DAY_MS).toISOString(),
      lastUsedAt: new Date(clock.nowMs()).toISOString(),
    });
  });

  it('only for /mcp → 401 on the management API', async () => {
    const { access } = await connected(client, browser, organizationId, { resource: `${world.consoleOrigin}/mcp` });
    const { status, headers } = await world.as(access).get('/v1/admin/apps');
    expect([status, headers.get('www-authenticate')]).toEqual([
      401,
      'Bearer realm="management", error="invalid_token"',
    ]);
    expect((await world.as(access).post('/mcp', {})).status).not.toBe(401);
  });

  it('a read connection → 403 insufficient_scope on a change', async () => {
    const { access } = await connected(client, browser, organizationId, { grant: 'read' });
    const { status, headers } = await world.as(access).post('/v1/admin/apps', {});
    expect([status, headers.get('www-authenticate')]).toEqual([
      403,
      'Bearer realm="management", error="insufficient_scope", scope="manage"',
    ]);
  });

  it('the last millisecond of ten minutes → accepted; then 401', async () => {
    const { access } = await connected(client, browser, organizationId);
    clock.advance(10 * MINUTE_MS - 1);
    expect((await world.as(access).get('/v1/admin/apps')).status).toBe(200);
    clock.advance(1);
    expect((await world.as(access).get('/v1/admin/apps')).status).toBe(401);
  });

  it('demotion, removal and revocation → take effect from the next request on', async () => {
    const { identityId, cookie } = await newPerson(world, { organizationId, role: 'admin' });
    const { access } = await connected(client, new ConsentBrowser(world, cookie), organizationId);
    const asOwner = clientOf(world, owner.cookie);
    await asOwner.put(`/v1/admin/members/${identityId}`, { role: 'member' });
    expect(codeOf(await world.as(access).post('/v1/admin/apps', {}))).toEqual([403, 'forbidden']);
    await asOwner.delete(`/v1/admin/members/${identityId}`);
    expect((await world.as(access).get('/v1/admin/apps')).status).toBe(401);
  });

  it('the connection ends itself through DELETE /v1/cli/credential', async () => {
    const { access, refresh } = await connected(client, browser, organizationId);
    expect((await world.as(access).delete('/v1/cli/credential')).body).toEqual({ revoked: true });
    expect((await world.as(access).get('/v1/admin/apps')).status).toBe(401);
    expect(await errorOf(await client.refresh(refresh))).toEqual([400, 'invalid_grant']);
  });

  it('on provider calls → 401; a gateway key here → 401', async () => {
    const { access } = await connected(client, browser, organizationId);
    const { id, key } = await world.app();
    const call = await world.as(access).post(`/v1/apps/${id}/proxy/openai/v1/chat/completions`, {});
    expect(call.status).toBe(401);
    expect((await world.as(key).get('/v1/admin/apps')).status).toBe(401);
    expect((await world.as(key).post('/mcp', {})).status).toBe(401);
  });
});

describe('refreshing', () => {
  it('a new pair; the old refresh token replays it for 30 s, then the connection ends', async () => {
    const first = await connected(client, browser, organizationId);
    clock.advance(MINUTE_MS);
    const second = await tokensIn(await client.refresh(first.refresh));
    expect(second.refresh).not.toBe(first.refresh);
    clock.advance(29_999);
    expect(await tokensIn(await client.refresh(first.refresh))).toEqual(second);
    clock.advance(1);
    expect(await errorOf(await client.refresh(first.refresh))).toEqual([400, 'invalid_grant']);
    expect((await world.as(second.access).get('/v1/admin/apps')).status).toBe(401);
    expect(await errorOf(await client.refresh(second.refresh))).toEqual([400, 'invalid_grant']);
  });

  it('an old token whose generation is no longer stored → the connection ends; a made-up one has no effect', async () => {
    const first = await connected(client, browser, organizationId);
    let newest = first;
    for (let at = 0; at < 3; at++) {
      clock.advance(MINUTE_MS);
      newest = await tokensIn(await client.refresh(newest.refresh));
    }
    const madeUp = `${newest.refresh.slice(0, -43)}${'A'.repeat(43)}`;
    expect(await errorOf(await client.refresh(madeUp))).toEqual([400, 'invalid_grant']);
    expect((await world.as(newest.access).get('/v1/admin/apps')).status).toBe(200);
    expect(await errorOf(await client.refresh(first.refresh))).toEqual([400, 'invalid_grant']);
    expect((await world.as(newest.access).get('/v1/admin/apps')).status).toBe(401);
  });

  it('twenty at once → the same pair; no other rotation within 5 s', async () => {
    const first = await connected(client, browser, organizationId);
    clock.advance(MINUTE_MS);
    const answers = await Promise.all(Array.from({ length: 20 }, () => client.refresh(first.refresh).then(tokensIn)));
    expect(new Set(answers.map(({ refresh }) => refresh)).size).toBe(1);
    const [second] = answers;
    if (second === undefined) throw new Error('no answer');
    clock.advance(4_999);
    expect(await tokensIn(await client.refresh(second.refresh))).toEqual(second);
    clock.advance(1);
    expect((await tokensIn(await client.refresh(second.refresh))).refresh).not.toBe(second.refresh);
  });

  it.each([
    ['another client', { client_id: 'another-client' }, 'invalid_grant'],
    ['another scope', { scope: 'read' }, 'invalid_scope'],
    ['an unknown scope', { scope: 'all' }, 'invalid_scope'],
    ['another resource', { resource: 'https://elsewhere.example' }, 'invalid_target'],
  ])('%s → refused, and the token stays valid', async (_name, members, error) => {
    const { refresh } = await connected(client, browser, organizationId);
    expect(await errorOf(await client.refresh(refresh, members))).toEqual([400, error]);
    expect((await client.refresh(refresh, { scope: 'manage', resource: world.consoleOrigin })).status).toBe(200);
  });

  it('30 days without a refresh → ended; a refresh extends it', async () => {
    const { refresh } = await connected(client, browser, organizationId);
    clock.advance(30 * DAY_MS - 1);
    const next = await tokensIn(await client.refresh(refresh));
    clock.advance(30 * DAY_MS);
    expect(await errorOf(await client.refresh(next.refresh))).toEqual([400, 'invalid_grant']);
  });
});

describe('POST /oauth/revoke', () => {
  it.each(['access', 'refresh'] as const)('the %s token → ends the connection; again → 200', async (kind) => {
    const tokens = await connected(client, browser, organizationId);
    const answer = await client.revoke(tokens[kind]);
    expect([answer.status, await answer.text()]).toEqual([200, '']);
    expect((await world.as(tokens.access).get('/v1/admin/apps')).status).toBe(401);
    expect((await client.revoke(tokens[kind])).status).toBe(200);
  });

  it('an unknown token, or that of another client → 200 without effect', async () => {
    const tokens = await connected(client, browser, organizationId);
    for (const token of ['nothing', `gw_oat_conn_${'a'.repeat(20)}.${'b'.repeat(43)}`, `${tokens.access}x`]) {
      expect((await client.revoke(token)).status).toBe(200);
    }
    expect((await client.revoke(tokens.refresh, 'another-client')).status).toBe(200);
    expect((await world.as(tokens.access).get('/v1/admin/apps')).status).toBe(200);
  });
});
