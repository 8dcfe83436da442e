import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { DataSource } from 'typeorm';
import { offlineBudgets } from '../../../test/support/budgets/offline-budgets.js';
import { eventually } from '../../../test/support/eventually.js';
import { FakeKeptObjects } from '../../../test/support/usage/recording/fake-kept-objects.js';
import { anAdmission, anOutcome, aReading } from '../../../test/support/usage/recording/usage.js';
import type { BudgetHold } from '../../budgets/budget-hold.js';
import { Budgets } from '../../budgets/budgets.service.js';
import { SystemClock } from '../../common/clock.js';
import { SystemIds } from '../../common/ids.js';
import { Log } from '../../common/log/log.js';
import { UsageJournal } from '../../platform/journal/usage-journal.js';
import { Metrics } from '../../platform/metrics/metrics.js';
import { compilePrice } from '../../pricing/model-price.js';
import type { EventArrays } from './event/event-arrays.js';
import { UsageWritesRepository } from './event/usage-writes.repository.js';
import { KeptObjects } from './kept-objects.service.js';
import { SettledUsageRepository } from './settled-usage.repository.js';
import { UsageIncidents } from './usage-incidents.service.js';
import { UsageRecorder } from './usage-recorder.service.js';
import { UsageRecovery } from './usage-recovery.service.js';
import { UsageWriter } from './usage-writer.service.js';

/** Without a database. */
class FakeSettledUsage extends SettledUsageRepository {
  constructor() {
    super(new DataSource({ type: 'postgres' }));
  }

  override async recovered(): Promise<void> {
    return undefined;
  }
}

/** A fake events table: inserts are atomic and skip existing ids. */
class FakeEvents extends UsageWritesRepository {
  readonly rows = new Map<string, Record<string, unknown>>();
  readonly batches: number[] = [];
  running = 0;
  mostRunning = 0;
  delayMs = 0;
  failure: Error | undefined;
  /** Thrown by statements that do not contain the poison. */
  failureOfOthers: Error | undefined;
  poison: string | undefined;
  /** Statements that have failed. */
  failed = 0;
  today = '2025-11-20';

  constructor() {
    super(new DataSource({ type: 'postgres' }));
  }

  override async insert(batch: EventArrays): Promise<void> {
    await this.insertNew(batch);
  }

  override async databaseDay(): Promise<string> {
    if (this.failure) throw this.fail(this.failure);
    return this.today;
  }

  override async insertNew({ events, kinds }: EventArrays): Promise<string[]> {
    this.mostRunning = Math.max(this.mostRunning, ++this.running);
    await sleep(this.delayMs);
    this.running--;
    if (this.failure) throw this.fail(this.failure);
    const kindOf = new Map<unknown, Record<string, unknown>>();
    for (const kind of JSON.parse(kinds)) kindOf.set(kind.kind, kind);
    const rows: Record<string, unknown>[] = JSON.parse(String(events)).map((event: Record<string, unknown>) => ({
      ...kindOf.get(event.kind),
      ...event,
    }));
    if (rows.some((row) => row.event_id === this.poison)) throw Object.assign(new Error('bad'), { code: '22003' });
    if (this.failureOfOthers) throw this.fail(this.failureOfOthers);
    this.batches.push(rows.length);
    const fresh = rows.filter((row) => !this.rows.has(String(row.event_id)));
    for (const row of fresh) this.rows.set(String(row.event_id), row);
    return fresh.map((row) => String(row.event_id));
  }

  private fail(error: Error): Error {
    this.failed++;
    return error;
  }
}

/** Records the instances whose grants were returned. */
class FakeBudgets extends Budgets {
  readonly forgotten: string[] = [];

  override async dropInstanceGrants(instanceId: string): Promise<void> {
    if (events.failure) throw events.failure;
    this.forgotten.push(instanceId);
  }
}

