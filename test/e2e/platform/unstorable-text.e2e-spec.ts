import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { isDisplayName } from '../../../src/common/fields/display-name.rules.js';
import type { ApiAnswer } from '../../support/api-client.js';
import { AuthTrail } from '../../support/client-auth/exchange/auth-trail.js';
import { type MobileWorld, startMobileWorld } from '../../support/client-auth/exchange/mobile-world.js';
import { ProxyClient } from '../../support/proxy/proxy-client.js';
import { json } from '../../support/proxy/upstream-scripts.js';

const PROBLEM = 'must not have NUL or broken characters';
/** Text that Postgres does not accept, or would change. */
const UNSTORABLE = ['\u0000', 'a\u0000b', '\ud800', 'a\udc00b'];
const KEY = 'sk-1234567890';
const CONFIG = { authentication: { type: 'api_key' }, routing: { providers: { mode: 'all' }, model_rewrites: {} } };
const NAMED_USERS = { type: 'api_key', end_user: { source: 'header' } };
const COMPLETION = { object: 'chat.completion', usage: { prompt_tokens: 1, completion_tokens: 1, cost: 0.001 } };

/** Texts of any UTF-16 units, often with these. */
const anyText = fc
  .array(
    fc.oneof(
      fc.constantFrom('\u0000', '\ud800', '\udc00', 'a'),
      fc.nat(0xffff).map((unit) => String.fromCharCode(unit)),
    ),
    {
      minLength: 1,
      maxLength: 12,
    },
  )
  .map((units) => units.join(''));

let world: MobileWorld;
let client: ProxyClient;
let slugs = 0;

beforeAll(async () => {
  world = await startMobileWorld();
  client = await ProxyClient.create(world, { authentication: NAMED_USERS });
});

afterAll(() => world.stop());

const isStorable = (text: string) => text.isWellFormed() && !text.includes('\u0000');
const adminUrl = (rest: string) => `/v1/admin/apps/${client.appId}/${rest}`;

function messageOf({ status, body }: ApiAnswer): [status: number, message: unknown] {
  return [status, body.error?.message];
}

describe('a path or query with text that Postgres cannot store', () => {
  it.each([
    ['GET', 'users/a%00', 'user'],
    ['POST', 'users/a%00/block', 'user'],
    ['POST', 'users/%00/unblock', 'user'],
    ['GET', 'users?query=%00', 'query'],
    ['GET', 'events?user=a%00', 'user'],
    ['GET', 'events?model=a%00', 'model'],
    ['GET', 'events?provider=%00', 'provider'],
    ['GET', 'auth-events?user=%00b', 'user'],
    ['GET', 'auth-events?outcome=%00', 'outcome'],
    ['GET', 'usage/breakdown?by=%00', 'by'],
    ['POST', 'keys/a%00/revoke', 'key'],
  ])('%s %s → 400 that names it', async (method, rest, name) => {
    expect(messageOf(await world.api.send(method, adminUrl(rest), undefined, {}))).toEqual([
      400,
      `${name}: ${PROBLEM}`,
    ]);
  });

  it.each([
    ['DELETE', '/v1/admin/providers/a%00', 400],
    ['DELETE', '/v1/admin/provider-gateways/a%00', 400],
    ['GET', '/v1/admin/apps/a%00/users', 404],
    ['GET', '/v1/apps/a%00/me', 404],
    ['POST', '/v1/apps/a%00/auth/challenge', 400],
  ])('%s %s → %i', async (method, path, status) => {
    expect((await world.api.send(method, path, undefined, {})).status).toBe(status);
  });
});

