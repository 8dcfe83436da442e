import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { DataSource } from 'typeorm';
import { newAccount } from '../../../support/accounts/accounts.js';
import { type ApiAnswer, type ApiClient, codeOf } from '../../../support/api-client.js';
import { FakeClock } from '../../../support/clock.js';
import { eventually } from '../../../support/eventually.js';
import { event, hold } from '../../../support/proxy/upstream-scripts.js';
import { storeEvents } from '../../../support/usage/recording/usage-events.js';
import { startWorld, type World } from '../../../support/world.js';

const NOON_MS = Date.UTC(2026, 10, 20, 12);
const HOUR_MS = 3_600_000;
const EVENTS = 30;
/** More than one page has. */
const MANY = 12_500;
const WITHIN = { withinMs: 20_000 };

let world: World;
let db: DataSource;
let clock: FakeClock;
let own: { readonly organizationId: string; readonly key: string };
let other: typeof own;
let api: ApiClient;

const costOf = (at: number) => 1_000_000_007 * at;

beforeAll(async () => {
  clock = new FakeClock(NOON_MS);
  world = await startWorld({ clock });
  db = world.dataSource;
  own = await newAccount(db);
  other = await newAccount(db);
  api = world.as(own.key);
  for (const { organizationId } of [own, other]) {
    const events = Array.from({ length: EVENTS }, (_none, at) => ({
      ...{ organization_id: organizationId, created_at_ms: NOON_MS - (at + 1) * HOUR_MS },
      app_id: at % 3 === 0 ? `draws-${organizationId}` : `notes-${organizationId}`,
      ...{ user_id: '=cmd|"ann"\n', cost_nano_usd: costOf(at), input_tokens: 9, output_tokens: at },
      ...(at % 5 === 0 && { status: 'blocked_policy', cost_nano_usd: 0 }),
    }));
    await storeEvents(db, ...events);
  }
  await settledUntil(NOON_MS - 60_000);
});

afterAll(() => world.stop());

/** Waits until usage is known to be settled until a time. */
async function settledUntil(ms: number): Promise<void> {
  await eventually(async () => {
    const { body } = await api.get('/v1/admin/usage/export/manifest');
    return Date.parse(body.settled_until) === ms;
  }, WITHIN);
}

/** All pages. */
async function pagesOf(client: ApiClient, route: string): Promise<ApiAnswer[]> {
  const pages: ApiAnswer[] = [];
  for (let cursor: string | null = ''; cursor !== null; cursor = pages.at(-1)?.headers.get('x-next-cursor') ?? null) {
    const page = await client.get(cursor === '' ? route : `${route}&cursor=${cursor}`);
    expect(page.status).toBe(200);
    pages.push(page);
  }
  return pages;
}

const joined = (pages: readonly ApiAnswer[]) => pages.map(({ text }) => text).join('');
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
const manifestOf = async (client: ApiClient, query: string, of = '/v1/admin/usage') =>
  (await client.get(`${of}/export/manifest?${query}`)).body;
const costs = Array.from({ length: EVENTS }, (_none, at) => (at % 5 === 0 ? 0 : costOf(at)));

