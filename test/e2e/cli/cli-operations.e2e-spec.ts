import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { newOrganization, type Person } from '../../support/accounts/people.js';
import { codeOf } from '../../support/api-client.js';
import { ApprovalBrowser, proofIn, Terminal } from '../../support/cli/terminal.js';
import { FakeClock } from '../../support/clock.js';
import { storeEvents } from '../../support/usage/recording/usage-events.js';
import { startWorld, type World } from '../../support/world.js';

const MINUTE_MS = 60_000;
const SECRET = 'sk-provider-secret-typed-by-a-person-4711';
const APP = {
  name: 'From a terminal',
  config: {
    authentication: { type: 'api_key' },
    routing: { providers: { mode: 'all' }, model_rewrites: {} },
  },
};

const clock = new FakeClock();
let world: World;
let organizationId: string;
let owner: Person;
let key: string;
let keyId: string;
let slugs = 0;

beforeAll(async () => {
  world = await startWorld({ clock, env: { REDIS_URL: '' } });
});
beforeEach(async () => {
  clock.advance(MINUTE_MS);
  ({ organizationId, owner } = await newOrganization(world));
  const { body } = await owner.client.post('/v1/admin/keys', { name: 'Terminal' });
  ({ plaintext: key, id: keyId } = body.key);
});
afterAll(() => world.stop());

const page = () => new ApprovalBrowser(world);
const newSlug = () => `openai-${++slugs}`;
const submit = (terminal: Terminal, proof: string, secret?: string) =>
  page().approve(terminal.id, proof, secret === undefined ? {} : { secret });

async function openStep(kind: string, payload: object): Promise<{ terminal: Terminal; proof: string }> {
  const terminal = new Terminal(world);
  const opened = await terminal.operate(key, kind, payload, kind.endsWith('.add') ? { browser: true } : {});
  expect([opened.status, opened.body.state]).toEqual([200, 'pending']);
  return { terminal, proof: proofIn(opened) };
}

async function newProvider(): Promise<{ id: string; slug: string; revision: number }> {
  const { body } = await world.as(key).post('/v1/admin/providers', {
    ...{ type: 'openai', name: 'OpenAI', slug: newSlug(), secret: 'sk-the-first-key-of-all' },
  });
  return body.provider;
}

async function newGateway(): Promise<string> {
  const body = { type: 'vercel', name: 'Edge', token: 'the-first-token-of-all' };
  return (await world.as(key).post('/v1/admin/provider-gateways', body)).body.gateway.id;
}

/** The id of a provider whose credential is that of a gateway. */
async function routedProvider(): Promise<string> {
  const body = { type: 'openai', name: 'Routed', slug: newSlug(), providerGatewayId: await newGateway() };
  return (await world.as(key).post('/v1/admin/providers', body)).body.provider.id;
}