/** A fake hold that records its calls. */
function aHold(amount: number, userId: string | null = null) {
  const told: (string | number)[] = [];
  const [scope, subject] = userId === null ? (['app', ''] as const) : (['user', userId] as const);
  const budget = {
    organizationId: 'org-1',
    appId: 'notes-abc123',
    scope,
    subject,
    window: 'month',
    limit: 1e9,
  } as const;
  const hold: BudgetHold = {
    ...{ budget, amount },
    release: () => void told.push('released'),
    settle: (charged) => told.push(charged),
    stored: () => void told.push('stored'),
    dropped: () => void told.push('dropped'),
  };
  return { hold, told };
}

const price = compilePrice({ input: 2, output: 8 });
/** Price of a prompt token in nano-dollars. */
const SENT_TOKEN = 2_000;
const clock = new SystemClock();
let root: string;
let logs: Record<string, unknown>[];
let events: FakeEvents;
let parts: ReturnType<typeof assemble>;

function assemble() {
  const log = new Log(clock, 'info', (line) => logs.push(JSON.parse(line)));
  const ids = new SystemIds();
  const journal = new UsageJournal({ root, instanceId: ids.base36(8), syncMs: 5, maxPending: 10_000, clock, log });
  const incidents = new UsageIncidents(journal, clock, log);
  const keptObjects = new KeptObjects(new FakeKeptObjects(), log);
  const writer = new UsageWriter(journal, events, incidents);
  const metrics = new Metrics();
  const budgets = offlineBudgets(FakeBudgets, clock, log, metrics);
  const recorder = new UsageRecorder(journal, writer, keptObjects, incidents, metrics, budgets, ids);
  const recovery = new UsageRecovery(journal, events, new FakeSettledUsage(), budgets, incidents, log);
  return { journal, keptObjects, recorder, recovery, metrics, budgets };
}

beforeEach(async () => {
  root = mkdtempSync(join(tmpdir(), 'usage-recorder-'));
  logs = [];
  events = new FakeEvents();
  parts = assemble();
  await parts.recovery.onModuleInit();
});

afterEach(async () => {
  events.failure = undefined;
  await parts.recorder.onApplicationShutdown();
  rmSync(root, { recursive: true, force: true });
});

function admit(overrides = {}, holds: readonly BudgetHold[] = []) {
  const { recorder } = parts;
  return recorder.admit(anAdmission({ eventId: recorder.newEventId(clock.nowMs()), ...overrides }), holds);
}

function linesOf(message: string) {
  return logs.filter((line) => line.message === message);
}

