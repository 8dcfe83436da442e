import type { Clock } from '../../../common/clock.js';
import type { Ids } from '../../../common/ids.js';
import type { RedisConnection } from '../../../platform/redis/redis-connection.js';
import { CallWindows, type HasRoom, type LimitedWindow } from '../counts/call-windows.js';
import type { DayBases } from '../counts/day-bases.js';
import type { RequestCounters } from '../counts/request-counters.js';
import type { MinuteBases } from '../counts/scope-counts.js';
import { EpochOver, type LimitedCall, type RequestCounting } from '../request-counting.js';
import { countsUnknown, requestLimitRefusal } from '../request-limit.rules.js';
import { SCRIPT_RESULT } from './request-script.js';
import { ScriptBatch, type ScriptRequest } from './script-batch.js';

const MARK_BYTES = 6;
/** Numbers of the script's reply before its counters: result code and mark. */
const NUMBERS_BEFORE_COUNTERS = 2;
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

/** A call as the script counts it, at one instant. */
interface CountedCall {
  readonly call: LimitedCall;
  readonly request: ScriptRequest;
  /** The windows of the request, in the order of refusal. */
  readonly limits: readonly LimitedWindow[];
  readonly nowMs: number;
}

/**
 * Counts in Redis, for all instances: one script run for the calls of an application in one event loop turn. The last
 * counts that this instance saw refuse locally, so a flood above the limit does not reach Redis. They also reveal lost
 * counters.
 */
export class RedisCounting implements RequestCounting {
  private readonly batch: ScriptBatch;

  constructor(private readonly options: RedisCountingOptions) {
    const { ids, redis, namespace } = options;
    const newMark = () => ids.bytes(MARK_BYTES).readUIntBE(0, MARK_BYTES);
    this.batch = new ScriptBatch(redis, namespace, newMark);
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
      const [ofUser, ofApp] = [windows.ofUser(), windows.ofApp()];
      const limits = [...ofUser, ...ofApp];
      const app = limits[0]?.scope.app;
      if (app === undefined) return limits;
      const { nowMs } = windows;
      const request = { app, ofUser, ofApp, counts };
      const isDecided = !windows.hasOutdatedDay() && (await this.runScript({ call, request, limits, nowMs }));
      if (isDecided) return limits;
      const unloadedDay = windows.unloadedDay();
      const isRefusedAnyway = purpose === 'require' && windows.isUserTemporary;
      if (isRefusedAnyway && !app.mayLookUp(nowMs)) return limits;
      if (unloadedDay !== undefined) await dayBases.load(unloadedDay);
    }
    throw countsUnknown();
  }

  /**
   * @returns false when Redis needs the base of a day.
   * @throws app_rate_limited, EpochOver.
   */
  private async runScript({ call, request, limits, nowMs }: CountedCall): Promise<boolean> {
    const { app, counts } = request;
    const indexes = limits.map(({ window }) => window.index);
    const reply = await this.batch.add(request);
    if (reply === undefined) this.options.onLost();
    const [result, knownMark = 0] = reply ?? [];
    if (result === SCRIPT_RESULT.forgotten) this.options.onForgotten();
    this.requireStillCurrent(counts && result === SCRIPT_RESULT.counted ? call : undefined);
    if (reply === undefined || result === undefined || result === SCRIPT_RESULT.forgotten) throw new EpochOver();
    if (result === SCRIPT_RESULT.baseMissing) return false;
    if (knownMark !== 0) app.mark = knownMark;
    for (const [at, { window }] of limits.entries()) {
      if (window.index !== indexes[at]) continue;
      window.count = Math.max(window.count, reply[NUMBERS_BEFORE_COUNTERS + at] ?? 0);
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
