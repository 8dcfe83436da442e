import type { Clock } from '../../../common/clock.js';
import { type UnreportedWindow, unreportedWindows } from '../epochs/handed-counts.rules.js';
import type { LimitedCall } from '../request-counting.js';
import { countersFull, WINDOW_MS, windowIndex } from '../request-limit.rules.js';
import { AppCounts, ScopeCounts } from './scope-counts.js';

/** Number of scopes from which idle scopes are evicted: about 60 MB. */
const CROWDED_SCOPES = 100_000;
/** Maximum number of scopes: about 115 MB. */
const MAX_SCOPES = 2 * CROWDED_SCOPES;

/** Scopes evicted per batch. */
const BATCH_SCOPES = 5_000;
/** Minimum interval between scans, which visit every scope. */
const SCAN_EVERY_MS = 1_000;

const MINUTES_OF_DAY = WINDOW_MS.day / WINDOW_MS.minute;

export interface RequestCountersOptions {
  /** Number of scopes from which idle scopes should be evicted. */
  readonly crowdedAt?: number;
  readonly maxScopes?: number;
  /** Called with each new scope while the counters are crowded. */
  readonly onCrowded?: () => void;
}

/**
 * In-memory counters of every limited application and user, bounded in number. When the counters are crowded, scopes
 * that were unused in this and the previous minute are evicted, after their counts of the day are stored ({@link
 * ScopeEviction}). A scope in use is never evicted, so no client can evict another's count. When all scopes are in use,
 * new ones are refused.
 */
export class RequestCounters {
  private readonly apps = new Map<string, AppCounts>();
  private size = 0;
  private evicted = false;

  constructor(private readonly options: RequestCountersOptions = {}) {}

  /** Idle scopes should be evicted. */
  get isCrowded(): boolean {
    return this.size >= (this.options.crowdedAt ?? CROWDED_SCOPES);
  }

  /** A missing scope may have been evicted. */
  get hasEvicted(): boolean {
    return this.evicted;
  }

  /** The counters of the called application. @throws service_unavailable the maximum number of scopes is reached. */
  ofApp(call: LimitedCall, minute: number): ScopeCounts {
    const app = this.appOf(call.appId, minute);
    if (app.own === undefined) app.own = this.create(app, call.organizationId, '');
    app.own.usedIn = minute;
    return app.own;
  }

  /** The counters of the calling user, if they exist. */
  findUser({ appId }: LimitedCall, userId: string, minute: number): ScopeCounts | undefined {
    const scope = this.apps.get(appId)?.users.get(userId);
    if (scope !== undefined) scope.usedIn = minute;
    return scope;
  }

  /** The counters of the calling user. @throws service_unavailable the maximum number of scopes is reached. */
  ofUser(call: LimitedCall, userId: string, minute: number): ScopeCounts {
    const known = this.findUser(call, userId, minute);
    if (known !== undefined) return known;
    const app = this.appOf(call.appId, minute);
    const scope = this.create(app, call.organizationId, userId);
    scope.usedIn = minute;
    app.users.set(userId, scope);
    return scope;
  }

  /** Temporary counters of the calling user, for checks that do not count. */
  temporaryUser(call: LimitedCall, userId: string, minute: number): ScopeCounts {
    return new ScopeCounts(this.appOf(call.appId, minute), call.organizationId, userId);
  }

  /** Marks the day counters of an application as outdated: they may lack calls from a time without a limit. */
  appChanged(appId: string): void {
    const app = this.apps.get(appId);
    if (app !== undefined) app.changes++;
  }

  /** Marks the day counters of every application as outdated. */
  everythingChanged(): void {
    for (const app of this.apps.values()) app.changes++;
  }

  *scopes(): Iterable<ScopeCounts> {
    for (const { own, users } of this.apps.values()) {
      if (own !== undefined) yield own;
      yield* users.values();
    }
  }

  /** Scopes that were unused in this and the previous minute. */
  idle(minute: number): ScopeCounts[] {
    const idle: ScopeCounts[] = [];
    for (const scope of this.scopes()) if (isIdle(scope, minute)) idle.push(scope);
    return idle;
  }

  /** Evicts scopes, except those in use again. */
  evict(scopes: Iterable<ScopeCounts>, minute: number): void {
    for (const scope of scopes) {
      if (!isIdle(scope, minute)) continue;
      const { app, userId } = scope;
      if (userId !== '') app.users.delete(userId);
      else app.own = undefined;
      this.size--;
      this.evicted = true;
    }
    for (const [appId, app] of this.apps) {
      if (app.own === undefined && app.users.size === 0 && isLongAgo(app, minute)) this.apps.delete(appId);
    }
  }

  private appOf(appId: string, minute: number): AppCounts {
    let app = this.apps.get(appId);
    if (app === undefined) {
      app = new AppCounts(appId);
      this.apps.set(appId, app);
    }
    // Redis keeps a mark for three days: after that a missing mark is expired and not a data loss.
    if (isLongAgo(app, minute)) app.mark = 0;
    app.usedOn = dayOf(minute);
    return app;
  }

  private create(app: AppCounts, organizationId: string, userId: string): ScopeCounts {
    const { maxScopes = MAX_SCOPES, onCrowded } = this.options;
    if (this.isCrowded) onCrowded?.();
    if (this.size >= maxScopes) throw countersFull();
    this.size++;
    return new ScopeCounts(app, organizationId, userId);
  }
}

function dayOf(minute: number): number {
  return Math.floor(minute / MINUTES_OF_DAY);
}

function isIdle({ usedIn }: ScopeCounts, minute: number): boolean {
  return Math.abs(minute - usedIn) > 1;
}

function isLongAgo({ usedOn }: AppCounts, minute: number): boolean {
  return usedOn < dayOf(minute) - 1;
}

/** Stores the counts of windows. @returns false when the epoch of the counts is over. */
export type ReportWindows = (windows: readonly UnreportedWindow[]) => Promise<boolean>;

/**
 * Bounds the number of counted scopes by evicting idle ones. Their counts of the day are stored first, so that a later
 * counter of the scope continues from them.
 */
export class ScopeEviction {
  private scannedAtMs = Number.NEGATIVE_INFINITY;
  private running: Promise<void> | undefined;

  constructor(
    private readonly counters: RequestCounters,
    private readonly clock: Clock,
  ) {}

  /** Evicts idle scopes when crowded. @throws in the promise any error of `report`; scopes not evicted yet stay. */
  run(report: ReportWindows): Promise<void> {
    const nowMs = this.clock.monotonicMs();
    if (!this.counters.isCrowded || nowMs - this.scannedAtMs < SCAN_EVERY_MS) return Promise.resolve();
    this.scannedAtMs = nowMs;
    this.running ??= this.evict(report).finally(() => {
      this.running = undefined;
    });
    return this.running;
  }

  private async evict(report: ReportWindows): Promise<void> {
    const idle = this.counters.idle(this.minute());
    for (let from = 0; from < idle.length; from += BATCH_SCOPES) {
      const batch = idle.slice(from, from + BATCH_SCOPES);
      const unreported = unreportedWindows(batch, this.clock.nowMs());
      if (unreported.length > 0 && !(await report(unreported))) return;
      // A window with calls since the snapshot has unstored calls again, and its scope is not idle.
      for (const { window, index, own } of unreported) if (window.index === index) window.reported = own;
      this.counters.evict(batch, this.minute());
    }
  }

  private minute(): number {
    return windowIndex('minute', this.clock.nowMs());
  }
}