describe('usage recorder', () => {
  it('settled request → stored once, with the data of its answer', async () => {
    const ticket = admit({ userId: 'u1' });
    parts.recorder.settle(ticket, anOutcome({ price, reading: aReading() }));
    await parts.recorder.flush();
    expect([...events.rows.values()]).toEqual([
      expect.objectContaining({
        event_id: ticket.admission.eventId,
        user_id: 'u1',
        input_tokens: 1_000,
        cost_nano_usd: 6_000_000,
        cost_source: 'computed',
      }),
    ]);
    expect(parts.journal.pending).toBe(0);
    expect(logs).toEqual([]);
  });

  it('settled twice → the first ending counts', async () => {
    const ticket = admit();
    parts.recorder.settle(ticket, anOutcome({ price, reading: aReading() }));
    parts.recorder.settle(ticket, anOutcome({ status: 'provider_error', ending: 'refused' }));
    await parts.recorder.flush();
    expect([...events.rows.values()].map((row) => row.status)).toEqual(['ok']);
    expect(linesOf('usage_unresolved_cost')).toEqual([]);
    expect(parts.metrics.tokens.of('openai', 'input').value).toBe(1_000);
    expect([...parts.metrics.cost.members()]).toEqual([[['openai', 'computed'], { value: 6_000_000 }]]);
  });

  it('no flush → stored shortly after, many in one statement, one statement at a time', async () => {
    events.delayMs = 5;
    for (let count = 0; count < 4_500; count++)
      parts.recorder.settle(admit(), anOutcome({ price, reading: aReading() }));
    await eventually(() => parts.journal.pending === 0, { withinMs: 10_000 });
    expect(events.rows.size).toBe(4_500);
    expect(events.batches).toEqual([2_000, 2_000, 500]);
    expect(events.mostRunning).toBe(1);
  });

  it('unknown cost → usage_unresolved_cost with its reason', () => {
    const ticket = admit({ userId: 'u1' });
    parts.recorder.settle(ticket, anOutcome({ price, contentType: 'text/event-stream' }));
    expect(linesOf('usage_unresolved_cost')).toEqual([
      expect.objectContaining({
        level: 'error',
        eventId: ticket.admission.eventId,
        appId: 'notes-abc123',
        userId: 'u1',
        provider: 'openai',
        providerSlug: 'openai',
        model: 'gpt-4.1',
        route: 'openai/v1/responses',
        contentType: 'text/event-stream',
        reason: 'no_usage_reported',
      }),
    ]);
  });

  it('our own defect while settling → the event is kept as unresolved, nothing is thrown', async () => {
    const reading = aReading();
    Object.defineProperty(reading, 'servedModel', {
      get: () => {
        throw new Error('defect');
      },
    });
    const ticket = admit();
    parts.recorder.settle(ticket, anOutcome({ price, reading }));
    await parts.recorder.flush();
    expect(events.rows.get(ticket.admission.eventId)).toMatchObject({ cost_source: 'unresolved' });
    expect(linesOf('unhandled_error')).toHaveLength(1);
  });

  it('Postgres unavailable for a while → calls continue, one log line per second, everything is stored when it is back', async () => {
    events.failure = new Error('Connection terminated');
    for (let count = 0; count < 600; count++) parts.recorder.settle(admit(), anOutcome({ price, reading: aReading() }));
    await parts.recorder.flush();
    await parts.recorder.flush();
    expect(parts.journal.pending).toBe(600);
    const [line, ...more] = linesOf('usage_events_write_failed');
    expect(line).toMatchObject({ level: 'error', pending: 600, error: 'Error: Connection terminated' });
    expect(more).toEqual([]);
    events.failure = undefined;
    await eventually(() => parts.journal.pending === 0, { withinMs: 10_000 });
    expect(events.rows.size).toBe(600);
  });

  it('event that Postgres always rejects → set aside and named; the others are stored', async () => {
    const tickets = Array.from({ length: 20 }, () => admit());
    const bad = tickets[7]?.admission.eventId ?? '';
    events.poison = bad;
    for (const ticket of tickets) parts.recorder.settle(ticket, anOutcome({ price, reading: aReading() }));
    await parts.recorder.flush();
    expect(events.rows.size).toBe(19);
    expect(linesOf('usage_event_rejected')).toEqual([expect.objectContaining({ eventId: bad, error: 'Error: bad' })]);
    expect(readFileSync(join(root, 'rejected.log'), 'utf8')).toContain(`"event_id":"${bad}"`);
    expect(parts.journal.pending).toBe(0);
  });

  it('Postgres fails right after it rejects an event → that event is set aside once, however often the others are retried', async () => {
    const { hold, told } = aHold(1e9);
    const tickets = [admit({}, [hold]), admit(), admit()];
    events.poison = tickets[0]?.admission.eventId;
    events.failureOfOthers = new Error('away');
    for (const ticket of tickets) parts.recorder.settle(ticket, anOutcome({ price, reading: aReading() }));
    await parts.recorder.flush();
    await parts.recorder.flush();
    expect([parts.journal.pending, told.length]).toEqual([3, 1]);
    events.failureOfOthers = undefined;
    await parts.recorder.flush();
    expect([parts.journal.pending, events.rows.size, told.at(-1)]).toEqual([0, 2, 'dropped']);
    expect(linesOf('usage_event_rejected')).toHaveLength(1);
    expect(readFileSync(join(root, 'rejected.log'), 'utf8').trim().split('\n')).toHaveLength(1);
  });
});

