import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { CAUSES, type EventCause } from '../../proof/webhooks/event-causes.js';
import { type Arrival, WebhookFleet } from '../../proof/webhooks/webhook-fleet.js';
import { describeBreakingRedis } from '../../support/platform/redis.js';
import { seeded } from '../../support/seeded.js';

/** `npm run prove -- webhooks` sets how many; otherwise the short form. */
const GIVEN = process.env.WEBHOOK_EVENTS;
const EVENTS = Number(GIVEN ?? 60);
const SEED = Number(process.env.WEBHOOK_SEED ?? Math.floor(Math.random() * 2 ** 31));
const CLIENTS = 8;
/** First a tenth of the events, or at most this many, arrive without a kill, to measure. */
const MEASURED = Math.min(500, EVENTS / 3);
/** Of each client between two causes: about ten events a second, each for every webhook. */
const MEASURED_PACE_MS = 250;
const KILL_EVERY_MS = { least: 500, most: 4_000 };
/** Of first arrivals without kills. Source: docs/reference/webhooks.md#deliveries. */
const PROMISED_MS = 2_000;
const TYPES = ['user.blocked', 'limit.exhausted', 'budget.*'];

describeBreakingRedis(`webhooks of ${EVENTS} events (WEBHOOK_SEED=${SEED})`, () => {
  let fleet: WebhookFleet;
  let causes: readonly EventCause[];
  let latencies: readonly number[];

  beforeAll(async () => {
    fleet = await WebhookFleet.start();
    causes = await Promise.all(CAUSES.map((cause) => cause(fleet)));
    await fleet.addWebhooks(TYPES);
  }, 120_000);

  afterAll(() => fleet.stop(), 60_000);

  /** Causes the events with these numbers, each by one of the causes, with several concurrent clients. */
  async function causeAll(from: number, to: number, paceMs: number): Promise<void> {
    let next = from;
    const client = async () => {
      while (next < to) {
        const number = next++;
        const cause = causes[number % causes.length];
        const instance = fleet.instances[Math.floor(number / causes.length) % fleet.instances.length];
        await cause?.cause(instance?.baseUrl ?? '', number).catch(() => sleep(20));
        await sleep(paceMs);
      }
    };
    await Promise.all(Array.from({ length: CLIENTS }, client));
  }

  it('without kills → the measured number of events arrives', async () => {
    await causeAll(0, MEASURED, MEASURED_PACE_MS);
    await fleet.drained();
    latencies = await firstArrivalsAfterMs();
    expect(latencies.length).toBeGreaterThan(0);
    const p99 = latencies[Math.ceil(latencies.length * 0.99) - 1] ?? Number.NaN;
    const slowest = Math.round(latencies.at(-1) ?? Number.NaN);
    process.stdout.write(`first arrivals: ${latencies.length}, p99 ${Math.round(p99)} ms, slowest ${slowest} ms\n`);
    // A promised time is checked only in long runs: besides other suites the machine may stall.
    expect(GIVEN === undefined || p99 <= PROMISED_MS).toBe(true);
  }, 600_000);

  it('while instances and the receiver are killed → each event is delivered once per webhook, and none is missing', async () => {
    const causing = { isOver: false };
    const kills = killOverAndOver(causing);
    await causeAll(MEASURED, EVENTS, GIVEN === undefined ? 100 : 10);
    causing.isOver = true;
    const killed = await kills;
    await sleep(2_000);
    await fleet.drained();
    const arrivals = fleet.arrivals();
    const { rows } = await fleet.database.query<{ id: string; body: string }>('SELECT id, body FROM webhook_events');
    const told = new Map(rows.map(({ id, body }) => [id, body]));
    expect(new Set(arrivals.map(({ id }) => id))).toEqual(new Set(told.keys()));
    expect(arrivals.filter(({ id, body }) => told.get(id) !== body)).toEqual([]);
    const counts: string[] = [];
    for (const cause of causes) {
      const keys = rows.flatMap(({ body }) => cause.keyOf(JSON.parse(body)) ?? []);
      const expected = await cause.expected(fleet.database);
      expect([cause.name, keys.toSorted()]).toEqual([cause.name, expected.toSorted()]);
      expect(keys.length).toBeGreaterThan(0);
      counts.push(`${cause.name} ${keys.length}`);
    }
    const undelivered = "SELECT FROM webhook_deliveries WHERE status <> 'delivered'";
    expect((await fleet.database.query(undelivered)).rowCount).toBe(0);
    const crossings = rows.filter(({ body }) => JSON.parse(body).type === 'budget.threshold_reached').length;
    process.stdout.write(
      `${killed} kills, ${rows.length} events (${counts.join(', ')}; ${crossings} thresholds), ${arrivals.length} arrivals\n`,
    );
  }, 3_600_000);

  async function killOverAndOver(causing: { readonly isOver: boolean }): Promise<number> {
    const random = seeded(SEED);
    let kills = 0;
    do {
      const { least, most } = KILL_EVERY_MS;
      await sleep(least + random() * (most - least));
      const victim = fleet.instances[Math.floor(random() * (fleet.instances.length + 1))];
      await (victim === undefined ? fleet.killReceiver() : victim.kill());
      await (victim === undefined ? fleet.startReceiver() : victim.start());
      kills++;
    } while (!causing.isOver);
    return kills;
  }

  /** From the time of each event to its first arrival at each webhook, ascending, in milliseconds. */
  async function firstArrivalsAfterMs(): Promise<number[]> {
    const first = new Map<string, Arrival>();
    for (const arrival of fleet.arrivals()) {
      const key = `${arrival.id} ${arrival.path}`;
      if (!first.has(key)) first.set(key, arrival);
    }
    const { rows } = await fleet.database.query<{ key: string; created_at: Date }>(
      `SELECT concat_ws(' ', event.id, regexp_replace(hook.url, '^.*/', '/')) AS key, event.created_at
       FROM webhook_deliveries JOIN webhooks hook ON hook.id = webhook_id JOIN webhook_events event ON event.id = event_id`,
    );
    const waits = rows.map(({ key, created_at }) => (first.get(key)?.arrivedMs ?? Infinity) - created_at.getTime());
    return waits.toSorted((one, other) => one - other);
  }
});
