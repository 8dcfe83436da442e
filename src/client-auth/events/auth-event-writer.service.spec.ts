import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { DataSource } from 'typeorm';
import { eventually } from '../../../test/support/eventually.js';
import { SystemClock } from '../../common/clock.js';
import { Ids } from '../../common/ids.js';
import { Log } from '../../common/log/log.js';
import type { AuthEventDraft } from './auth-event.js';
import { AuthEventLosses, AuthEventWriter } from './auth-event-writer.service.js';
import { AuthEventsRepository } from './auth-events.repository.js';
import { AuthEvents } from './auth-events.service.js';

/** The table in memory. Like the real one, it inserts all or none and ignores duplicates. */
class StoredEvents extends AuthEventsRepository {
  readonly rows = new Map<string, Record<string, unknown>>();
  readonly batches: number[] = [];
  attempts = 0;
  running = 0;
  mostRunning = 0;
  delayMs = 0;
  /** Statements wait for it. */
  held: Promise<void> | undefined;
  failure: unknown;
  /** The statement succeeds, but its response is lost. */
  answerLost = false;
  readonly poison = new Set<unknown>();
  /** The connection breaks when this user's event is sent. */
  breaksAt: unknown;

  constructor() {
    super(new DataSource({ type: 'postgres' }));
  }

  override async insert(json: string): Promise<void> {
    this.attempts++;
    this.mostRunning = Math.max(this.mostRunning, ++this.running);
    await sleep(this.delayMs);
    await this.held;
    this.running--;
    if (this.failure !== undefined && !this.answerLost) throw this.failure;
    const rows: Record<string, unknown>[] = JSON.parse(json);
    if (rows.some((row) => this.poison.has(row.user_id))) throw Object.assign(new Error('bad'), { code: '22021' });
    if (rows.some((row) => row.user_id === this.breaksAt)) throw away();
    this.batches.push(rows.length);
    for (const row of rows) this.rows.set(String(row.event_id), row);
    if (this.failure !== undefined) throw this.failure;
  }

  get users(): unknown[] {
    return [...this.rows.values()].map((row) => row.user_id);
  }
}

class CountedIds extends Ids {
  private count = 0;

  bytes(): Buffer {
    throw new Error('not asked for');
  }

  uuid(): string {
    return `id-${++this.count}`;
  }
}

// Where this suite waits to see that nothing happens, timers decide: the timer that is due earlier fires first, even on
// a busy machine.

/** Work that continues while timers are stopped. */
const UNTIMED = ['nextTick', 'queueMicrotask', 'performance', 'Date', 'setImmediate'] as const;
const away = () => Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
const names = (count: number, first = 1) => Array.from({ length: count }, (_, index) => `user-${first + index}`);

let table: StoredEvents;
let lines: Record<string, unknown>[];
let writer: AuthEventWriter;
let events: AuthEvents;

beforeEach(() => {
  table = new StoredEvents();
  lines = [];
  const losses = new AuthEventLosses(new Log(new SystemClock(), 'info', (line) => lines.push(JSON.parse(line))));
  writer = new AuthEventWriter(table, losses);
  events = new AuthEvents(writer, losses, new CountedIds());
});

afterEach(async () => {
  jest.useRealTimers();
  table.failure = undefined;
  await writer.onApplicationShutdown();
});

function record(...userIds: string[]): void {
  for (const userId of userIds) events.record(draftOf({ userId }));
}

function draftOf(overrides: Partial<AuthEventDraft>): AuthEventDraft {
  return {
    organizationId: 'account-1',
    appId: 'notes-abc123',
    userId: null,
    event: 'token_exchange',
    authMethod: 'attest',
    outcome: 'ok',
    reason: null,
    appVersion: null,
    latencyMs: 1,
    claimDelayMs: null,
    proof: null,
    facts: null,
    createdAt: new Date(1_790_000_000_000),
    ...overrides,
  };
}

function lost(): unknown[] {
  return lines.filter(({ message }) => message === 'auth_event_record_failed').map(({ events: count }) => count);
}