describe('operations that run immediately', () => {
  it('app.add → the application and its key; again with the same token → the same answer, for 15 minutes with the key', async () => {
    const terminal = new Terminal(world);
    const { status, body } = await terminal.operate(key, 'app.add', APP);
    expect([status, body]).toEqual([
      200,
      {
        ...{ id: terminal.id, kind: 'app.add', state: 'completed', expiresAt: expect.any(String) },
        deployment: expect.objectContaining({ mode: 'self_hosted' }),
        result: {
          app: expect.objectContaining({ name: APP.name, status: 'active', revision: 1 }),
          api_key: expect.objectContaining({ key: expect.stringMatching(/^gw_/) }),
          accountId: organizationId,
        },
        account: expect.objectContaining({ id: organizationId }),
      },
    ]);
    expect((await terminal.operate(key, 'app.add', APP)).body).toEqual(body);
    expect((await terminal.poll()).body).toEqual(body);
    clock.advance(15 * MINUTE_MS);
    const later = (await terminal.operate(key, 'app.add', APP)).body;
    const { key: _key, ...facts } = body.result.api_key;
    expect([later.result.app, later.result.api_key]).toEqual([body.result.app, facts]);
    const { body: listed } = await world.as(key).get('/v1/admin/apps');
    expect(listed.apps).toHaveLength(1);
  });

  it('the same request many times at once → one application, one key', async () => {
    const terminal = new Terminal(world);
    const answers = await Promise.all(Array.from({ length: 8 }, () => terminal.operate(key, 'app.add', APP)));
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    const { body } = await world.as(key).get('/v1/admin/apps');
    expect(body.apps).toHaveLength(1);
  });

  it('the same token with another request, or from another account → 409', async () => {
    const terminal = new Terminal(world);
    await terminal.operate(key, 'app.add', APP);
    expect(codeOf(await terminal.operate(key, 'app.add', { ...APP, name: 'Other' }))).toEqual([409, 'conflict']);
    expect(codeOf(await terminal.operate(key, 'claim', {}))).toEqual([409, 'conflict']);
    const { owner: stranger } = await newOrganization(world);
    const { body } = await stranger.client.post('/v1/admin/keys', { name: 'Theirs' });
    expect(codeOf(await terminal.operate(body.key.plaintext, 'app.add', APP))).toEqual([409, 'conflict']);
    expect(codeOf(await terminal.open())).toEqual([409, 'conflict']);
  });

  it('app.key.add → a working key; another account’s application → 404', async () => {
    const { body: created } = await new Terminal(world).operate(key, 'app.add', APP);
    const app = created.result.app.id;
    const { status, body } = await new Terminal(world).operate(key, 'app.key.add', { app, name: 'Second' });
    expect([status, body.result.appId, body.result.api_key.name]).toEqual([200, app, 'Second']);
    const me = await world.as(body.result.api_key.key).get(`/v1/apps/${app}/me`);
    expect(me.status).toBe(404);
    const foreign = await world.app();
    const refused = await new Terminal(world).operate(key, 'app.key.add', { app: foreign.id, name: 'x' });
    expect(codeOf(refused)).toEqual([404, 'app_not_found']);
  });

  it('provider.add with its key → stored sealed; the operation stores no key', async () => {
    const terminal = new Terminal(world);
    const payload = { type: 'openai', name: 'OpenAI', slug: newSlug(), secret: SECRET };
    const { status, body, text } = await terminal.operate(key, 'provider.add', payload);
    expect([status, body.result.provider.secretHint]).toEqual([200, '4711']);
    const [row] = await world.dataSource.query('SELECT o::text AS text FROM cli_operations o WHERE id = $1', [
      terminal.id,
    ]);
    expect(`${text}${row.text}`).not.toContain(SECRET);
  });

  it.each([
    ['app.add', { ...APP, id: 'mine' }, 'payload.id'],
    ['app.add', { name: 'x' }, 'payload.config'],
    ['app.key.add', { name: 'x' }, 'payload.app'],
    ['provider.add', { type: 'openai', name: 'x', secret: 'short' }, 'payload.secret'],
    ['provider.rotate-key', { provider: 'nobody', secret: SECRET }, 'payload.secret'],
    ['provider-gateway.add', { type: 'nothing', name: 'x', token: SECRET }, 'payload.type'],
    ['claim', { account: 'mine' }, 'payload.account'],
    ['nothing', {}, 'kind'],
  ])('%s %j → 400 that names the member', async (kind, payload, path) => {
    const { status, body } = await new Terminal(world).operate(key, kind, payload);
    expect([status, body.error.message.split(':')[0]]).toEqual([400, path]);
  });

  it('a session, a key that only reads, a member’s key → refused before anything happens', async () => {
    const body = { kind: 'app.add', payload: APP, token: new Terminal(world).token };
    expect(codeOf(await owner.client.post('/v1/cli/operations', body))).toEqual([403, 'forbidden']);
    const reading = await owner.client.post('/v1/admin/keys', { name: 'Reads', grant: 'read' });
    const terminal = new Terminal(world);
    expect(codeOf(await terminal.operate(reading.body.key.plaintext, 'app.add', APP))).toEqual([
      403,
      'grant_insufficient',
    ]);
  });
});

