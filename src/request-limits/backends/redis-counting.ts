import type { Clock } from '../../common/clock.js';
import type { Ids } from '../../common/ids.js';
import type { RedisConnection } from '../../platform/redis/redis-connection.js';
import { CallWindows, type HasRoom, type LimitedWindow } from '../counts/call-windows.js';
import type { DayBases } from '../counts/day-bases.js';
import type { RequestCounters } from '../counts/request-counters.js';
import type { AppCounts, MinuteBases } from '../counts/scope-counts.js';
import { EpochOver, type LimitedCall, type RequestCounting } from '../request-counting.js';
import { countsUnknown, requestLimitRefusal } from '../request-limit.rules.js';
import { counterKey, markKey } from './counter-keys.rules.js';
import { SCRIPT_RESULT } from './request-script.js';
import { ScriptBatch } from './script-batch.js';

const MARK_BYTES = 6;
/** TTL of a counter from its first call on; instances whose clocks are behind still use it. */
const LIFE_MS = { minute: 3 * 60_000, day: 2 * 86_400_000 } as const;
/** Maximum script runs per call; two of them may return `baseMissing`. */
const MAX_SCRIPT_RUNS = 4;

export interface RedisCountingOptions {
  readonly clock: Clock;
  readonly ids: Ids;
  readonly redis: RedisConnection;
  readonly counters: RequestCounters;
  readonly dayBases: DayBases;
  readonly minuteBases: MinuteBases;
  /** Namespace of the counters of this deployment and epoch. */
  readonly namespace: string;
  /** Throws when this backend must not count any more. */
  readonly requireCurrent: () => void;
  /** A call was counted, but this backend must not count any more: the call is counted elsewhere. */
  readonly onUnsent: (call: LimitedCall) => void;
  /** Redis is unreachable. */
  readonly onLost: () => void;
  /** Redis has lost counts. */
  readonly onForgotten: () => void;
}

/** One script run for a call. */
interface ScriptRun {
  readonly call: LimitedCall;
  readonly app: AppCounts;
  readonly limits: readonly LimitedWindow[];
  readonly counts: boolean;
  readonly nowMs: number;
}

/**
 * Counts in Redis, for all instances: one script run for the calls of an application in one event loop turn. The last
 * counts that this instance saw refuse locally, so a flood above the limit does not reach Redis. They also reveal lost counters.
 */
export class RedisCounting implements RequestCounting {
  private readonly batch: ScriptBatch;

  constructor(private readonly options: RedisCountingOptions) {
    this.batch = new ScriptBatch(options.redis);
  }

  async admit(call: LimitedCall): Promise<void> {
    await this.decide(call, 'admit');
  }

  async require(call: LimitedCall): Promise<void> {
    await this.decide(call, 'require');
  }

  async countToday(call: LimitedCall): Promise<number> {
    if (call.user?.perDay == null) return 0;
    const user = { perMinute: null, perDay: Number.MAX_SAFE_INTEGER };
    const [day] = await this.decide({ ...call, user, app: undefined }, 'read');
    return day?.window.count ?? 0;
  }

  /**
   * Runs the script; when Redis needs the base of a day, reads the base and runs it again.
   *
   * @param purpose `require` checks a call that is refused anyway: unknown users are looked up a bounded number of
   *   times a second.
   * @returns the windows that limit the call, with current counts.
   */
  private async decide(call: LimitedCall, purpose: 'admit' | 'require' | 'read'): Promise<readonly LimitedWindow[]> {
    const { clock, counters, minuteBases, dayBases, requireCurrent } = this.options;
    const counts = purpose === 'admit';
    const windows = new CallWindows({ counters, minuteBases, mayHaveRoom: hasRoom, isCheck: !counts });
    for (let runs = 0; runs < MAX_SCRIPT_RUNS; runs++) {
      requireCurrent();
      windows.find(call, clock.nowMs()).requireRoom(hasRoom);
      const limits = windows.limits();
      const [first] = limits;
      if (first === undefined) return limits;
      const outdated = windows.hasOutdatedDay();
      const isDecided =
        !outdated && (await this.runScript({ call, app: first.scope.app, limits, counts, nowMs: windows.nowMs }));
      if (isDecided) return limits;
      const unloadedDay = windows.unloadedDay();
      const isRefusedAnyway = purpose === 'require' && windows.isUserTemporary;
      if (isRefusedAnyway && !first.scope.app.mayLookUp(windows.nowMs)) return limits;
      if (unloadedDay !== undefined) await dayBases.load(unloadedDay);
    }
    throw countsUnknown();
  }

  /**
   * @returns false when Redis needs the base of a day.
   * @throws app_rate_limited, EpochOver.
   */
  private async runScript({ call, app, limits, counts, nowMs }: ScriptRun): Promise<boolean> {
    const { ids, namespace, onLost, onForgotten } = this.options;
    const indexes = limits.map(({ window }) => window.index);
    const keys = limits.map((one) => keyOf(namespace, one));
    const mark = app.mark || ids.bytes(MARK_BYTES).readUIntBE(0, MARK_BYTES);
    let numbers = `${app.mark} ${mark} ${counts ? 1 : 0} ${limits.length}`;
    for (const { kind, limit, window } of limits) {
      numbers += ` ${limit} ${window.base} ${window.seen} ${LIFE_MS[kind]}`;
    }
    const reply = await this.batch.run(markKey(namespace, app.appId), keys, numbers);
    if (reply === undefined) onLost();
    const [result, knownMark = 0, ...counted] = reply ?? [];
    if (result === SCRIPT_RESULT.forgotten) onForgotten();
    this.requireStillCurrent(counts && result === SCRIPT_RESULT.counted ? call : undefined);
    if (result === undefined || result === SCRIPT_RESULT.forgotten) throw new EpochOver();
    if (result === SCRIPT_RESULT.baseMissing) return false;
    if (knownMark !== 0) app.mark = knownMark;
    for (const [at, { window }] of limits.entries()) {
      if (window.index !== indexes[at]) continue;
      window.count = Math.max(window.count, counted[at] ?? 0);
      // A check may find no counter yet.
      if (!counts || result !== SCRIPT_RESULT.counted) continue;
      window.seen = window.count;
      window.own++;
    }
    const full = limits[result - 1];
    if (full === undefined) return true;
    throw requestLimitRefusal(full.scope.userId === '' ? 'app' : 'user', full.kind, {
      limit: full.limit,
      index: indexes[result - 1] ?? 0,
      nowMs,
    });
  }

  /** @param counted the call, if it was counted. */
  private requireStillCurrent(counted: LimitedCall | undefined): void {
    try {
      this.options.requireCurrent();
    } catch (error) {
      if (counted !== undefined) this.options.onUnsent(counted);
      throw error;
    }
  }
}

const hasRoom: HasRoom = (window, limit) => window.count < limit;

function keyOf(namespace: string, { scope, kind, window }: LimitedWindow): string {
  return counterKey(namespace, scope.app.appId, { kind, index: window.index, digest: scope.digest });
}