describe('recording authentication events', () => {
  it('a few events → none at once, all of them together shortly after, in order', async () => {
    record('a', 'b', 'c');
    await sleep(50);
    expect(table.attempts).toBe(0);
    await eventually(() => table.rows.size > 0, { withinMs: 10_000 });
    expect([table.users, table.batches]).toEqual([['a', 'b', 'c'], [3]]);
  });

  it('500 events → written at once, without the 200 ms pause', async () => {
    record(...names(500));
    // A timer of 200 ms ends after this one.
    await sleep(100);
    expect(table.attempts).toBe(1);
    await eventually(() => table.batches.length > 0, { withinMs: 10_000 });
    expect(table.batches).toEqual([500]);
  });

  it('many events while a statement is slow → one statement at a time with at most 500 events each, in order', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    table.held = promise;
    record(...names(700));
    await eventually(() => table.running === 1, { withinMs: 10_000 });
    record(...names(800, 701));
    const flushed = writer.flush();
    resolve();
    await flushed;
    expect(table.users).toEqual(names(1_500));
    expect(table.mostRunning).toBe(1);
    expect(Math.max(...table.batches)).toBe(500);
    expect(table.batches).toHaveLength(3);
  });

  it('database unavailable → events are kept, retried with pauses, and stored in order once it is back, without an error line', async () => {
    table.failure = away();
    record('a', 'b');
    await eventually(() => table.attempts === 3, { withinMs: 10_000 });
    record('c');
    table.failure = undefined;
    await eventually(() => table.rows.size === 3, { withinMs: 10_000 });
    expect([table.users, lost()]).toEqual([['a', 'b', 'c'], []]);
  });

  it('database available again → the next events wait 200 ms as usual', async () => {
    table.failure = away();
    record('a');
    await eventually(() => table.attempts === 5, { withinMs: 10_000 });
    table.failure = undefined;
    await writer.flush();
    record('b');
    await eventually(() => table.rows.size === 2, { withinMs: 10_000 });
  });

  it('database unavailable while events keep coming → attempts no faster than the pauses allow', async () => {
    jest.useFakeTimers({ doNotFake: [...UNTIMED] });
    table.failure = away();
    record(...names(1_200));
    await writer.flush();
    record(...names(600, 1_201));
    await jest.advanceTimersByTimeAsync(99);
    expect(table.attempts).toBe(1);
    await jest.advanceTimersByTimeAsync(1);
    expect(table.attempts).toBe(2);
  });

  it('the answer of a statement is lost → the statement is sent again under the same ids, so that it changes nothing', async () => {
    table.failure = away();
    table.answerLost = true;
    record('a', 'b');
    await writer.flush();
    table.failure = undefined;
    await writer.flush();
    expect([table.users, table.batches]).toEqual([
      ['a', 'b'],
      [2, 2],
    ]);
  });

  it('an event that Postgres rejects → only this event is lost, and the loss is logged', async () => {
    table.poison.add('bad');
    record('a', 'bad', 'b');
    await writer.flush();
    expect([table.users, lines]).toEqual([
      ['a', 'b'],
      [
        expect.objectContaining({
          level: 'error',
          message: 'auth_event_record_failed',
          events: 1,
          error: 'Error: bad',
        }),
      ],
    ]);
  });

  it('an event that Postgres rejects, and the connection breaks before the rest is stored → counted once', async () => {
    table.poison.add('bad');
    table.breaksAt = 'b';
    record('a', 'bad', 'b');
    await writer.flush();
    table.breaksAt = undefined;
    await writer.flush();
    await writer.onApplicationShutdown();
    expect([table.users, lost()]).toEqual([['a', 'b'], [1]]);
  });

  it('an event that cannot be serialised → does not throw, is logged', () => {
    events.record(draftOf({ createdAt: new Date(Number.NaN) }));
    expect(lost()).toEqual([1]);
  });
});

describe('more events than memory may hold', () => {
  it('10,003 while the database is unavailable → the three oldest are dropped, the others arrive in order', async () => {
    table.failure = away();
    record(...names(10_003));
    await eventually(() => table.attempts > 0, { withinMs: 10_000 });
    table.failure = undefined;
    await eventually(() => table.rows.size === 10_000, { withinMs: 10_000 });
    expect(table.users).toEqual(names(10_000, 4));
    await writer.onApplicationShutdown();
    expect(lost()).toEqual([1, 2]);
  });

  it('a statement under way → its events are kept, queued ones are dropped', async () => {
    table.delayMs = 100;
    record(...names(500));
    await eventually(() => table.running === 1, { withinMs: 10_000 });
    record(...names(9_502, 501));
    table.delayMs = 0;
    await eventually(() => table.rows.size === 10_000, { withinMs: 10_000 });
    expect(table.users).toEqual([...names(500), ...names(9_500, 503)]);
    expect(lines[0]).toMatchObject({ events: 1, error: 'more events than can be kept' });
  });

  it('thousands lost → a log line at once, then one per second, which together count all of them', async () => {
    jest.useFakeTimers({ doNotFake: [...UNTIMED] });
    table.failure = away();
    record(...names(10_000));
    record(...names(400));
    await jest.advanceTimersByTimeAsync(300);
    record(...names(400));
    await jest.advanceTimersByTimeAsync(699);
    expect(lost()).toEqual([1]);
    await jest.advanceTimersByTimeAsync(1);
    record(...names(200));
    expect(lost()).toEqual([1, 799]);
    await jest.advanceTimersByTimeAsync(1_000);
    expect(lost()).toEqual([1, 799, 200]);
  });
});

describe('shutdown', () => {
  it('waiting events → stored before it ends', async () => {
    record(...names(1_100));
    await writer.onApplicationShutdown();
    expect([table.users, lost()]).toEqual([names(1_100), []]);
  });

  it('a statement is under way → it is awaited, and the rest is stored', async () => {
    table.delayMs = 30;
    record(...names(500));
    await eventually(() => table.running === 1, { withinMs: 10_000 });
    record('last');
    await writer.onApplicationShutdown();
    expect(table.users).toEqual([...names(500), 'last']);
  });

  it('database unavailable → ends after one attempt and reports how many are lost', async () => {
    table.failure = away();
    record('a', 'b');
    await writer.onApplicationShutdown();
    expect(lines).toEqual([expect.objectContaining({ events: 2, error: 'Error: connect ECONNREFUSED' })]);
    await sleep(250);
    expect(table.attempts).toBe(1);
  });
});