describe('a body with text that Postgres cannot store', () => {
  const ways: [string, string, string, (text: string) => unknown][] = [
    ['POST', '/v1/admin/apps', 'name', (name) => ({ name, config: CONFIG })],
    ['POST', '/v1/admin/providers', 'name', (name) => ({ type: 'openai', name, secret: KEY })],
    ['POST', '/v1/admin/provider-gateways', 'name', (name) => ({ type: 'vercel', name, token: KEY })],
    ['POST', '/v1/apps/{app}/auth/token', 'key_id', (key_id) => ({ key_id })],
    ['POST', '/v1/apps/{app}/auth/register', 'challenge', (challenge) => ({ challenge })],
    ['POST', '/v1/apps/{app}/auth/token', 'api_key', (api_key) => ({ api_key })],
    ['POST', '/v1/admin/apps/{app}/keys', 'name', (name) => ({ name })],
    ['POST', '/v1/admin/apps/{app}/usage/reprice', 'model', (model) => ({ model })],
  ];

  it.each(ways)('%s %s, %s → 400 that names it', async (method, path, name, bodyWith) => {
    const app = path.includes('auth') ? await world.deviceApp('app_install') : { id: client.appId };
    const url = path.replace('{app}', app.id);
    for (const text of UNSTORABLE) {
      const answer = await world.api.send(method, url, bodyWith(text), {});
      expect(messageOf(answer)).toEqual([400, `${name}: ${PROBLEM}`]);
    }
  });

  it.each<[string, (name: string) => Promise<ApiAnswer>, (answer: ApiAnswer) => string]>([
    [
      'an application',
      (name) => world.api.post('/v1/admin/apps', { name, config: CONFIG }),
      ({ body }) => body.app.name,
    ],
    [
      'a provider',
      (name) => world.api.post('/v1/admin/providers', { type: 'xai', slug: `x-${++slugs}`, name, secret: KEY }),
      ({ body }) => body.provider.name,
    ],
    ['a key', (name) => world.api.post(adminUrl('keys'), { name }), ({ body }) => body.name],
  ])('any name of %s → stored unchanged, or 400', async (_what, create, nameOf) => {
    await fc.assert(
      fc.asyncProperty(anyText, async (name) => {
        const answer = await create(name);
        if (isStorable(name) && isDisplayName(name.trim()) && name.trim() !== '')
          expect([answer.status, nameOf(answer)]).toEqual([201, name.trim()]);
        else expect(answer.status).toBe(400);
      }),
      { numRuns: 40 },
    );
  });
});

describe('a call with text that Postgres cannot store', () => {
  it('any model → refused, or recorded: each call that was made, once', async () => {
    const calls = await ProxyClient.create(world, { provider: { type: 'openrouter' } });
    world.upstream.script(json(200, COMPLETION));
    let made = 0;
    await fc.assert(
      fc.asyncProperty(anyText, async (model) => {
        const { status } = await calls.call('v1/chat/completions', { body: { model, max_tokens: 5 } });
        expect([200, 400]).toContain(status);
        if (status === 200) made++;
      }),
      { numRuns: 40, examples: UNSTORABLE.map((model) => [`m${model}`]) },
    );
    expect(made).toBeGreaterThan(UNSTORABLE.length);
    const events = await calls.events(made);
    expect(events.every(({ model }) => isStorable(model))).toBe(true);
    expect(calls.lines('usage_event_rejected')).toEqual([]);
  });

  it('any response to continue → has no owner', async () => {
    for (const previous_response_id of UNSTORABLE) {
      const body = { model: 'gpt-4.1', previous_response_id };
      const { status, body: refusal } = await client.call('v1/responses', { body, headers: ['x-end-user-id', 'ann'] });
      expect([status, JSON.parse(refusal.toString()).error.message]).toEqual([
        400,
        expect.stringMatching(/^previous_response_id: names nothing that this application and user got/),
      ]);
    }
  });

  it.each(['a\u0001', 'a b', 'é'])('user %j in the header → 400 that names it', async (user) => {
    const headers = ['x-end-user-id', Buffer.from(user).toString('latin1')];
    const call = client.call('v1/responses', { body: { model: 'gpt-4.1' }, headers });
    // Node's own client does not even send control characters.
    const answer = await call.catch(() => undefined);
    if (answer === undefined) return;
    expect([answer.status, JSON.parse(answer.body.toString()).error.message]).toEqual([
      400,
      'x-end-user-id: must be 1 to 128 printable ASCII characters without spaces',
    ]);
  });
});

describe('an identity token with such a user', () => {
  it.each(UNSTORABLE)('sub %j → 403 issuer_token_rejected, recorded, no user is stored', async (sub) => {
    const app = await world.backendApp();
    const issuer_token = await world.issuer.token({ sub });
    const answer = await world.as(undefined).post(`/v1/apps/${app.id}/auth/token`, { api_key: app.key, issuer_token });
    expect([answer.status, answer.body.error.code]).toEqual([403, 'issuer_token_rejected']);
    const reason = 'user_id_missing';
    await new AuthTrail(world, app.id).isRefused(answer, {
      ...{ event: 'token_exchange', method: 'api_key', status: 403, code: 'issuer_token_rejected', reason },
      userId: undefined,
    });
    expect((await world.api.get(`/v1/admin/apps/${app.id}/users`)).body.total).toBe(0);
  });
});
