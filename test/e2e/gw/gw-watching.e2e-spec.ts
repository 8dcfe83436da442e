import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { newAccount } from '../../support/accounts/accounts.js';
import type { ApiClient } from '../../support/api-client.js';
import { anAuthEvent, recordAuthEvents } from '../../support/client-auth/exchange/auth-events.js';
import { Gw, type GwRun } from '../../support/gw/gw.js';
import { type ScriptedUpstream, startUpstream } from '../../support/proxy/upstream.js';
import { dieAfter, event, json, sse } from '../../support/proxy/upstream-scripts.js';
import { type EventMembers, storeEvents } from '../../support/usage/recording/usage-events.js';
import { startWorld, type World } from '../../support/world.js';

const PRICED = { input_tokens: 1000, output_tokens: 500, total_tokens: 1500 };
const STREAM = sse(
  [
    event({ type: 'response.output_text.delta', delta: 'Hello, ' }),
    event({ type: 'response.output_text.delta', delta: 'world.' }),
    event({
      type: 'response.completed',
      response: { id: 'r', object: 'response', model: 'gpt-4.1-mini', usage: PRICED },
    }),
  ],
  { delayMs: 50 },
);
let world: World;
let upstream: ScriptedUpstream;
let gw: Gw;
let api: ApiClient;
let appKey: string;
let organizationId: string;

beforeAll(async () => {
  upstream = await startUpstream();
  world = await startWorld();
});
beforeEach(async () => {
  upstream.forget();
  upstream.script(STREAM);
  const { key, organizationId: account } = await newAccount(world.dataSource);
  organizationId = account;
  api = world.as(key);
  gw = new Gw({ GW_URL: world.baseUrl, GW_MANAGEMENT_KEY: key });
  const pricing = { 'gpt-4.1-mini': { input: 1, output: 2 } };
  const place = { secret: 'sk-of-a-provider', baseUrl: `${upstream.url}/` };
  await api.post('/v1/admin/providers', { type: 'openai', name: 'OpenAI', pricing, ...place });
  const config = {
    authentication: { type: 'api_key', end_user: { source: 'header' } },
    routing: { providers: { mode: 'all' }, model_rewrites: {} },
    endpoints: { summary: { provider: 'openai', model: 'gpt-4.1-mini', api_style: 'responses' } },
  };
  ({ key: appKey } = (await api.post('/v1/admin/apps', { name: 'Notes', handle: 'notes', config })).body.api_key);
});
afterEach(() => gw.remove());
afterAll(async () => {
  await world.stop();
  await upstream.close();
});

const errorOf = ({ exitCode, json: document }: GwRun) => [exitCode, document?.error?.code];
const call = (words: string) => gw.run(`app call notes ${words} --json`, '', { GW_APP_KEY: appKey });