describe('operations that a person completes', () => {
  it('provider.add → the key is typed on the page, never in the terminal', async () => {
    const slug = newSlug();
    const { terminal, proof } = await openStep('provider.add', { type: 'openai', name: 'OpenAI', slug });
    expect((await page().details(terminal.id, proof)).body).toMatchObject({
      ...{ kind: 'provider.add', payload: { type: 'openai', name: 'OpenAI', slug }, viewer: null, blockedBy: null },
      account: { id: organizationId },
    });
    expect(codeOf(await submit(terminal, proof))).toEqual([400, 'invalid_request']);
    expect(codeOf(await submit(terminal, proof, ' '))).toEqual([400, 'invalid_request']);
    expect(codeOf(await submit(terminal, proof, 'short'))).toEqual([400, 'invalid_request']);
    const { status, body } = await submit(terminal, proof, SECRET);
    expect([status, body.continueTo]).toEqual([200, 'cli']);
    expect((await submit(terminal, proof, SECRET)).body).toEqual(body);
    const { body: polled } = await terminal.poll();
    expect(polled.result.provider).toMatchObject({ slug, secretHint: '4711' });
    const trail = await world.as(key).get('/v1/admin/audit-events');
    expect(trail.body.events[0]).toMatchObject({ action: 'provider.created', actor: { action_source: 'cli' } });
  });

  it('provider.rotate-key → the page shows the provider; the new key replaces the old one', async () => {
    const provider = await newProvider();
    const { terminal, proof } = await openStep('provider.rotate-key', { provider: provider.slug });
    const { body } = await page().details(terminal.id, proof);
    expect(body.payload).toMatchObject({
      provider: provider.slug,
      snapshot: { id: provider.id, secretHint: '-all' },
    });
    expect((await submit(terminal, proof, SECRET)).status).toBe(200);
    expect((await terminal.poll()).body.result.provider).toMatchObject({
      id: provider.id,
      secretHint: '4711',
      revision: 2,
    });
  });

  it('provider.update → approved on the page; a new address requires the key that is sent there', async () => {
    const { id } = await newProvider();
    const renamed = await openStep('provider.update', { provider: id, name: 'Renamed' });
    expect(codeOf(await submit(renamed.terminal, renamed.proof, SECRET))).toEqual([400, 'invalid_request']);
    expect((await submit(renamed.terminal, renamed.proof)).status).toBe(200);
    const moved = await openStep('provider.update', { provider: id, baseUrl: 'https://eu.api.openai.com/v1/' });
    expect(codeOf(await submit(moved.terminal, moved.proof))).toEqual([400, 'invalid_request']);
    expect((await submit(moved.terminal, moved.proof, SECRET)).status).toBe(200);
    const { body } = await moved.terminal.poll();
    expect(body.result.provider).toMatchObject({ name: 'Renamed', baseUrl: 'https://eu.api.openai.com/v1/' });
  });

  it('provider-gateway.add and rotate-key → the token is typed on the page', async () => {
    const added = await openStep('provider-gateway.add', { type: 'vercel', name: 'Edge' });
    expect((await submit(added.terminal, added.proof, SECRET)).status).toBe(200);
    const { gateway } = (await added.terminal.poll()).body.result;
    const rotated = await openStep('provider-gateway.rotate-key', { gateway: gateway.id });
    const { body } = await page().details(rotated.terminal.id, rotated.proof);
    expect(body.payload.gatewaySnapshot).toMatchObject({ id: gateway.id });
    expect((await submit(rotated.terminal, rotated.proof, 'another-token-0815')).status).toBe(200);
    expect((await rotated.terminal.poll()).body.result.gateway).toMatchObject({ revision: 2, secretHint: '0815' });
  });

  it('approvals at once → one change', async () => {
    const provider = await newProvider();
    const { terminal, proof } = await openStep('provider.rotate-key', { provider: provider.id });
    const answers = await Promise.all(Array.from({ length: 5 }, () => submit(terminal, proof, SECRET)));
    for (const answer of answers) expect([200, 409]).toContain(answer.status);
    expect((await terminal.poll()).body.result.provider.revision).toBe(2);
  });

  it('the key of the sender is revoked meanwhile → 409, nothing is changed', async () => {
    const provider = await newProvider();
    const { terminal, proof } = await openStep('provider.rotate-key', { provider: provider.id });
    await owner.client.post(`/v1/admin/keys/${keyId}/revoke`);
    expect(codeOf(await submit(terminal, proof, SECRET))).toEqual([409, 'conflict']);
    const { body } = await owner.client.get('/v1/admin/providers');
    expect(body.providers[0].revision).toBe(1);
  });

  it('the sender’s role is lowered meanwhile → 409', async () => {
    const provider = await newProvider();
    const { terminal, proof } = await openStep('provider.rotate-key', { provider: provider.id });
    await world.dataSource.query("UPDATE memberships SET role = 'member' WHERE identity_id = $1", [owner.identityId]);
    expect(codeOf(await submit(terminal, proof, SECRET))).toEqual([409, 'conflict']);
  });

  it('declined, expired → nothing happens, and the terminal sees it', async () => {
    const first = await openStep('provider.add', { type: 'openai', name: 'x', slug: newSlug() });
    expect((await page().deny(first.terminal.id, first.proof)).status).toBe(200);
    expect(codeOf(await submit(first.terminal, first.proof, SECRET))).toEqual([409, 'operation_denied']);
    expect((await first.terminal.poll()).body).toMatchObject({ state: 'expired', denied: true });
    const late = await openStep('provider.add', { type: 'openai', name: 'x', slug: newSlug() });
    clock.advance(15 * MINUTE_MS);
    expect(codeOf(await submit(late.terminal, late.proof, SECRET))).toEqual([410, 'operation_expired']);
    expect((await world.as(key).get('/v1/admin/providers')).body.providers).toEqual([]);
  });

  it.each<[string, string, () => object | Promise<object>, [number, string], string]>([
    [
      'a slug that is taken',
      'provider.add',
      async () => ({ type: 'openai', name: 'x', slug: (await newProvider()).slug }),
      [409, 'slug_taken'],
      'slug: ',
    ],
    [
      'a reserved slug',
      'provider.add',
      () => ({ type: 'openai', name: 'x', slug: 'mistral' }),
      [400, 'invalid_request'],
      'payload.slug: ',
    ],
    [
      'a gateway that is not there',
      'provider.add',
      () => ({ type: 'openai', name: 'x', slug: newSlug(), providerGatewayId: 'none' }),
      [404, 'not_found'],
      'Provider gateway not found',
    ],
    [
      'a stale revision',
      'provider.update',
      async () => ({ provider: (await newProvider()).id, name: 'x', revision: 9 }),
      [409, 'conflict'],
      'The provider changed',
    ],
    [
      'nothing to change',
      'provider.update',
      async () => ({ provider: (await newProvider()).id }),
      [400, 'invalid_request'],
      'payload: must change',
    ],
    [
      'a stale revision of a key',
      'provider.rotate-key',
      async () => ({ provider: (await newProvider()).id, revision: 9 }),
      [409, 'conflict'],
      'The provider changed',
    ],
    [
      'the key of a gateway’s provider',
      'provider.rotate-key',
      async () => ({ provider: await routedProvider() }),
      [409, 'provider_gateway_managed'],
      'The gateway owns',
    ],
    [
      'a stale revision of a gateway',
      'provider-gateway.rotate-key',
      async () => ({ gateway: await newGateway(), revision: 9 }),
      [409, 'conflict'],
      'The provider gateway changed',
    ],
  ])('%s → refused before there is a link', async (_what, kind, payloadOf, code, message) => {
    const members = kind.endsWith('.add') ? { browser: true } : {};
    const terminal = new Terminal(world);
    const refused = await terminal.operate(key, kind, await payloadOf(), members);
    expect([codeOf(refused), refused.body.error.message]).toEqual([code, expect.stringMatching(`^${message}`)]);
    expect((await terminal.poll()).status).toBe(404);
  });

  it('a refusal when the person acts → stored in the operation until another attempt succeeds', async () => {
    const slug = newSlug();
    const { terminal, proof } = await openStep('provider.add', { type: 'openai', name: 'x', slug });
    const taken = { type: 'openai', name: 'Other', slug, secret: SECRET };
    const { id } = (await world.as(key).post('/v1/admin/providers', taken)).body.provider;
    expect(codeOf(await submit(terminal, proof, 'short'))).toEqual([400, 'invalid_request']);
    expect((await terminal.poll()).body.failure).toBeUndefined();
    expect((await page().details(terminal.id, proof)).status).toBe(200);
    expect(codeOf(await submit(terminal, proof, SECRET))).toEqual([409, 'slug_taken']);
    const failure = { code: 'slug_taken', message: expect.stringContaining(slug) };
    expect((await terminal.poll()).body).toMatchObject({ state: 'pending', failure });
    expect((await world.as(key).get(`/v1/admin/operations/${terminal.id}`)).body).toMatchObject({ failure });
    await world.as(key).delete(`/v1/admin/providers/${id}`);
    expect((await submit(terminal, proof, SECRET)).status).toBe(200);
    const { body } = await terminal.poll();
    expect([body.state, body.failure]).toEqual(['completed', undefined]);
  });

  it.each([
    ['of 16 000 characters', 's'.repeat(16_000)],
    ['of 4 097 characters', 's'.repeat(4_097)],
    ['of 7 characters', 's'.repeat(7)],
    ['with a line end', `${SECRET}\n`],
    ['with letters beyond ASCII', `${SECRET}é`],
  ])(
    'a secret %s → validated as by the routes of providers and gateways, and nothing is stored',
    async (_what, secret) => {
      const { id } = await newProvider();
      const steps = [
        await openStep('provider.add', { type: 'openai', name: 'x', slug: newSlug() }),
        await openStep('provider.rotate-key', { provider: id }),
        await openStep('provider-gateway.add', { type: 'vercel', name: 'Edge' }),
      ];
      for (const { terminal, proof } of steps) {
        const refused = await submit(terminal, proof, secret);
        expect([refused.status, refused.body.error.message]).toEqual([400, expect.stringMatching(/^secret: must /)]);
      }
      const direct = await world.as(key).post('/v1/admin/providers', { type: 'xai', name: 'x', secret });
      expect(direct.status).toBe(400);
      expect((await world.as(key).get('/v1/admin/providers')).body.providers).toHaveLength(1);
    },
  );

  it('the page → the requester by the name of its key; the account by name and id; its address and time', async () => {
    const { body } = await owner.client.post('/v1/admin/keys', { name: 'Ops “<b>' });
    const terminal = new Terminal(world);
    const payload = { type: 'openai', name: 'x', slug: newSlug() };
    const opened = await terminal.operate(body.key.plaintext, 'provider.add', payload, { browser: true });
    const answer = await fetch(`${world.consoleOrigin}/cli/approve/${terminal.id}`, {
      method: 'POST',
      headers: { origin: world.consoleOrigin },
      body: new URLSearchParams({ submissionToken: proofIn(opened) }),
    });
    const text = await answer.text();
    expect(text).toContain('<dt>Asked by</dt><dd>“<bdi>Ops “&lt;b&gt;</bdi>”');
    expect(text).toContain('not verified');
    expect(text).toContain(`<dt>Account</dt><dd><bdi>Theirs</bdi> (${organizationId})</dd>`);
    expect(text).toContain('<dt>Address</dt><dd>127.0.0.1</dd>');
    expect(text).toContain(`<dt>Asked at</dt><dd>${clock.now().toISOString().slice(0, 10)}`);
  });

  it('a sign-in at a finished step that needs none → 403, as while it is pending', async () => {
    const { terminal, proof } = await openStep('provider.add', { type: 'openai', name: 'x', slug: newSlug() });
    expect((await submit(terminal, proof, SECRET)).status).toBe(200);
    expect(codeOf(await page().post(`${terminal.id}/google`, { submissionToken: proof }))).toEqual([403, 'forbidden']);
  });

  it('ten browser steps in a minute → the eleventh is 429; ten pending → 429 even later', async () => {
    for (let at = 0; at < 10; at++) await openStep('provider.add', { type: 'openai', name: 'x', slug: newSlug() });
    const payload = { type: 'openai', name: 'x', slug: newSlug() };
    const next = () => new Terminal(world).operate(key, 'provider.add', payload, { browser: true });
    expect((await next()).body.error.data).toMatchObject({ scope: 'operation', limit: 10 });
    clock.advance(MINUTE_MS);
    const refused = await next();
    expect([...codeOf(refused), refused.body.error.data]).toEqual([429, 'rate_limited', undefined]);
    clock.advance(15 * MINUTE_MS);
    expect((await next()).status).toBe(200);
  });

  it('a user code or a sign-in → not accepted here', async () => {
    const { terminal, proof } = await openStep('provider.add', { type: 'openai', name: 'x', slug: newSlug() });
    const newcomer = { submissionToken: proof, name: 'x', email: 'x@example.com', password: 'long enough' };
    expect(codeOf(await page().post(`${terminal.id}/register`, newcomer))).toEqual([403, 'forbidden']);
    expect(codeOf(await page().post(`${terminal.id}/google`, { submissionToken: proof }))).toEqual([403, 'forbidden']);
    expect(codeOf(await page().details(terminal.id, 'ABCD-EFGH'))).toEqual([403, 'forbidden']);
  });
});

