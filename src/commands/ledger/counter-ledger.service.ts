import { setTimeout as sleep } from 'node:timers/promises';
import { type Clock, dayStartMs, instantOf, SystemClock } from '../../common/clock.js';
import type { CounterReader, StoredBackend } from '../../limits/requests/backends/counter-reader.js';
import type { CountedDay, CounterLedgerRepository, DayLimitedApp } from './counter-ledger.repository.js';
import { countedAtMost, isTooHigh, isTooLow, parseCounter, type ScopeRequests } from './counter-ledger.rules.js';
import { readWrittenEvents, type WrittenEvent } from './written-events.js';

/** Location of a count: Redis or Postgres. */
type CounterTable = 'request_counters' | 'limit_counts';

/** A request count that differs from the known requests. */
export interface CounterFinding {
  readonly organizationId: string;
  readonly appId: string;
  readonly table: CounterTable;
  /** The user, empty for the application itself, and the UTC day. */
  readonly key: Readonly<Record<string, string>>;
  readonly column: 'requests';
  readonly stored: string;
  readonly recomputed: string;
}

/** Result of a check of the counters. */
export interface CounterReport {
  /** Counters exist outside of the instances only when Redis counts. */
  readonly countedIn: 'redis' | 'instances';
  readonly findings: readonly CounterFinding[];
  /**
   * Counts above the known requests. They may be correct: an instance was killed or has not published its open calls.
   */
  readonly unproven: readonly CounterFinding[];
}

export interface CounterLedgerOptions {
  readonly clock: Clock;
  /** Directory of the journals of this host's processes. */
  readonly journals: string;
  /**
   * Maximum time from the counting of a call to its journal record or unsent note; connecting to the provider
   * dominates.
   */
  readonly settleMs?: number;
}

/** A count above the requests known when it was read. */
interface Suspect {
  readonly app: DayLimitedApp;
  readonly userId: string;
  readonly table: CounterTable;
  readonly count: number;
}

/** Open calls of instances whose journals cannot be read here. */
interface OpenElsewhere {
  readonly calls: number;
  readonly isCertain: boolean;
}

const DAY_CHARACTERS = 'YYYY-MM-DD'.length;
const SETTLE_MS = 12_000;
const LOOK_MS = 500;
const ATTEMPTS = 10;
const NO_COUNTERS: ReadonlyMap<string, string> = new Map();

/**
 * Compares the stored request counts of this UTC day with the requests made: stored events without refusals, open
 * calls, and calls that were counted and never sent. Correct under load: events are read before a counter for its lower
 * bound, and after it for its upper bound.
 *
 * Source: docs/reference/application-api.md#request-limits, docs/reference/security.md#dependency-failures.
 */
export class CounterLedger {
  private readonly realTime = new SystemClock();

  constructor(
    private readonly repository: CounterLedgerRepository,
    private readonly counters: CounterReader,
    private readonly options: CounterLedgerOptions,
  ) {}

