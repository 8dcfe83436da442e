import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { newOrganization } from '../../support/accounts/people.js';
import { codeOf } from '../../support/api-client.js';
import { Terminal } from '../../support/cli/terminal.js';
import { FakeClock } from '../../support/clock.js';
import {
  CLIENT,
  ConsentBrowser,
  codeIn,
  OAuthTestClient,
  REDIRECT_URI,
  startConsentWorld,
} from '../../support/consent/oauth-client.js';
import { startWorld, type World } from '../../support/world.js';

const MINUTE_MS = 60_000;
const ALLOWED_ORIGIN = 'https://app.example.com';

const clock = new FakeClock();
let world: World;
let client: OAuthTestClient;
let addresses = 0;

beforeAll(async () => {
  world = await startConsentWorld({ clock, env: { REDIS_URL: '', MCP_ALLOWED_ORIGINS: ALLOWED_ORIGIN } });
});
beforeEach(() => {
  client = new OAuthTestClient(world, `198.51.100.${++addresses}`);
});
afterAll(() => world.stop());

function errorIn(answer: Response): Record<string, string> {
  return Object.fromEntries(new URL(answer.headers.get('location') ?? '').searchParams);
}

async function tokenError(answer: Response): Promise<[number, string]> {
  expect(answer.headers.get('cache-control')).toBe('no-store');
  expect(answer.headers.get('access-control-allow-origin')).toBeNull();
  const { error, error_description: description } = (await answer.json()) as Record<string, string>;
  expect(description).toMatch(/^[\x20-\x21\x23-\x5b\x5d-\x7e]+$/);
  return [answer.status, error ?? ''];
}

