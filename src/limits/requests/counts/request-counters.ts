import type { LimitedCall } from '../limited-call.js';
import { WINDOW_MS } from '../request-limit.rules.js';
import { AppCounts, ScopeCounts } from './scope-counts.js';

/** So many scopes are kept before idle ones go: about 40 MB. */
const MAX_SCOPES = 100_000;

const MINUTES_OF_DAY = WINDOW_MS.day / WINDOW_MS.minute;

/**
 * The counts of every application and user that has limits, in this process's memory. When there are many, those that
 * nobody has used in this minute and the one before go: what they used of the day is recorded by then. A scope in use is
 * never dropped, so nobody can push out another's count.
 */
export class RequestCounters {
  private readonly apps = new Map<string, AppCounts>();
  private size = 0;
  private sweepAt: number;

  /** @param keepsDays true where nobody else knows what this instance admitted: then only scopes of other days go. */
  constructor(
    private readonly keepsDays: boolean,
    private readonly maxScopes = MAX_SCOPES,
  ) {
    this.sweepAt = maxScopes;
  }

  /** The counts of the application that is called. */
  ofApp(call: LimitedCall, minute: number): ScopeCounts {
    const app = this.appOf(call.appId, minute);
    if (app.own === undefined) app.own = this.made(app, call.organizationId, '', minute);
    app.own.usedIn = minute;
    return app.own;
  }

  /** The counts of the calling user. */
  ofUser(call: LimitedCall, userId: string, minute: number): ScopeCounts {
    const app = this.appOf(call.appId, minute);
    let scope = app.users.get(userId);
    if (scope === undefined) {
      scope = this.made(app, call.organizationId, userId, minute);
      app.users.set(userId, scope);
    }
    scope.usedIn = minute;
    return scope;
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

  private appOf(appId: string, minute: number): AppCounts {
    let app = this.apps.get(appId);
    if (app === undefined) {
      app = new AppCounts(appId);
      this.apps.set(appId, app);
    }
    const day = Math.floor(minute / MINUTES_OF_DAY);
    // Redis keeps the mark for three days: one that is gone after so long has not been forgotten.
    if (app.usedOn < day - 1) app.mark = 0;
    app.usedOn = day;
    return app;
  }

  private made(app: AppCounts, organizationId: string, userId: string, minute: number): ScopeCounts {
    if (++this.size > this.sweepAt) this.sweep(minute);
    return new ScopeCounts(app, organizationId, userId);
  }

  private sweep(minute: number): void {
    const idleFor = this.keepsDays ? 2 * MINUTES_OF_DAY : 1;
    const isIdle = ({ usedIn }: ScopeCounts) => Math.abs(minute - usedIn) > idleFor;
    this.size = 1;
    for (const [appId, app] of this.apps) {
      if (app.own !== undefined && isIdle(app.own)) app.own = undefined;
      for (const [userId, scope] of app.users) if (isIdle(scope)) app.users.delete(userId);
      const left = app.users.size + (app.own === undefined ? 0 : 1);
      this.size += left;
      if (left === 0 && app.usedOn < Math.floor(minute / MINUTES_OF_DAY) - 1) this.apps.delete(appId);
    }
    // Not again until there are many more: a sweep looks at all of them.
    this.sweepAt = Math.max(this.maxScopes, this.size * 2);
  }
}