describe('gw app call', () => {
  it.each([
    ['Hi --endpoint summary --user ada', '/v1/responses'],
    ['Hi --provider openai --model gpt-4.1-mini --user ada', '/v1/responses'],
  ])('%s → the text, Server-Timing and the recorded cost', async (words, path) => {
    const { exitCode, json: document } = await call(words);
    expect([exitCode, document.result.text, document.result.status]).toEqual([0, 'Hello, world.', 200]);
    expect(document.result.serverTiming).toMatch(/dur=/);
    expect(document.result.event).toMatchObject({ user_id: 'ada', cost_usd: 0.002, input_tokens: 1000 });
    expect(upstream.requests.map((sent) => sent.path)).toEqual([path]);
  });

  it('for people → the stream as it arrives, then its cost', async () => {
    const { stdout } = await gw.run('app call notes Hi --user ada', '', { GW_APP_KEY: appKey });
    expect(stdout).toMatch(/^Hello, world\.\n\nStatus +200\n/);
    expect(stdout).toContain('$0.002');
  });

  it('with only the key of the application → a call of an endpoint, without its cost', async () => {
    const { apps } = (await api.get('/v1/admin/apps')).body;
    const line = `app call ${apps[0].id} Hi --endpoint summary --user ada --json`;
    const { exitCode, json: document } = await gw.run(line, '', { GW_APP_KEY: appKey, GW_MANAGEMENT_KEY: '' });
    expect(document).toMatchObject({ ok: true, result: { text: 'Hello, world.', event: null } });
    expect(exitCode).toBe(0);
  });

  it.each([
    ['--endpoint nothing --user ada', 2, 'endpoint_not_found'],
    ['--provider nobody --model x --user ada', 2, 'provider_not_found'],
    ['--provider openai --user ada', 2, 'option_required'],
    ['--endpoint summary', 2, 'user_required'],
    ['--endpoint summary --provider openai --user ada', 2, 'invalid_option'],
  ])('%s → exit %i', async (words, exitCode) => {
    expect((await call(words)).exitCode).toBe(exitCode);
    expect(upstream.requests).toEqual([]);
  });

  it('only --model → the first active provider that the application reaches', async () => {
    const [app] = (await api.get('/v1/admin/apps')).body.apps;
    await api.post('/v1/admin/providers', { type: 'anthropic', name: 'A', slug: 'aaa', secret: 'sk-of-a-provider' });
    const selected = { openai: { allowed_paths: ['v1/chat/completions'], allowed_models: [] } };
    const config = {
      authentication: { type: 'api_key', end_user: { source: 'header' } },
      routing: { providers: { mode: 'selected', selected }, model_rewrites: {} },
    };
    const { revision } = (await api.get(`/v1/admin/apps/${app.id}`)).body.app;
    await api.put(`/v1/admin/apps/${app.id}`, { name: 'Notes', config, revision });
    await call('Hi --model gpt-4.1-mini --user ada');
    expect(upstream.requests.map((sent) => sent.path)).toEqual(['/v1/chat/completions']);
  });

  it.each([
    ['--endpoint nothing --user ada', 'gw app show notes'],
    ['--endpoint summary', '--user'],
  ])('%s → what to do about it', async (words, advice) => {
    expect((await call(words)).json.error.nextAction).toContain(advice);
  });

  it('a key of another application → names GW_APP_KEY, not the login', async () => {
    const line = 'app call notes --endpoint summary --user ada --json';
    const run = await gw.run(line, '', { GW_APP_KEY: 'gw_0123456789abcdefghijklmnopqrstuvwxyzABCDEF' });
    expect(run.exitCode).toBe(4);
    expect(run.json.error.nextAction).toContain('GW_APP_KEY');
  });

  it('without GW_APP_KEY → exit 4', async () => {
    expect(errorOf(await gw.run('app call notes --json'))).toEqual([4, 'app_key_required']);
  });

  it('a stream that breaks off → exit 3, with the part that arrived', async () => {
    upstream.script(dieAfter(500, event({ type: 'response.output_text.delta', delta: 'Hel' })));
    const run = await call('Hi --user ada');
    expect(errorOf(run)).toEqual([3, 'stream_cut']);
    expect(run.json.error.details.text).toBe('Hel');
  });

  it('a provider that refuses → its status decides the exit code', async () => {
    upstream.script(json(500, { error: { message: 'broken' } }));
    expect((await call('Hi --user ada')).exitCode).toBe(3);
  });
});

describe('gw usage tail', () => {
  it('--once → past calls; each line is a separate JSON document', async () => {
    await call('Hi --user ada');
    await call('Hi --user bob');
    const { stdout } = await gw.run('usage tail --app notes --once --json');
    const lines = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).result);
    expect(lines.map(({ event: one }) => one?.user_id)).toEqual(['ada', 'bob', undefined]);
    expect(lines.at(-1)).toEqual({ ended: true, events: 2 });
  });

  it('authentication events → among the calls, in chronological order', async () => {
    await call('Hi --user ada');
    const [app] = (await api.get('/v1/admin/apps')).body.apps;
    const attempt = { organizationId, appId: app.id, userId: 'bob', outcome: 'attest_failed' } as const;
    await recordAuthEvents(world.gateway, [anAuthEvent(attempt)]);
    const { json: document, stdout } = await gw.run('usage tail --app notes --once --json');
    expect(document).toBeUndefined();
    const lines = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).result);
    expect(lines.filter(({ kind }) => kind === 'auth')).toMatchObject([
      { event: { user_id: 'bob', outcome: 'attest_failed' } },
    ]);
    expect(lines.filter(({ kind }) => kind === 'usage')).toHaveLength(1);
    expect((await gw.run('usage tail --app notes --once')).stdout).toMatch(/auth {2}\w+ {2}attest_failed/);
  });

  it('follows calls as they are recorded, each once, until Ctrl-C prints their number', async () => {
    await call('Hi --user earlier');
    const session = gw.onTerminal('usage tail --app notes --lines 1');
    await session.shows('earlier');
    for (const user of ['ada', 'bob', 'carol']) {
      await call(`Hi --user ${user}`);
      await session.shows(user);
    }
    session.type('\u0003');
    expect(await session.ended).toBe(130);
    expect(session.screen).toContain('Followed 4 events.');
    for (const user of ['ada', 'bob', 'carol']) expect(session.screen.split(user)).toHaveLength(2);
  });
});