describe('export of usage', () => {
  it.each([
    ['csv', 'text/csv; charset=utf-8', EVENTS],
    ['ndjson', 'application/x-ndjson; charset=utf-8', EVENTS],
    ['focus', 'text/csv; charset=utf-8', EVENTS - EVENTS / 5],
  ])('%s → one page, with the rows, sum and SHA-256 of the manifest', async (format, type, rows) => {
    const [page, ...others] = await pagesOf(api, `/v1/admin/usage/export?format=${format}`);
    expect([others, page?.headers.get('content-type')]).toEqual([[], type]);
    const sum = costs.reduce((all, cost) => all + cost, 0);
    expect(await manifestOf(api, `format=${format}&until=2026-11-20T11:59:00Z`)).toEqual({
      ...{ rows, sum_nano_usd: sum, sha256: sha256(page?.text ?? ''), since: '2026-10-22T00:00:00.000Z' },
      ...{ until: '2026-11-20T11:59:00.000Z', settled_until: '2026-11-20T11:59:00.000Z', complete: true },
    });
  });

  it('csv → every cell quoted, money in nano-dollars, no formulas', async () => {
    const { text } = await api.get('/v1/admin/usage/export?since=2026-11-20T09:00:00Z');
    const [heads, first, ...rest] = text.split('\r\n');
    expect(heads).toMatch(/^"id","created_at","app",.*,"cost_nano_usd",/);
    expect(first).toMatch(/^"\d+","2026-11-20T11:00:00\.000Z","draws-/);
    expect(text).toContain(`"'=cmd|""ann""\n"`);
    expect(text).toContain(`"${costOf(2)}"`);
    expect(rest).toHaveLength(3);
  });

  it('ndjson → one object a line, texts unchanged', async () => {
    const { text } = await api.get('/v1/admin/usage/export?format=ndjson');
    const events = text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(events.map(({ cost_nano_usd: cost }) => cost)).toEqual(costs);
    expect(events[1]).toMatchObject({ user: '=cmd|"ann"\n', requests: 1, output_tokens: 1, refusal_code: null });
  });

  it('focus → exact dollars, by the hour, in the month; the user as a tag', async () => {
    const { text } = await api.get('/v1/admin/usage/export?format=focus&since=2026-11-20T10:00:00Z');
    const [heads = '', line = ''] = text.split('\r\n');
    const cells = line.slice(1, -1).split('","');
    const row = Object.fromEntries(
      heads
        .slice(1, -1)
        .split('","')
        .map((name, at) => [name, cells[at]]),
    );
    expect(row).toMatchObject({
      ...{ BilledCost: '1.000000007', BillingCurrency: 'USD', ChargeCategory: 'Usage', ConsumedQuantity: '10' },
      ...{ BillingPeriodStart: '2026-11-01T00:00:00Z', BillingPeriodEnd: '2026-12-01T00:00:00Z' },
      ...{ ChargePeriodStart: '2026-11-20T10:00:00Z', ChargePeriodEnd: '2026-11-20T11:00:00Z' },
      ...{ ServiceCategory: 'AI and Machine Learning', SkuId: 'openai/gpt-4.1' },
    });
  });

  it('of an application → only its events, with its own manifest', async () => {
    const { id } = await world.app();
    await storeEvents(db, { organization_id: own.organizationId, app_id: 'none', created_at_ms: NOON_MS - HOUR_MS });
    const [{ organization_id: account }] = await db.query('SELECT organization_id FROM apps WHERE id = $1', [id]);
    await storeEvents(db, { organization_id: account, app_id: id, created_at_ms: NOON_MS - HOUR_MS, cost_nano_usd: 5 });
    await storeEvents(db, { organization_id: account, app_id: 'another', created_at_ms: NOON_MS - HOUR_MS });
    const of = `/v1/admin/apps/${id}/usage`;
    const { text } = await world.api.get(`${of}/export?format=ndjson`);
    expect(JSON.parse(text)).toMatchObject({ app: id, cost_nano_usd: 5 });
    expect(await manifestOf(world.api, 'format=ndjson', of)).toMatchObject({
      rows: 1,
      sum_nano_usd: 5,
      sha256: sha256(text),
    });
    expect(codeOf(await api.get(`${of}/export`))).toEqual([404, 'app_not_found']);
    expect(codeOf(await api.get(`${of}/export/manifest`))).toEqual([404, 'app_not_found']);
  });
});

describe('pages of an export', () => {
  let many: ApiClient;
  let account: string;

  beforeAll(async () => {
    const { key, organizationId } = await newAccount(db);
    many = world.as(key);
    account = organizationId;
    const events = Array.from({ length: MANY }, (_none, at) => ({
      ...{ organization_id: organizationId, app_id: 'many', created_at_ms: NOON_MS - HOUR_MS - (at % 7) },
      ...{ cost_nano_usd: at, user_id: `user-${at}` },
    }));
    for (let at = 0; at < MANY; at += 2_500) await storeEvents(db, ...events.slice(at, at + 2_500));
  });

  it('more events than a page has → each event once, as the manifest says', async () => {
    const pages = await pagesOf(many, '/v1/admin/usage/export?format=csv');
    const lines = pages.map(({ text }) => text.trimEnd().split('\r\n').length);
    expect(lines).toEqual([10_001, MANY - 10_000]);
    const text = joined(pages);
    expect(new Set(text.split('\r\n')).size).toBe(MANY + 2);
    const sum = (MANY * (MANY - 1)) / 2;
    expect(await manifestOf(many, 'format=csv')).toMatchObject({ rows: MANY, sum_nano_usd: sum, sha256: sha256(text) });
  });

  it('events stored between two pages → not in the export', async () => {
    const first = await many.get('/v1/admin/usage/export?format=ndjson');
    const cursor = first.headers.get('x-next-cursor');
    const before = await manifestOf(many, 'format=ndjson');
    await storeEvents(db, { organization_id: account, app_id: 'many', created_at_ms: NOON_MS - 30_000 });
    clock.advance(120_000);
    await settledUntil(NOON_MS + 60_000);
    const second = await many.get(`/v1/admin/usage/export?format=ndjson&cursor=${cursor}`);
    expect(sha256(joined([first, second]))).toBe(before.sha256);
    expect((await manifestOf(many, 'format=ndjson')).rows).toBe(MANY + 1);
    const until = before.settled_until;
    expect(await manifestOf(many, `format=ndjson&until=${until}`)).toMatchObject({
      sha256: before.sha256,
      complete: true,
    });
  });

  it('a cursor of another export, or a changed one → 400', async () => {
    const cursor = (await many.get('/v1/admin/usage/export')).headers.get('x-next-cursor') ?? '';
    const [from, until, us, id, check] = cursor.split('.');
    const { id: app } = await world.app();
    const refused: [ApiClient, string][] = [
      [api, `/v1/admin/usage/export?cursor=${cursor}`],
      [world.api, `/v1/admin/apps/${app}/usage/export?cursor=${cursor}`],
      [many, `/v1/admin/usage/export?format=ndjson&cursor=${cursor}`],
      [many, `/v1/admin/usage/export?since=2026-11-01&cursor=${cursor}`],
      [many, `/v1/admin/usage/export?until=2026-11-02&cursor=${cursor}`],
      ...[
        `${from}.${until}.${us}.1.${check}`,
        `0.${until}.${us}.${id}.${check}`,
        `${from}.${until}.${us}.${id}`,
        `${cursor}0`,
        cursor.toUpperCase(),
        '1.1.1.1.0000000000000000',
        `${'9'.repeat(15)}.${'9'.repeat(15)}.${'9'.repeat(16)}.${'9'.repeat(18)}.${'0'.repeat(16)}`,
        `-1.${until}.${us}.${id}.${check}`,
        "1' OR '1'='1",
      ].map((one): [ApiClient, string] => [many, `/v1/admin/usage/export?cursor=${encodeURIComponent(one)}`]),
    ];
    for (const [client, route] of refused) {
      const answer = await client.get(route);
      expect([route, ...codeOf(answer)]).toEqual([route, 400, 'invalid_request']);
      expect(answer.body.error.message).toMatch(/^cursor: /);
    }
  });
});

describe('settled_until', () => {
  it('an open call → the export ends before it, and includes it once it is stored', async () => {
    const { slug } = await world.provider();
    const { id, key } = await world.app();
    const answer = hold(event({ type: 'response.output_text.delta', delta: 'Hello' }));
    world.upstream.script(answer.script);
    clock.advance(HOUR_MS);
    const begunMs = clock.nowMs();
    const call = fetch(`${world.baseUrl}/v1/apps/${id}/proxy/${slug}/v1/responses`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'gpt-4.1-mini', input: 'Hi', max_output_tokens: 9, stream: true }),
    });
    await eventually(() => answer.open() === 1, WITHIN);
    clock.advance(HOUR_MS);
    await settledUntil(Math.floor(begunMs / 1_000) * 1_000);
    const of = `/v1/admin/apps/${id}/usage`;
    expect(await manifestOf(world.api, '', of)).toMatchObject({ rows: 0, complete: false });
    answer.release();
    await (await call).text();
    await settledUntil(clock.nowMs() - 60_000);
    expect(await manifestOf(world.api, '', of)).toMatchObject({ rows: 1, complete: false });
    const until = new Date(begunMs + 1_000).toISOString();
    expect(await manifestOf(world.api, `until=${until}`, of)).toMatchObject({ rows: 1, complete: true });
  });

  it('a dead instance whose journal is not stored → what it published last, for a day', async () => {
    const until = clock.nowMs() - 10 * HOUR_MS;
    await db.query(
      `INSERT INTO gateway_instances (id, host, pid, process_started, uses_redis, seen_at, settled_until)
       VALUES ('dead', 'elsewhere', 1, 'x', true, now() - interval '1 hour', to_timestamp($1::float8 / 1000))`,
      [until],
    );
    await settledUntil(until);
    await db.query("UPDATE gateway_instances SET settled_until = 'infinity' WHERE id = 'dead'");
    await settledUntil(clock.nowMs() - 60_000);
    await db.query(
      "UPDATE gateway_instances SET settled_until = NULL, started_at = '2026-11-01', seen_at = now() - interval '25 hours' WHERE id = 'dead'",
    );
    await settledUntil(clock.nowMs() - 60_000);
  });

  it('a period that begins before events are kept → not complete', async () => {
    expect(await manifestOf(api, 'since=2026-01-01&until=2026-11-01')).toMatchObject({ complete: false });
    expect(await manifestOf(api, 'since=1901-01-01&until=2026-11-01')).toMatchObject({
      since: '1970-01-01T00:00:00.000Z',
    });
  });
});