describe('the account of a terminal', () => {
  it('GET /v1/cli/capabilities → what the deployment offers', async () => {
    const { status, body } = await world.as(undefined).get('/v1/cli/capabilities');
    expect([status, body]).toEqual([
      200,
      {
        ...{ protocolVersion: 1, serverVersion: '0.1.0', consoleOrigin: expect.any(String) },
        deployment: expect.objectContaining({ mode: 'self_hosted', id: expect.stringMatching(/^[0-9a-f-]{36}$/) }),
        providers: expect.arrayContaining([
          {
            ...{ type: 'openai', name: 'OpenAI', baseUrl: 'https://api.openai.com/', defaultPath: expect.any(String) },
            apiStyles: expect.arrayContaining(['responses']),
            endpointStyles: ['responses', 'transcription'],
          },
        ]),
        providerGateways: [
          { type: 'cf_aig', name: 'Cloudflare AI Gateway' },
          { type: 'vercel', name: 'Vercel AI Gateway' },
        ],
        features: { browserLogin: true },
      },
    ]);
    expect(body.providers).toHaveLength(16);
  });

  it('GET /v1/cli/account → the account of the key', async () => {
    const { status, body } = await world.as(key).get('/v1/cli/account');
    expect([status, body]).toEqual([
      200,
      {
        deployment: expect.objectContaining({ mode: 'self_hosted' }),
        account: expect.objectContaining({ id: organizationId, name: 'Theirs', claimed: true }),
        ...{ billing: { access: { state: 'self_hosted' } }, usage: null },
      },
    ]);
  });

  it('GET /v1/cli/usage → every application, deleted ones included, and exact sums', async () => {
    const { body: created } = await new Terminal(world).operate(key, 'app.add', APP);
    const kept = created.result.app.id;
    const used = (app_id: string, at: string, cost_nano_usd: number) => ({
      organization_id: organizationId,
      app_id,
      at,
      cost_nano_usd,
    });
    await storeEvents(
      world.dataSource,
      used(kept, '2029-12-30T12:00:00Z', 100_000_001),
      used(kept, '2030-01-02T12:00:00Z', 100_000_001),
      used('gone-abcdef', '2030-01-03T12:00:00Z', 200_000_002),
    );
    const { body } = await world.as(key).get('/v1/cli/usage?month=2030-01');
    expect(body.totals).toMatchObject({ requests: 2, cost_usd: 0.300000003 });
    expect(body.apps).toEqual([
      expect.objectContaining({
        appId: kept,
        deleted: false,
        requests: 1,
        cost_usd: 0.100000001,
        firstRecord: '2029-12-30',
      }),
      expect.objectContaining({ appId: 'gone-abcdef', deleted: true, requests: 1, firstRecord: '2030-01-03' }),
    ]);
    expect(body.coverage.firstRecord).toBe('2029-12-30');
  });

  it('GET /v1/cli/usage of an account without any → zeros', async () => {
    const { body } = await world.as(key).get('/v1/cli/usage?month=2030-01');
    expect(body).toEqual({
      ...{ accountId: organizationId, month: '2030-01', apps: [] },
      totals: expect.objectContaining({ requests: 0, cost_usd: 0 }),
      coverage: { scope: 'retained_account_usage', firstRecord: null },
    });
    expect(codeOf(await world.as(key).get('/v1/cli/usage?month=2030-13'))).toEqual([400, 'invalid_request']);
  });
});