  /** @throws Error stored data cannot be read, or the counter backend stays undecided. */
  async verify(): Promise<CounterReport> {
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const backend = await this.counters.backend();
      const report = backend.countedIn === 'undecided' ? undefined : await this.verifyIn(backend, backend.countedIn);
      if (report !== undefined) return report;
      await sleep(LOOK_MS);
    }
    throw new Error('it is not decided where requests are counted');
  }

  /** @returns undefined when another epoch began meanwhile, which has other counters. */
  private async verifyIn(backend: StoredBackend, countedIn: 'redis' | 'instances'): Promise<CounterReport | undefined> {
    const { clock } = this.options;
    const day = { dayStartMs: dayStartMs(clock.utcDay()), openedAtMs: clock.nowMs() - backend.openForMs };
    const certain: CounterFinding[] = [];
    const tooHigh: Suspect[] = [];
    for (const app of await this.repository.listApps()) {
      const requests = await this.repository.sumDay(app, day, []);
      const counters = countedIn === 'redis' ? await this.countersOf(app, backend, requests, day) : NO_COUNTERS;
      for (const one of requests) {
        const found = { app, userId: one.userId };
        const text = counters.get(one.userId);
        const counter = text === undefined ? undefined : parseCounter(text);
        if (text !== undefined && counter === undefined) {
          certain.push(findingOf({ ...found, table: 'request_counters', stored: text }, countedAtMost(one), day));
        }
        if (counter !== undefined && isTooLow(counter, one)) {
          certain.push(findingOf({ ...found, table: 'request_counters', stored: `${counter}` }, one.recorded, day));
        }
        if (counter !== undefined && isTooHigh(counter, one, 0)) {
          tooHigh.push({ ...found, table: 'request_counters', count: counter });
        }
        if (one.kept !== undefined && isTooHigh(one.kept, one, 0)) {
          tooHigh.push({ ...found, table: 'limit_counts', count: one.kept });
        }
      }
    }
    if ((await this.counters.backend()).epoch !== backend.epoch) return undefined;
    const { findings, isCertain } = await this.remaining(tooHigh, day);
    return {
      countedIn,
      findings: isCertain ? [...certain, ...findings] : certain,
      unproven: isCertain ? [] : findings,
    };
  }

  /** Texts of the Redis counters in force, by user. */
  private countersOf(
    app: DayLimitedApp,
    { namespace }: StoredBackend,
    requests: readonly ScopeRequests[],
    day: CountedDay,
  ): Promise<ReadonlyMap<string, string>> {
    const limited = requests.filter(({ userId }) => (userId === '' ? app.isLimited : app.areUsersLimited));
    const userIds = limited.map(({ userId }) => userId);
    return this.counters.readDay(namespace, app.id, userIds, day.dayStartMs);
  }

  /** Counts that are still too high once the journal has a record of every counted call. */
  private async remaining(
    suspects: readonly Suspect[],
    day: CountedDay,
  ): Promise<{ readonly findings: readonly CounterFinding[]; readonly isCertain: boolean }> {
    const { journals, settleMs = SETTLE_MS } = this.options;
    const startedAtMs = this.realTime.monotonicMs();
    for (let left = suspects; ; await sleep(LOOK_MS)) {
      const written = await readWrittenEvents(journals, day.dayStartMs);
      const elsewhere = await this.openElsewhere(written.directories);
      const found = await this.stillTooHigh(left, day, { written: written.events, elsewhere: elsewhere.calls });
      const isOver = this.realTime.monotonicMs() - startedAtMs >= settleMs;
      if (found.size === 0 || isOver) return { findings: [...found.values()], isCertain: elsewhere.isCertain };
      left = [...found.keys()];
    }
  }

  private async stillTooHigh(
    suspects: readonly Suspect[],
    day: CountedDay,
    { written, elsewhere }: { readonly written: readonly WrittenEvent[]; readonly elsewhere: number },
  ): Promise<Map<Suspect, CounterFinding>> {
    const found = new Map<Suspect, CounterFinding>();
    for (const [app, ofApp] of Map.groupBy(suspects, (one) => one.app)) {
      const requests = await this.repository.sumDay(app, day, written);
      const known = new Map(requests.map((one) => [one.userId, one]));
      for (const one of ofApp) {
        const now = known.get(one.userId);
        if (now !== undefined && isTooHigh(one.count, now, elsewhere)) {
          found.set(one, findingOf({ ...one, stored: `${one.count}` }, countedAtMost(now), day));
        }
      }
    }
    return found;
  }

  /** @param directories names of the readable journal directories, which are instance ids. */
  private async openElsewhere(directories: readonly string[]): Promise<OpenElsewhere> {
    let calls = 0;
    let isCertain = true;
    for (const { id, lives, openCalls } of await this.repository.listInstances()) {
      if (lives && directories.includes(id)) continue;
      calls += openCalls ?? 0;
      isCertain &&= lives && openCalls !== null;
    }
    return { calls, isCertain };
  }
}

function findingOf(
  { app, userId, table, stored }: Omit<Suspect, 'count'> & { readonly stored: string },
  recomputed: number,
  day: CountedDay,
): CounterFinding {
  return {
    organizationId: app.organizationId,
    appId: app.id,
    table,
    key: { user_id: userId, day: instantOf(day.dayStartMs).toISOString().slice(0, DAY_CHARACTERS) },
    column: 'requests',
    stored,
    recomputed: String(recomputed),
  };
}
