import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { DataSource } from 'typeorm';
import { FakeClock } from '../../../test/support/clock.js';
import { eventually } from '../../../test/support/eventually.js';
import { anAdmission, aRefusal } from '../../../test/support/usage/recording/usage.js';
import { Log } from '../../common/log/log.js';
import { UsageJournal } from '../../platform/journal/usage-journal.js';
import type { EventArrays } from './event/event-arrays.js';
import { UsageWritesRepository } from './event/usage-writes.repository.js';
import type { UsageAdmission } from './usage-event.js';
import { UsageIncidents } from './usage-incidents.service.js';
import { UsageRefusals } from './usage-refusals.service.js';

interface StoredRow {
  readonly event_id: string;
  readonly user_id: string;
  readonly requests: number;
  readonly requests_before: number;
}

/** A fake events table: statements are atomic, raise counts and never lower them. */
class FakeWrites extends UsageWritesRepository {
  readonly counts = new Map<string, number>();
  /** Rows of each statement. */
  readonly statements: number[] = [];
  added = 0;
  running = 0;
  mostRunning = 0;
  delayMs = 0;
  failure: Error | undefined;
  /** A user whose rows are always rejected; `failureOfOthers` is the error of statements without that user. */
  poison: string | undefined;
  failureOfOthers: Error | undefined;
  /** The statement commits and its result is lost. */
  losesAnswer = false;

  constructor() {
    super(new DataSource({ type: 'postgres' }));
  }

  override async countRefusals({ events }: EventArrays): Promise<void> {
    this.mostRunning = Math.max(this.mostRunning, ++this.running);
    await sleep(this.delayMs);
    this.running--;
    if (this.failure && !this.losesAnswer) throw this.failure;
    const rows: StoredRow[] = JSON.parse(String(events));
    const isBad = this.poison !== undefined && rows.some(({ user_id }) => user_id === this.poison);
    if (isBad) throw Object.assign(new Error('bad'), { code: '22021' });
    if (this.failureOfOthers) throw this.failureOfOthers;
    this.statements.push(rows.length);
    for (const { event_id: id, requests, requests_before: before } of rows) {
      if (requests <= (this.counts.get(id) ?? 0)) continue;
      this.counts.set(id, requests);
      this.added += requests - before;
    }
    if (this.failure) throw this.failure;
  }
}

let root: string;
let writes: FakeWrites;
let clock: FakeClock;
let refusals: UsageRefusals;
let logs: Record<string, unknown>[];
let ids = 0;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'usage-refusals-'));
  writes = new FakeWrites();
  clock = new FakeClock(1_763_600_040_000);
  logs = [];
  const log = new Log(clock, 'info', (line) => logs.push(JSON.parse(line)));
  const journal = new UsageJournal({ root, instanceId: 'i', syncMs: 5, maxPending: 10, clock, log });
  refusals = new UsageRefusals(writes, new UsageIncidents(journal, clock, log), clock);
});

afterEach(async () => {
  writes.failure = undefined;
  await refusals.onApplicationShutdown();
  rmSync(root, { recursive: true });
});

function refuse(overrides: Partial<UsageAdmission> = {}, times = 1): void {
  for (let count = 0; count < times; count++) {
    const eventId = `event-${++ids}`;
    refusals.note(anAdmission({ eventId, createdAtMs: clock.nowMs(), userId: 'ann', ...overrides }), aRefusal());
  }
}

const stored = () => [...writes.counts.values()];

describe('refusals', () => {
  it('refused for the first time → stored within a second; refused repeatedly → the count follows later', async () => {
    refuse();
    await eventually(() => stored().length === 1, { withinMs: 10_000 });
    refuse({}, 999);
    await eventually(() => stored()[0] === 1_000, { withinMs: 10_000 });
    expect(writes.statements.length).toBeLessThanOrEqual(3);
  });

  it('many identities at once → few statements, one at a time', async () => {
    writes.delayMs = 5;
    for (let user = 0; user < 1_200; user++) refuse({ userId: `user-${user}` });
    await refusals.flush();
    expect([writes.statements, writes.mostRunning]).toEqual([[500, 500, 200], 1]);
  });

  it('twelve thousand identities → ten thousand rows and one row that counts the rest', async () => {
    for (let user = 0; user < 12_000; user++) refuse({ userId: `user-${user}` });
    await refusals.flush();
    expect(stored()).toHaveLength(10_001);
    expect(Math.max(...stored())).toBe(2_000);
    expect(writes.added).toBe(12_000);
  });

  it('Postgres unavailable → kept, one log line per second, stored when it is back', async () => {
    writes.failure = new Error('away');
    refuse({}, 3);
    await refusals.flush();
    refuse({ userId: 'bob' });
    await refusals.flush();
    const lines = () => logs.filter((line) => line.message === 'usage_refusals_write_failed');
    expect(lines()).toEqual([expect.objectContaining({ level: 'error', pending: 1, error: 'Error: away' })]);
    clock.advance(1_000);
    await refusals.flush();
    expect(lines()).toHaveLength(2);
    writes.failure = undefined;
    await eventually(() => stored().length === 2, { withinMs: 10_000 });
    expect(writes.added).toBe(4);
  });

  it('stored, but the answer is lost, and more refusals arrive meanwhile → each counts once', async () => {
    writes.failure = new Error('connection reset');
    writes.losesAnswer = true;
    refuse({}, 3);
    await refusals.flush();
    refuse({}, 4);
    await refusals.flush();
    writes.failure = undefined;
    await refusals.flush();
    await refusals.flush();
    expect([stored(), writes.added]).toEqual([[7], 7]);
  });

  it('Postgres fails right after it rejects a row → that row is set aside once, and again only when its count rises', async () => {
    const lines = () => logs.filter((line) => line.message === 'usage_event_rejected').length;
    writes.poison = 'ann';
    writes.failureOfOthers = new Error('away');
    refuse();
    for (const userId of ['bob', 'cid']) refuse({ userId });
    await refusals.flush();
    await refusals.flush();
    expect(lines()).toBe(1);
    writes.failureOfOthers = undefined;
    await refusals.flush();
    await refusals.flush();
    expect([lines(), stored()]).toEqual([1, [1, 1]]);
    refuse();
    await refusals.flush();
    expect(lines()).toBe(2);
  });

  it('stop → everything is stored, and no work continues', async () => {
    refuse({}, 5);
    await refusals.onApplicationShutdown();
    expect(stored()).toEqual([5]);
    refuse({ userId: 'bob' });
    // Refusals are gathered for 200 ms: a timer that gathers was set before this one.
    await sleep(250);
    expect([stored(), writes.running]).toEqual([[5], 0]);
  });

  it('minutes later → stored rows are dropped, and a new refusal starts a new row', async () => {
    refuse();
    await refusals.flush();
    clock.advance(60_000);
    refuse();
    await refusals.flush();
    expect(stored()).toEqual([1, 1]);
  });
});
