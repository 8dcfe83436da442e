import type { Clock } from '../../common/clock.js';
import { lruCache } from '../../common/lru-cache.js';
import type { MaybePromise } from '../../common/maybe-promise.js';
import type { RecordedAccountRequests } from '../../usage/recording/recorded-requests.service.js';
import type { PeriodUse } from './plan.js';
import { type PlanPeriod, periodAt } from './plan-period.rules.js';

/** Refresh interval of the recorded requests, in milliseconds. */
const REFRESH_AFTER_MS = 3_000;
/** A pause lasts at least this many times as long as the query before it, which bounds the load of queries. */
const PAUSE_TIMES_DURATION = 20;
/** Capacity of the counts; an evicted count starts again from the recorded requests. */
const MAX_ACCOUNTS = 50_000;

/** Requests of an account in its period, as known to this instance. */
class AccountCount implements PeriodUse {
  used = 0;
  nextQuestionAtMs = Number.NEGATIVE_INFINITY;
  question: Promise<void> | undefined;

  constructor(
    readonly anchorDay: number,
    readonly period: PlanPeriod,
  ) {}

  /** Counts one request. @returns false when the limit is reached. */
  add(limit: number): boolean {
    if (this.used >= limit) return false;
    this.used++;
    return true;
  }
}

/**
 * Counts requests of accounts by period: this instance's admissions exactly, and those of other instances once they are
 * stored. A count starts from the recorded requests and is raised to them every few seconds. Several instances together
 * can exceed a limit by what the others admit within that interval.
 */
export class AccountRequests {
  private readonly counts = lruCache<AccountCount>(MAX_ACCOUNTS);

  constructor(
    private readonly recorded: Pick<RecordedAccountRequests, 'countSince'>,
    private readonly clock: Clock,
  ) {}

  /**
   * The count of the current period.
   *
   * @param anchorDay day of the month on which periods begin, 1 to 28.
   * @returns synchronously when cached; a stale count is refreshed in the background.
   */
  of(organizationId: string, anchorDay: number): MaybePromise<AccountCount> {
    const count = this.currentOf(organizationId, anchorDay);
    const isNew = count.nextQuestionAtMs === Number.NEGATIVE_INFINITY;
    if (isNew) return this.ask(organizationId, count).then(() => count);
    if (this.clock.monotonicMs() >= count.nextQuestionAtMs) this.ask(organizationId, count).catch(() => {});
    return count;
  }

  /** The count after a refresh, unless it is fresh. */
  async freshOf(organizationId: string, anchorDay: number): Promise<AccountCount> {
    const count = this.currentOf(organizationId, anchorDay);
    if (this.clock.monotonicMs() >= count.nextQuestionAtMs) await this.ask(organizationId, count);
    return count;
  }

  /** Uncounts one request. */
  withdraw(organizationId: string): void {
    const count = this.counts.peek(organizationId);
    if (count !== undefined && count.used > 0) count.used--;
  }

  /** A clock that is set back does not reopen a finished period. */
  private currentOf(organizationId: string, anchorDay: number): AccountCount {
    const nowMs = this.clock.nowMs();
    const known = this.counts.get(organizationId);
    if (known !== undefined && known.anchorDay === anchorDay && nowMs < known.period.endMs) return known;
    const begun = new AccountCount(anchorDay, periodAt(nowMs, anchorDay));
    this.counts.set(organizationId, begun);
    return begun;
  }

  /** Runs one query at a time per account. Requests admitted during the query stay counted. */
  private ask(organizationId: string, count: AccountCount): Promise<void> {
    count.question ??= this.learn(organizationId, count).finally(() => {
      count.question = undefined;
    });
    return count.question;
  }

  private async learn(organizationId: string, count: AccountCount): Promise<void> {
    const askedAtMs = this.clock.monotonicMs();
    const isFirst = count.nextQuestionAtMs === Number.NEGATIVE_INFINITY;
    try {
      count.used = Math.max(count.used, await this.recorded.countSince(organizationId, count.period.startDay));
    } catch (error) {
      // Calls wait for the first result, so the next call retries at once; a failed refresh can wait.
      if (!isFirst) count.nextQuestionAtMs = this.clock.monotonicMs() + REFRESH_AFTER_MS;
      throw error;
    }
    const nowMs = this.clock.monotonicMs();
    count.nextQuestionAtMs = nowMs + Math.max(REFRESH_AFTER_MS, PAUSE_TIMES_DURATION * (nowMs - askedAtMs));
  }
}