describe('usage recovery', () => {
  it('process killed after a request moved on to another target → one event, of that target', async () => {
    const ticket = admit();
    const { eventId } = ticket.admission;
    parts.recorder.redirect(
      ticket,
      anAdmission({ eventId, providerSlug: 'backup', model: 'grok-4.5', sentNanoUsd: 3 }),
      40,
    );
    await parts.recorder.onApplicationShutdown();
    parts = assemble();
    await parts.recovery.onModuleInit();
    expect([...events.rows.values()]).toEqual([
      expect.objectContaining({ event_id: eventId, provider_slug: 'backup', model: 'grok-4.5', charged_nano_usd: 43 }),
    ]);
  });

  it('process that was killed → its events are stored before the next one starts, interrupted ones are named', async () => {
    events.failure = new Error('away');
    const [interrupted, whole] = [admit(), admit()];
    parts.recorder.settle(whole, anOutcome({ price, reading: aReading() }));
    await parts.recorder.onApplicationShutdown();
    events.failure = undefined;
    parts = assemble();
    await parts.recovery.onModuleInit();
    expect(events.rows.get(whole.admission.eventId)).toMatchObject({ cost_source: 'computed' });
    expect(events.rows.get(interrupted.admission.eventId)).toMatchObject({ status: 'ok', cost_source: 'unresolved' });
    expect(linesOf('usage_unresolved_cost')).toEqual([
      expect.objectContaining({ eventId: interrupted.admission.eventId, reason: 'gateway_interrupted' }),
    ]);
    expect(linesOf('usage_journal_recovered')).toEqual([
      expect.objectContaining({ files: 1, events: 2, interrupted: 1, damagedLines: 0 }),
    ]);
  });

  it('event that reached Postgres before the process was killed → unchanged and not named', async () => {
    const ticket = admit();
    events.rows.set(ticket.admission.eventId, { cost_source: 'computed' });
    await parts.recorder.onApplicationShutdown();
    parts = assemble();
    await parts.recovery.onModuleInit();
    expect(events.rows.get(ticket.admission.eventId)).toEqual({ cost_source: 'computed' });
    expect(linesOf('usage_unresolved_cost')).toEqual([]);
  });

  it('Postgres unavailable at the start → waits and retries', async () => {
    admit();
    await parts.recorder.onApplicationShutdown();
    parts = assemble();
    events.failure = new Error('away');
    const starting = parts.recovery.onModuleInit();
    await eventually(() => linesOf('usage_events_write_failed').length === 1, { withinMs: 10_000 });
    events.failure = undefined;
    await starting;
    expect(events.rows.size).toBe(1);
  });
});

describe('usage recovery', () => {
  it('Postgres fails right after it rejects a recovered event → that event is set aside once', async () => {
    const [bad] = [admit(), admit(), admit()];
    await parts.recorder.onApplicationShutdown();
    parts = assemble();
    events.poison = bad?.admission.eventId;
    events.failureOfOthers = new Error('away');
    const starting = parts.recovery.onModuleInit();
    // It retries at least once.
    await eventually(() => events.failed >= 2, { withinMs: 10_000 });
    events.failureOfOthers = undefined;
    await starting;
    expect(events.rows.size).toBe(2);
    expect(linesOf('usage_event_rejected')).toHaveLength(1);
  });

  it('journal of a dead process → its money is returned once its events are stored, by the name of the instance', async () => {
    admit();
    await parts.recorder.onApplicationShutdown();
    const [directory] = readdirSync(join(root)).filter((name) => name !== 'lock');
    parts = assemble();
    events.failure = new Error('away');
    const starting = parts.recovery.onModuleInit();
    await eventually(() => events.failed > 0, { withinMs: 10_000 });
    expect(parts.budgets.forgotten).toEqual([]);
    events.failure = undefined;
    await starting;
    expect(events.rows.size).toBe(1);
    expect(parts.budgets.forgotten).toEqual([directory]);
  });

  it.each([
    ['2026-02-18', 1, 0],
    ['2026-02-19', 0, 1],
  ])(
    'event of 2025-11-20 found on %s → stored: %i, set aside because it may have been folded: %i',
    async (today, stored, setAside) => {
      const ticket = admit();
      parts.recorder.settle(ticket, anOutcome({ price, reading: aReading() }));
      events.failure = new Error('away');
      await parts.recorder.onApplicationShutdown();
      events.failure = undefined;
      events.today = today;
      parts = assemble();
      await parts.recovery.onModuleInit();
      expect(events.rows.size).toBe(stored);
      expect(linesOf('usage_event_rejected')).toHaveLength(setAside);
      const rejected = join(root, 'rejected.log');
      expect(existsSync(rejected) && readFileSync(rejected, 'utf8').includes(ticket.admission.eventId)).toBe(
        setAside === 1,
      );
    },
  );
});