describe('invalid exports', () => {
  it.each([
    ['format=parquet', 'format'],
    ['format=CSV', 'format'],
    ['since=2026-11-02&until=2026-11-01', 'since'],
    ['since=2026-11-20T12:00:00%2B02:00&until=2026-11-20T09:59:59Z', 'since'],
    ['since=2999-01-01', 'since'],
    ['since=2026-02-30', 'since'],
    ['since=yesterday', 'since'],
    ['until=%2B275760-09-13', 'until'],
    ['until=2026-11-20T12:00:00', 'until'],
    ['until=', 'until'],
    ['app=notes', 'app'],
    ['format=csv&format=csv', 'format'],
  ])('?%s → 400 naming the parameter', async (query, name) => {
    for (const route of ['export', 'export/manifest']) {
      const answer = await api.get(`/v1/admin/usage/${route}?${query}`);
      expect(codeOf(answer)).toEqual([400, 'invalid_request']);
      expect(answer.body.error.message).toMatch(new RegExp(`^${name}: `));
    }
  });

  it('a manifest with a cursor → 400', async () => {
    expect(codeOf(await api.get('/v1/admin/usage/export/manifest?cursor=1'))).toEqual([400, 'invalid_request']);
  });

  it('an empty period → only the headings', async () => {
    const query = 'since=2026-11-01&until=2026-11-01';
    const { text } = await api.get(`/v1/admin/usage/export?${query}`);
    expect(text.split('\r\n')).toHaveLength(2);
    expect(await manifestOf(api, query)).toMatchObject({
      rows: 0,
      sum_nano_usd: 0,
      sha256: sha256(text),
      complete: true,
    });
  });
});
