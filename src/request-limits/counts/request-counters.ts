import type { LimitedCall } from '../limited-call.js';
import { countersFull, WINDOW_MS } from '../request-limit.rules.js';
import { AppCounts, ScopeCounts } from './scope-counts.js';

/** So many scopes are kept before idle ones leave: about 60 MB. */
const CROWDED_SCOPES = 100_000;
/** More are never kept: about 115 MB. */
const MAX_SCOPES = 2 * CROWDED_SCOPES;

const MINUTES_OF_DAY = WINDOW_MS.day / WINDOW_MS.minute;

export interface RequestCountersOptions {
  /** From so many scopes on, those that nobody uses should leave. */
  readonly crowdedAt?: number;
  readonly maxScopes?: number;
  /** Told with each scope that is made while there are so many. */
  readonly onCrowded?: () => void;
}

/**
 * The counts of every application and user that has limits, in this process's memory: a bounded number of them. When
 * there are many, those leave that nobody has used in this minute and the one before, once somebody else knows what they
 * have used of the day (`ScopeRoom`). A scope in use never leaves, so nobody can push out another's count; when all are
 * in use, no further one is made.
 */
export class RequestCounters {
  private readonly apps = new Map<string, AppCounts>();
  private size = 0;
  private left = false;

  constructor(private readonly options: RequestCountersOptions = {}) {}

  /** Those that nobody uses should leave. */
  get isCrowded(): boolean {
    return this.size >= (this.options.crowdedAt ?? CROWDED_SCOPES);
  }

  /** A scope that is not here may have been. */
  get haveLeft(): boolean {
    return this.left;
  }

  /** The counts of the application that is called. @throws service_unavailable there are too many. */
  ofApp(call: LimitedCall, minute: number): ScopeCounts {
    const app = this.appOf(call.appId, minute);
    if (app.own === undefined) app.own = this.made(app, call.organizationId, '');
    app.own.usedIn = minute;
    return app.own;
  }

  /** The counts of the calling user, if there are any. */
  findUser({ appId }: LimitedCall, userId: string, minute: number): ScopeCounts | undefined {
    const scope = this.apps.get(appId)?.users.get(userId);
    if (scope !== undefined) scope.usedIn = minute;
    return scope;
  }

  /** The counts of the calling user. @throws service_unavailable there are too many. */
  ofUser(call: LimitedCall, userId: string, minute: number): ScopeCounts {
    const known = this.findUser(call, userId, minute);
    if (known !== undefined) return known;
    const app = this.appOf(call.appId, minute);
    const scope = this.made(app, call.organizationId, userId);
    scope.usedIn = minute;
    app.users.set(userId, scope);
    return scope;
  }

  /** Counts of the calling user that are only looked at: nobody else gets them. */
  looseUser(call: LimitedCall, userId: string, minute: number): ScopeCounts {
    return new ScopeCounts(this.appOf(call.appId, minute), call.organizationId, userId);
  }

  /** Counters of the day may lack calls that nobody counted while the application had no limit: they are asked for again. */
  appChanged(appId: string): void {
    const app = this.apps.get(appId);
    if (app !== undefined) app.changes++;
  }

  /** As {@link appChanged}, for every application. */
  everythingChanged(): void {
    for (const app of this.apps.values()) app.changes++;
  }

  /** Every scope that is counted. */
  *scopes(): Iterable<ScopeCounts> {
    for (const { own, users } of this.apps.values()) {
      if (own !== undefined) yield own;
      yield* users.values();
    }
  }

  /** Scopes that nobody has used in this minute and the one before. */
  idle(minute: number): ScopeCounts[] {
    const idle: ScopeCounts[] = [];
    for (const scope of this.scopes()) if (isIdle(scope, minute)) idle.push(scope);
    return idle;
  }

  /** Lets scopes go: nothing of them is known here any more. Those that are in use again stay. */
  drop(scopes: Iterable<ScopeCounts>, minute: number): void {
    for (const scope of scopes) {
      if (!isIdle(scope, minute)) continue;
      const { app, userId } = scope;
      if (userId !== '') app.users.delete(userId);
      else app.own = undefined;
      this.size--;
      this.left = true;
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
    // Redis keeps the mark for three days: one that is gone after so long has not been forgotten.
    if (isLongAgo(app, minute)) app.mark = 0;
    app.usedOn = dayOf(minute);
    return app;
  }

  private made(app: AppCounts, organizationId: string, userId: string): ScopeCounts {
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