describe('GET /oauth/authorize: errors shown on a page, never by a redirect (OAuth 2.1 4.1.2.1, RFC 9700 4.11)', () => {
  it.each<[string, Record<string, string | null> | string, string]>([
    ['a parameter twice', 'client_id=a&client_id=b', 'invalid_request'],
    ['no client', { client_id: null }, 'invalid_request'],
    ['an empty client counts as none', { client_id: '' }, 'invalid_request'],
    ['no redirect URI', { redirect_uri: null }, 'invalid_request'],
    ['an unknown client', { client_id: 'unknown' }, 'invalid_client'],
    ['a document at a private name', { client_id: 'https://localhost/client.json' }, 'invalid_client'],
    ['an undeclared redirect URI', { redirect_uri: 'https://evil.example/callback' }, 'invalid_request'],
    ['that of another client', { redirect_uri: 'https://another.example.com/callback' }, 'invalid_request'],
    ['one with a user', { redirect_uri: 'http://127.0.0.1@evil.example/callback' }, 'invalid_request'],
    ['one with port 0', { redirect_uri: 'http://127.0.0.1:0/callback' }, 'invalid_request'],
    ['one with a fragment', { redirect_uri: `${REDIRECT_URI}#f` }, 'invalid_request'],
    ['one in capitals', { redirect_uri: 'HTTP://127.0.0.1/callback' }, 'invalid_request'],
    ['another path', { redirect_uri: 'http://127.0.0.1:49152/callback/x' }, 'invalid_request'],
  ])('%s → 400 with %3$s', async (_name, members, error) => {
    const answer = await client.authorize(typeof members === 'string' ? members : client.query(members));
    expect([answer.status, answer.headers.get('location')]).toEqual([400, null]);
    expect(answer.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(answer.headers.get('cache-control')).toBe('no-store');
    expect(await answer.text()).toContain(error);
  });

  it('markup in a parameter → text on the page', async () => {
    const answer = await client.authorize(client.query({ client_id: '<script>alert(1)</script>' }));
    expect(await answer.text()).not.toContain('<script>alert');
  });

  it('the 31st request in ten minutes → 429 on a page; ten minutes later → 302', async () => {
    for (let at = 0; at < 30; at++) expect((await client.authorize(client.query())).status).toBe(302);
    const refused = await client.authorize(client.query());
    expect([refused.status, refused.headers.get('location')]).toEqual([429, null]);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    clock.advance(10 * MINUTE_MS);
    expect((await client.authorize(client.query())).status).toBe(302);
  });
});

describe('GET /oauth/authorize: errors sent to the client (RFC 6749 4.1.2.1, RFC 9207 2)', () => {
  it.each<[string, Record<string, string | null>, string]>([
    ['no response type', { response_type: null }, 'invalid_request'],
    ['the implicit grant (OAuth 2.1 10.1)', { response_type: 'token' }, 'unsupported_response_type'],
    ['no PKCE (OAuth 2.1 4.1.1)', { code_challenge: null, code_challenge_method: null }, 'invalid_request'],
    ['PKCE in plain text (RFC 9700 2.1.1)', { code_challenge_method: 'plain' }, 'invalid_request'],
    ['no method, which means plain (RFC 7636 4.3)', { code_challenge_method: null }, 'invalid_request'],
    ['a foreign resource (RFC 8707 2)', { resource: 'https://elsewhere.example' }, 'invalid_target'],
    ['no resource', { resource: null }, 'invalid_target'],
    ['an unknown scope', { scope: 'everything' }, 'invalid_scope'],
  ])('%s → %3$s, with state and issuer', async (_name, members, error) => {
    const answer = await client.authorize(client.query(members));
    expect(answer.status).toBe(302);
    expect(answer.headers.get('location')).toMatch(/^http:\/\/127\.0\.0\.1:49152\/callback\?/);
    expect(errorIn(answer)).toEqual({
      error,
      error_description: expect.any(String),
      state: 'the state',
      iss: world.consoleOrigin,
    });
  });

  it('a state beyond 2048 characters, or beyond ASCII → invalid_request', async () => {
    for (const state of ['s'.repeat(2_049), 'ä']) {
      const answer = await client.authorize(client.query({ state }));
      expect(errorIn(answer).error).toBe('invalid_request');
    }
  });

  it.each([
    'http://127.0.0.1:1/callback',
    'http://127.0.0.1/callback',
    'http://localhost:65535/callback',
    'http://[::1]:49152/callback',
  ])('a listener at %s → 302 to the consent page, whatever the port (RFC 8252 7.3)', async (redirect) => {
    const answer = await client.authorize(client.query({ redirect_uri: redirect }));
    expect(answer.headers.get('location')).toMatch(/^\/oauth\/consent\?id=oauth-[0-9a-f]{64}#[\w-]{43}$/);
  });
});

describe('POST /oauth/token: errors (RFC 6749 5.2)', () => {
  const FULL = {
    ...{ grant_type: 'authorization_code', code: 'c', redirect_uri: REDIRECT_URI, client_id: CLIENT },
    code_verifier: 'v'.repeat(43),
  };

  it.each(Object.keys(FULL))('no %s → invalid_request naming it', async (name) => {
    const { [name]: _, ...form } = FULL as Record<string, string>;
    const answer = await client.token(form);
    expect((await answer.clone().text()).includes(name)).toBe(true);
    expect(await tokenError(answer)).toEqual([400, 'invalid_request']);
  });

  it.each<[string, Record<string, string>, [number, string]]>([
    ['an unknown grant', { grant_type: 'password' }, [400, 'unsupported_grant_type']],
    ['client credentials', { grant_type: 'client_credentials' }, [400, 'unsupported_grant_type']],
    ['an unknown code', {}, [400, 'invalid_grant']],
    ['a secret of a public client', { client_secret: 's' }, [401, 'invalid_client']],
    ['an assertion', { client_assertion: 'a' }, [401, 'invalid_client']],
    ['a zero byte', { code: 'a\0b' }, [400, 'invalid_request']],
  ])('%s → %3$j', async (_name, members, expected) => {
    expect(await tokenError(await client.token({ ...FULL, ...members }))).toEqual(expected);
  });

  it('a client that authenticates in the header → 401 with the challenge of its scheme', async () => {
    const answer = await client.token(FULL, { authorization: 'Basic Y2xpZW50OnNlY3JldA==' });
    expect(answer.headers.get('www-authenticate')).toMatch(/^Basic /);
    expect(await tokenError(answer)).toEqual([401, 'invalid_client']);
  });

  it('JSON, no type, a repeated parameter → 400; more than 16 KiB → 413', async () => {
    const post = (body: string, type: string) =>
      fetch(`${world.baseUrl}/oauth/token`, { method: 'POST', body, headers: { 'content-type': type } });
    const form = 'application/x-www-form-urlencoded';
    expect(await tokenError(await post(JSON.stringify(FULL), 'application/json'))).toEqual([400, 'invalid_request']);
    expect(await tokenError(await post('a=b', 'text/plain'))).toEqual([400, 'invalid_request']);
    expect(await tokenError(await post('grant_type=a&grant_type=b', form))).toEqual([400, 'invalid_request']);
    expect((await post(`code=${'c'.repeat(17_000)}`, form)).status).toBe(413);
  });

  it.each([
    ['none', undefined, 400],
    ['one that the operator allows', ALLOWED_ORIGIN, 400],
    ['another', 'https://evil.example', 403],
    ['a sandboxed page', 'null', 403],
  ])('origin: %s → %3$i', async (_name, origin, status) => {
    const answer = await client.token(FULL, origin === undefined ? {} : { origin });
    expect(answer.status).toBe(status);
    expect(answer.headers.get('access-control-allow-origin')).toBeNull();
  });
});

describe('without an authorization server', () => {
  it.each([
    ['no public name', {}],
    ['switched off', { OAUTH_ENABLED: 'false', PUBLIC_URL: undefined }],
  ])('%s → 404 on every route, and no metadata in the challenge of /mcp', async (_name, env) => {
    const own =
      'OAUTH_ENABLED' in env
        ? await startConsentWorld({ env: { REDIS_URL: '', OAUTH_ENABLED: 'false' } })
        : await startWorld({ env: { REDIS_URL: '' } });
    const get = (path: string, method = 'GET') => fetch(`${own.baseUrl}${path}`, { method, redirect: 'manual' });
    for (const path of [
      '/oauth/authorize?client_id=x',
      '/oauth/consent?id=x',
      '/.well-known/oauth-protected-resource',
      '/.well-known/oauth-authorization-server',
    ]) {
      expect([path, (await get(path)).status]).toEqual([path, 404]);
    }
    for (const path of ['/oauth/token', '/oauth/revoke']) expect((await get(path, 'POST')).status).toBe(404);
    const details = await own
      .as(undefined)
      .post(
        `/v1/console/oauth/oauth-${'0'.repeat(64)}/details`,
        { submissionToken: 'x'.repeat(43) },
        { headers: { origin: own.consoleOrigin } },
      );
    expect(codeOf(details)).toEqual([404, 'not_found']);
    expect((await get('/mcp', 'POST')).headers.get('www-authenticate')).toBe('Bearer realm="management"');
    await own.stop();
  });
});

describe('continuing without an account', () => {
  it('allow and guest at once on an empty deployment → one redirect, one account, one connection', async () => {
    const empty = await startConsentWorld({ env: { REDIS_URL: '', BOOTSTRAP_MANAGEMENT_KEY: '' } });
    const opened = await new OAuthTestClient(empty).open({ scope: 'read' });
    expect((await new ConsentBrowser(empty).details(opened)).body).toMatchObject({ guestAvailable: true });
    const answers = await Promise.all(Array.from({ length: 6 }, () => new ConsentBrowser(empty).guest(opened)));
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    const rows = await empty.dataSource.query(
      `SELECT (SELECT count(*)::int FROM organizations) AS accounts,
              (SELECT count(*)::int FROM management_keys WHERE source = 'oauth' AND access_grant = 'manage') AS connections`,
    );
    expect(rows).toEqual([{ accounts: 1, connections: 1 }]);
    const [first] = answers;
    if (first === undefined) throw new Error('no answer');
    expect(codeIn(first)).toMatch(/^[\w-]{43}$/);
    const next = await new OAuthTestClient(empty).open();
    expect(codeOf(await new ConsentBrowser(empty).guest(next))).toEqual([409, 'conflict']);
    expect((await new ConsentBrowser(empty).details(next)).body.guestAvailable).toBe(false);
    await empty.stop();
  });

  it('a terminal and a guest at once → one account; requests refused by admission are not counted', async () => {
    const empty = await startConsentWorld({ env: { REDIS_URL: '', BOOTSTRAP_MANAGEMENT_KEY: '' } });
    const opened = await new OAuthTestClient(empty).open();
    const [terminal, guest] = await Promise.all([
      new Terminal(empty).bootstrap(),
      new ConsentBrowser(empty).guest(opened),
    ]);
    expect([terminal.status, guest.status].sort()).toEqual([200, 409]);
    for (let at = 0; at < 5; at++) {
      expect(codeOf(await new Terminal(empty).bootstrap())).toEqual([409, 'conflict']);
    }
    await empty.stop();
  });

  it('where people have accounts → 409', async () => {
    await newOrganization(world);
    expect(codeOf(await new ConsentBrowser(world).guest(await client.open()))).toEqual([409, 'conflict']);
  });
});
