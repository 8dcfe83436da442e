import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterEach, expect, it } from '@jest/globals';
import pg from 'pg';
import { created } from '../../../support/accounts/management-call.js';
import { eventually } from '../../../support/eventually.js';
import { dropDatabase, freshDatabase } from '../../../support/platform/database.js';
import { freePort, GatewayProcess } from '../../../support/platform/gateway-process.js';
import { MarkedLoad } from '../../../support/usage/recording/marked-load.js';
import { MONTHS_OUT_OF_STEP } from '../../../support/usage/recording/usage-sums.js';
import { newManagementKey, testEnvironment } from '../../../support/world.js';

const KILLS = Number(process.env.KILLS ?? 5);
const SEED = Number(process.env.KILL_SEED ?? Math.floor(Math.random() * 2 ** 31));
const CLIENTS = 50;
/** For one kill and the start after it, on a busy machine. */
const PATIENCE_MS = 15_000;
/** A kill comes this long after the service has answered as many calls as there are clients. */
const KILL_AFTER_MS = { least: 100, most: 1_000 };
/**
 * An answer received longer than this before the kill must be recorded with its tokens, unless the service did not run
 * since: on a busy machine it may stall for that long.
 */
const SETTLED_WITHIN_MS = 100;
/**
 * A call is recorded immediately before it is sent. Killed exactly in between, it has an event although no provider saw
 * it: unresolved and without cost. No order of the two avoids this without losing calls instead. Calls are recorded and
 * sent one after the other, so at most one call is between the two.
 */
const MOST_UNSEEN_A_KILL = 1;
/** If calls wait for the disk in between, all running calls may be between the two. */
const KILLS_WHILE_WAITING = Math.ceil(KILLS / 5);
const USER_HEADER = 'x-test-user';
const UPSTREAM = fileURLToPath(new URL('../../../proof/kills/upstream-process.ts', import.meta.url));

interface EventRow {
  readonly user_id: string;
  readonly created_at: Date;
  readonly status: string;
  readonly output_tokens: string;
  readonly cost_nano_usd: string;
  readonly cost_source: string;
}

let directory: string;
let databaseUrl: string;
let gateway: GatewayProcess;
const upstreams: ChildProcess[] = [];
const managementKey = newManagementKey();

async function prepare(sync: string): Promise<void> {
  directory = mkdtempSync(join(tmpdir(), 'usage-kill-'));
  databaseUrl = await freshDatabase();
  const environment = testEnvironment(databaseUrl, join(directory, 'data'), managementKey);
  gateway = new GatewayProcess(`http://127.0.0.1:${await freePort()}`, {
    ...{ ...environment, LOG_LEVEL: 'warn', JOURNAL_SYNC: sync },
  });
}

afterEach(async () => {
  await gateway.kill();
  for (const upstream of upstreams.splice(0)) upstream.kill('SIGTERM');
  await dropDatabase(databaseUrl);
  rmSync(directory, { recursive: true, force: true });
});

it.each([
  { sync: 'interval', times: KILLS, mostUnseenAKill: MOST_UNSEEN_A_KILL },
  { sync: 'always', times: KILLS_WHILE_WAITING, mostUnseenAKill: CLIENTS },
])(
  `JOURNAL_SYNC=$sync, killed $times times under load (KILL_SEED=${SEED}) → one event for every call a provider saw`,
  async ({ sync, times, mostUnseenAKill }) => {
    await prepare(sync);
    const load = await startLoad();
    const kills = await killOverAndOver(times, load).finally(() => load.stop());
    await gateway.stop();

    const seen = providerJournal();
    const events = await storedEvents();
    const byMarker = Map.groupBy(events, (event) => event.user_id);
    expect(seen.length).toBeGreaterThan(times * 10);
    expect(new Set(seen).size).toBe(seen.length);
    expect(seen.filter((marker) => !byMarker.has(marker))).toEqual([]);
    expect([...byMarker.values()].filter((same) => same.length > 1)).toEqual([]);

    const doubtful = kills.map((kill) => doubtfulTime(kill, load));
    const wellBeforeAKill = [...load.completed].filter(
      ([, { atMs }]) => !doubtful.some((time) => atMs > time.fromMs && atMs < time.toMs),
    );
    expect(wellBeforeAKill.length).toBeGreaterThan(times * 10);
    const incomplete = wellBeforeAKill.filter(([marker]) => !byMarker.get(marker)?.every(isComplete));
    expect(incomplete).toEqual([]);

    const reached = new Set(seen);
    const unseen = events.filter((event) => !reached.has(event.user_id));
    process.stderr.write(
      `${seen.length} calls seen by the provider, ${events.length} events, ` +
        `${events.filter((event) => event.cost_source === 'unresolved').length} interrupted, ${unseen.length} unseen\n`,
    );
    expect(unseen.filter((event) => !isInterrupted(event))).toEqual([]);
    const unseenByKill = Map.groupBy(unseen, ({ created_at: at }) => kills.filter(({ diedAt }) => diedAt < at).length);
    expect([...unseenByKill.values()].filter(({ length }) => length > mostUnseenAKill)).toEqual([]);
    expect(readdirSync(join(directory, 'data', 'journal'))).toEqual([]);
    expect(await query(MONTHS_OUT_OF_STEP)).toEqual([]);
  },
  60_000 + KILLS * PATIENCE_MS,
);