describe('gw logs', () => {
  const usersOf = ({ stdout }: GwRun) =>
    stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).result)
      .flatMap(({ kind, event: one }) => (kind === 'usage' ? [one.user_id] : []));
  const store = (app: string, ...all: readonly Partial<EventMembers>[]) =>
    storeEvents(
      world.dataSource,
      ...all.map((members) => ({ organization_id: organizationId, app_id: app, ...members })),
    );
  const newApp = async (name: string) => {
    const config = { authentication: { type: 'api_key' }, routing: { providers: { mode: 'all' }, model_rewrites: {} } };
    return (await api.post('/v1/admin/apps', { name, handle: name, config })).body.app.id as string;
  };
  const NOW = Date.now();

  it('the calls of every application of the account, and no others', async () => {
    await call('Hi --user ada');
    await store(await newApp('reports'), { user_id: 'bob', created_at_ms: NOW });
    const { stdout } = await gw.run('logs --once');
    expect(stdout).toMatch(/ {2}notes {2}call {2}ok .*ada$/m);
    expect(stdout).toMatch(/ {2}reports {2}call {2}ok .*bob$/m);
    const { key } = await newAccount(world.dataSource);
    const other = await gw.run('logs --once', '', { GW_MANAGEMENT_KEY: key });
    expect([other.stdout, other.stderr]).toEqual(['', expect.stringContaining('No event matches')]);
  });

  it('filters → only those calls, even if they are older than one page', async () => {
    const app = await newApp('reports');
    const at = (seconds: number) => ({ created_at_ms: NOW - seconds * 1000 });
    await store(app, { user_id: 'ada', model: 'rare', api_key_id: 'key-1', provider_slug: 'eu', ...at(600) });
    await store(app, { user_id: 'bob', status: 'provider_error', provider_type: 'mistral', ...at(500) });
    await store(app, ...Array.from({ length: 210 }, () => ({ user_id: 'carol', ...at(400) })));
    const users = async (words: string) => usersOf(await gw.run(`logs --once --json ${words}`));
    expect(await users('--model rare')).toEqual(['ada']);
    expect(await users('--key key-1')).toEqual(['ada']);
    expect(await users('--provider eu')).toEqual(['ada']);
    expect(await users('--provider mistral')).toEqual(['bob']);
    expect(await users('--status provider_error')).toEqual(['bob']);
    expect(await users('--user ada --app reports')).toEqual(['ada']);
    expect(await users('--lines 3')).toEqual(['carol', 'carol', 'carol']);
    expect(await users('--key nobody')).toEqual([]);
    expect(errorOf(await gw.run('logs --app reports --key nobody --once --json'))).toEqual([2, 'not_found']);
  });

  it('follows calls of all applications, even of a new one, each once', async () => {
    await call('Hi --user earlier');
    const session = gw.onTerminal('logs --lines 1');
    await session.shows('earlier');
    await call('Hi --user ada');
    await session.shows('ada');
    await store(await newApp('reports'), { user_id: 'bob', created_at_ms: Date.now() });
    await session.shows('bob');
    await call('Hi --user carol');
    await session.shows('carol');
    session.type('\u0003');
    expect(await session.ended).toBe(130);
    for (const user of ['ada', 'bob', 'carol']) expect(session.screen.split(user)).toHaveLength(2);
  });
});

describe('gw usage tail of the account', () => {
  it('→ calls and authentication events of all applications, each with its application', async () => {
    await call('Hi --user ada');
    const [app] = (await api.get('/v1/admin/apps')).body.apps;
    await recordAuthEvents(world.gateway, [anAuthEvent({ organizationId, appId: app.id, userId: 'bob' })]);
    const followed = async (words: string) =>
      (await gw.run(`usage tail --once --json ${words}`)).stdout
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line).result)
        .flatMap(({ kind, app_id }) => (kind === undefined ? [] : [[kind, app_id]]));
    expect(await followed('')).toEqual(
      expect.arrayContaining([
        ['usage', app.id],
        ['auth', app.id],
      ]),
    );
    expect(await followed('--status ok')).toEqual([['usage', app.id]]);
  });
});
