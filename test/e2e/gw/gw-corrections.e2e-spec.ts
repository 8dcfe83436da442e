import { createHash } from 'node:crypto';
import { appendFileSync, existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { newAccount } from '../../support/accounts/accounts.js';
import type { ApiClient } from '../../support/api-client.js';
import { FakeClock } from '../../support/clock.js';
import { Gw, type GwRun } from '../../support/gw/gw.js';
import { losing } from '../../support/gw/lossy-proxy.js';
import { type EventMembers, storeEvents } from '../../support/usage/recording/usage-events.js';
import { startWorld, type World } from '../../support/world.js';

const NOW_MS = Date.UTC(2026, 10, 20, 12);
const DAY_MS = 24 * 60 * 60 * 1000;
const REPRICE = 'usage reprice --app notes --provider openai --model own --month 2026-11';
const SETTLE = 'usage settle --app notes --month 2026-11';
const CONFIG = { authentication: { type: 'api_key' }, routing: { providers: { mode: 'all' }, model_rewrites: {} } };
let world: World;
let gw: Gw;
let api: ApiClient;
let organizationId: string;
let app: string;
let provider: string;

beforeAll(async () => {
  world = await startWorld({ clock: new FakeClock(NOW_MS), env: { REDIS_URL: '' } });
});
beforeEach(async () => {
  const account = await newAccount(world.dataSource);
  ({ organizationId } = account);
  api = world.as(account.key);
  gw = new Gw({ GW_URL: world.baseUrl, GW_MANAGEMENT_KEY: account.key });
  app = (await api.post('/v1/admin/apps', { name: 'Notes', handle: 'notes', config: CONFIG })).body.app.id;
  const added = {
    type: 'openai',
    name: 'OpenAI',
    secret: 'sk-of-a-provider',
    pricing: { own: { input: 1, output: 2 } },
  };
  provider = (await api.post('/v1/admin/providers', added)).body.provider.id;
});
afterEach(() => gw.remove());
afterAll(() => world.stop());

const errorOf = ({ exitCode, json: document }: GwRun) => [exitCode, document?.error?.code];
const store = (members: Partial<EventMembers>) =>
  storeEvents(world.dataSource, {
    ...{ organization_id: organizationId, app_id: app, created_at_ms: NOW_MS, model: 'own', provider_id: provider },
    ...members,
  });
const costs = async () =>
  (await api.get(`/v1/admin/apps/${app}/events`)).body.events.map(
    ({ cost_usd, estimated_cost_usd }: { cost_usd: number; estimated_cost_usd: number }) => [
      ...[cost_usd, estimated_cost_usd],
    ],
  );

describe('gw usage reprice', () => {
  beforeEach(() => store({ input_tokens: 1000, output_tokens: 501, cost_nano_usd: 5 }));

  it('--dry-run → the amounts exact to the nano-dollar, and nothing is changed', async () => {
    const { stdout } = await gw.run(`${REPRICE} --dry-run`);
    expect(stdout).toMatch(/^Cost before +\$0\.000000005$/m);
    expect(stdout).toMatch(/^Cost after +\$0\.002002$/m);
    expect(stdout).toMatch(/^Difference +\$0\.002001995$/m);
    expect(stdout).toContain('Nothing was changed.');
    expect(await costs()).toEqual([[5e-9, 0]]);
  });

  it('without a terminal → needs --yes, then writes', async () => {
    expect(errorOf(await gw.run(`${REPRICE} --json`))).toEqual([2, 'confirmation_required']);
    expect(await costs()).toEqual([[5e-9, 0]]);
    const { json: document } = await gw.run(`${REPRICE} --yes --json`);
    expect(document.result).toMatchObject({ applied: true, matched_events: 1, recalculated_cost_usd: 0.002002 });
    expect(await costs()).toEqual([[0.002002, 0]]);
  });

  it.each([
    ['y', 0, 0.002002],
    ['n', 130, 5e-9],
  ])('on a terminal → the amounts, then a question; "%s" → exit %i', async (answer, exitCode, cost) => {
    const session = gw.onTerminal(REPRICE);
    await session.shows('Write the new costs of 1 event?');
    expect(session.screen).toContain('$0.002001995');
    session.type(answer);
    expect(await session.ended).toBe(exitCode);
    expect(await costs()).toEqual([[cost, 0]]);
  });

  it('an event without a price → exit 2 before a question, and --dry-run counts it', async () => {
    await api.put(`/v1/admin/providers/${provider}`, { pricing: null });
    expect(errorOf(await gw.run(`${REPRICE} --yes --json`))).toEqual([2, 'pricing_not_configured']);
    const { json: document } = await gw.run(`${REPRICE} --dry-run --json`);
    expect(document.result).toMatchObject({ applied: false, unpriced_events: 1 });
  });

  it('no event, an option too few, another account → nothing is written', async () => {
    const none = await gw.run(`${REPRICE.replace('own', 'other')} --yes`);
    expect([none.exitCode, none.stdout]).toEqual([0, 'No event matches. Nothing was changed.\n']);
    expect(errorOf(await gw.run('usage reprice --app notes --provider openai --model own --json'))).toEqual([
      ...[2, 'option_required'],
    ]);
    const { key } = await newAccount(world.dataSource);
    const run = await gw.run(`${REPRICE} --yes --json`, '', { GW_MANAGEMENT_KEY: key });
    expect(errorOf(run)).toEqual([2, 'app_not_found']);
  });
});

describe('gw usage settle', () => {
  beforeEach(() => store({ cost_source: 'unresolved', cost_nano_usd: 1e9, charged_nano_usd: 3e9 }));

  it.each([
    ['zero', [1, 0]],
    ['estimate', [3, 0]],
    ['0.000000001', [1.000000001, 0]],
  ])('--cost %s → the result that the preview shows', async (cost, [usd, estimate]) => {
    const preview = await gw.run(`${SETTLE} --cost ${cost} --dry-run --json`);
    expect(preview.json.result).toMatchObject({ applied: false, settled_cost_usd: usd });
    expect(await costs()).toEqual([[1, 2]]);
    const { json: document } = await gw.run(`${SETTLE} --cost ${cost} --yes --json`);
    expect(document.result).toMatchObject({
      applied: true,
      settled_cost_usd: usd,
      settled_estimated_cost_usd: estimate,
    });
    expect((await costs())[0][0]).toBe(usd);
  });

  it('filters → only those events', async () => {
    await store({ cost_source: 'unresolved', cost_nano_usd: 0, charged_nano_usd: 7e9, model: 'other' });
    const count = async (words: string) =>
      (await gw.run(`${SETTLE} --cost zero ${words} --dry-run --json`)).json.result.matched_events;
    expect(await count('')).toBe(2);
    expect(await count('--model other')).toBe(1);
    expect(await count('--status provider_error')).toBe(0);
    const [{ id }] = (await api.get(`/v1/admin/apps/${app}/events`)).body.events;
    expect(await count(`--event ${id}`)).toBe(1);
  });

  it.each(['-1', '1e3', 'nothing', '10001', '0.0000000001', ''])('--cost %j → exit 2', async (cost) => {
    expect((await gw.run([...SETTLE.split(' '), `--cost=${cost}`, '--yes', '--json'])).exitCode).toBe(2);
    expect(await costs()).toEqual([[1, 2]]);
  });
});

describe('gw usage export', () => {
  const EXPORT = 'usage export --since 2026-11-01 --until 2026-11-20';
  const many = Array.from({ length: 10_100 }, (_none, at) => ({
    created_at_ms: NOW_MS - DAY_MS - at,
    cost_nano_usd: at,
  }));
  const storeMany = async () => {
    for (let at = 0; at < many.length; at += 2_020) {
      const some = many.slice(at, at + 2_020).map((one) => ({ organization_id: organizationId, app_id: app, ...one }));
      await storeEvents(world.dataSource, ...some);
    }
  };
  const inHome = (name: string) => join(gw.home, name);

  it('to standard output → the bytes of the API, unchanged', async () => {
    await store({ created_at_ms: NOW_MS - DAY_MS, user_id: 'a\u001b[31m,"b"', cost_nano_usd: 7 });
    const { exitCode, stdout, stderr } = await gw.run(EXPORT);
    expect([exitCode, stderr]).toEqual([0, 'Exported 1 event.\n']);
    expect(stdout).toBe((await api.get('/v1/admin/usage/export?since=2026-11-01&until=2026-11-20')).text);
    const named = await gw.run(`${EXPORT} --app notes --format ndjson`);
    expect(JSON.parse(named.stdout)).toMatchObject({ app, user: 'a\u001b[31m,"b"', cost_nano_usd: 7 });
  });

  it('no calls → an empty file of JSON lines', async () => {
    const { json: document } = await gw.run(`${EXPORT} --format ndjson --output none.ndjson --json`);
    expect(document.result).toMatchObject({ bytes: 0, manifest: { rows: 0, complete: true } });
    expect(statSync(inHome('none.ndjson')).size).toBe(0);
  });

  it('interrupted after the first page → resumed there, and the file has the SHA-256 of the manifest', async () => {
    await storeMany();
    let loses = true;
    const lossy = await losing(world.baseUrl, (_method, path) => loses && path.includes('cursor='));
    const broken = await gw.run(`${EXPORT} --output usage.csv --json`, '', { GW_URL: lossy.url });
    expect(errorOf(broken)).toEqual([3, 'unreachable']);
    expect([existsSync(inHome('usage.csv')), statSync(inHome('usage.csv.part')).mode & 0o777]).toEqual([false, 0o600]);
    appendFileSync(inHome('usage.csv.part'), 'half a page');
    loses = false;
    const { json: document } = await gw.run(`${EXPORT} --output usage.csv --json`, '', { GW_URL: lossy.url });
    const { manifest, resumed } = document.result;
    expect([resumed, manifest.rows, manifest.complete]).toEqual([true, many.length, true]);
    const file = readFileSync(inHome('usage.csv'));
    expect(createHash('sha256').update(file).digest('hex')).toBe(manifest.sha256);
    expect([existsSync(inHome('usage.csv.part')), existsSync(inHome('usage.csv.part.json'))]).toEqual([false, false]);
    await lossy.close();
  });

  it('events changed during the export → failed, and the next run starts over', async () => {
    await store({ created_at_ms: NOW_MS - DAY_MS, cost_nano_usd: 7 });
    const what = `${EXPORT} --output usage.csv --json`;
    expect((await gw.run(what)).json.result.bytes).toBe(statSync(inHome('usage.csv')).size);
    const { result } = (await gw.run(what)).json;
    const begun = { manifest: { ...result.manifest, sha256: '0' }, bytes: 0 };
    writeFileSync(inHome('usage.csv.part'), '');
    const asked = { app: undefined, query: { format: 'csv', since: '2026-11-01', until: '2026-11-20' } };
    const named = JSON.stringify([world.baseUrl, organizationId, asked]);
    writeFileSync(inHome('usage.csv.part.json'), JSON.stringify({ ...begun, what: named }));
    expect(errorOf(await gw.run(what))).toEqual([3, 'export_changed']);
    expect((await gw.run(what)).json.result).toMatchObject({ resumed: false, output: 'usage.csv' });
  });

  it.each([
    ['--json', 'option_required'],
    ['--format parquet --output x --json', 'invalid_command'],
    ['--since 2026-11-21 --output x --json', 'invalid_request'],
    ['--app other --output x --json', 'app_not_found'],
  ])('%s → exit 2, %s', async (words, code) => {
    expect(errorOf(await gw.run(`usage export --until 2026-11-20 ${words}`))).toEqual([2, code]);
  });
});