/** Two providers, one that streams and one that does not, each recording its requests; and clients for both. */
async function startLoad(): Promise<MarkedLoad> {
  await gateway.start();
  const targets = [
    { stream: false, slug: await addProvider('json') },
    { stream: true, slug: await addProvider('sse') },
  ];
  const app = await manage('/v1/admin/apps', {
    name: 'Kill test',
    config: {
      authentication: { type: 'api_key', end_user: { source: 'header', header: USER_HEADER } },
      routing: { providers: { mode: 'all' }, model_rewrites: {} },
    },
  });
  const load = new MarkedLoad(
    targets.map(({ stream, slug }) => ({
      stream,
      url: `${gateway.baseUrl}/v1/apps/${app.app.id}/proxy/${slug}/v1/chat/completions`,
    })),
    { authorization: `Bearer ${app.api_key.key}` },
    USER_HEADER,
  );
  load.start(CLIENTS);
  return load;
}

/** One kill; its times in ms are those of `performance.now()`. */
interface Kill {
  /** The time when its process ended, by the clock of the events. */
  readonly diedAt: Date;
  readonly atMs: number;
  /** When the service answered again. Anything that a client reads in between came from the killed process. */
  readonly backAtMs: number;
}

/** Leaves the service running. */
async function killOverAndOver(times: number, load: MarkedLoad): Promise<Kill[]> {
  const random = randomFrom(SEED);
  const kills: Kill[] = [];
  for (let kill = 0; kill < times; kill++) {
    const enough = load.completed.size + CLIENTS;
    await eventually(() => load.completed.size >= enough, { withinMs: PATIENCE_MS });
    await sleep(KILL_AFTER_MS.least + random() * (KILL_AFTER_MS.most - KILL_AFTER_MS.least));
    const atMs = performance.now();
    await gateway.kill();
    const diedAt = new Date();
    await gateway.start();
    kills.push({ diedAt, atMs, backAtMs: performance.now() });
  }
  return kills;
}

/**
 * Calls completed in this time may be unrecorded. The service has run since if it has served a later call.
 */
function doubtfulTime(kill: Kill, load: MarkedLoad): { fromMs: number; toMs: number } {
  let lastTurnMs = 0;
  for (const { sentAtMs, atMs } of load.completed.values()) {
    if (atMs <= kill.atMs) lastTurnMs = Math.max(lastTurnMs, sentAtMs);
  }
  return { fromMs: Math.min(kill.atMs - SETTLED_WITHIN_MS, lastTurnMs), toMs: kill.backAtMs };
}

async function addProvider(script: 'json' | 'sse'): Promise<string> {
  const flags = [`--script=${script}`, `--journal=${journalFile(script)}`, '--delay-ms=15'];
  const child = spawn(process.execPath, [UPSTREAM, ...flags], { stdio: ['ignore', 'pipe', 'inherit'] });
  upstreams.push(child);
  const [line] = await once(child.stdout, 'data');
  const baseUrl = `${JSON.parse(String(line)).url}/`;
  const { provider } = await manage('/v1/admin/providers', {
    type: 'openai',
    name: script,
    slug: script,
    secret: 'sk-kill-test-secret',
    baseUrl,
  });
  return provider.slug;
}

const manage = (path: string, body: object) => created({ baseUrl: gateway.baseUrl, managementKey }, path, body);

function journalFile(script: string): string {
  return join(directory, `${script}.journal`);
}

/** Markers of every request whose body a provider got, recorded before it answered. */
function providerJournal(): string[] {
  return ['json', 'sse'].flatMap((script) =>
    readFileSync(journalFile(script), 'utf8')
      .split('\n')
      .filter((line) => line !== ''),
  );
}

function storedEvents(): Promise<EventRow[]> {
  return query('SELECT * FROM usage_events');
}

async function query<T extends object>(sql: string): Promise<T[]> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  const { rows } = await client.query(sql);
  await client.end();
  return rows;
}

function isComplete(event: EventRow): boolean {
  const { status, cost_source: source, output_tokens: tokens, cost_nano_usd: cost } = event;
  return status === 'ok' && source === 'computed' && tokens === '2' && cost === '36000';
}

function isInterrupted({ cost_source: source, output_tokens: tokens, cost_nano_usd: cost }: EventRow): boolean {
  return source === 'unresolved' && tokens === '0' && cost === '0';
}

/** Numbers from 0 up to 1, the same ones for a seed (mulberry32). */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