describe('money held for a request', () => {
  const cost = 6_000_000;

  it('settled → holds get the cost at once, and are notified when it is stored', async () => {
    const [user, app] = [aHold(1e9, 'ada'), aHold(1e9)];
    const ticket = admit({}, [user.hold, app.hold]);
    parts.recorder.settle(ticket, anOutcome({ price, reading: aReading() }));
    expect([user.told, app.told]).toEqual([[cost], [cost]]);
    await parts.recorder.flush();
    expect([user.told, app.told]).toEqual([
      [cost, 'stored'],
      [cost, 'stored'],
    ]);
  });

  it('ADR 0007: unknown cost → its estimate counts, in the hold and in the event, and the cost stays 0', async () => {
    const { hold, told } = aHold(700);
    const ticket = admit({ maxCostNanoUsd: 700_000, sent: { inputTokens: 1, audioSeconds: 0 } }, [hold]);
    parts.recorder.settle(ticket, anOutcome({ price, ending: 'unanswered', clientAborted: true }));
    await parts.recorder.flush();
    expect(told).toEqual([SENT_TOKEN, 'stored']);
    expect([...events.rows.values()]).toEqual([
      expect.objectContaining({ cost_source: 'unresolved', charged_nano_usd: SENT_TOKEN }),
    ]);
    expect([...events.rows.values()][0]).not.toHaveProperty('cost_nano_usd');
  });

  it('process killed in between → the recovering instance charges the input sent, not the worst case', async () => {
    admit({ maxCostNanoUsd: 700_000, sentNanoUsd: 700 });
    await parts.recorder.onApplicationShutdown();
    parts = assemble();
    await parts.recovery.onModuleInit();
    expect([...events.rows.values()]).toEqual([
      expect.objectContaining({ cost_source: 'unresolved', charged_nano_usd: 700 }),
    ]);
  });

  it('sent to the next target → the same holds; settled twice → notified once', async () => {
    const { hold, told } = aHold(1e9);
    const first = admit({}, [hold]);
    const second = parts.recorder.redirect(first, { ...first.admission, providerSlug: 'next' }, 0);
    parts.recorder.settle(second, anOutcome({ price, reading: aReading() }));
    parts.recorder.settle(second, anOutcome({ price, reading: aReading() }));
    await parts.recorder.flush();
    expect(told).toEqual([cost, 'stored']);
  });

  it('Postgres unavailable → notified when stored; event that it rejects → dropped, the others stored', async () => {
    const holds = [aHold(1e9), aHold(1e9), aHold(1e9)];
    const tickets = holds.map(({ hold }) => admit({}, [hold]));
    events.failure = new Error('away');
    events.poison = tickets[1]?.admission.eventId;
    for (const ticket of tickets) parts.recorder.settle(ticket, anOutcome({ price, reading: aReading() }));
    await parts.recorder.flush();
    expect(holds.map(({ told }) => told)).toEqual([[cost], [cost], [cost]]);
    events.failure = undefined;
    await parts.recorder.flush();
    expect(holds.map(({ told }) => told.at(-1))).toEqual(['stored', 'dropped', 'stored']);
  });
});
