import { LRUCache } from 'lru-cache';
import type { Clock } from '../../common/clock.js';
import type { Ready } from '../../common/when-ready.js';
import type { RecordedAccountRequests } from '../../usage/recorded-account-requests.service.js';
import type { PeriodUse } from './account-standing.js';
import { type PlanPeriod, periodAt } from './plan-period.rules.js';

/** How old what is known of other instances' requests may get, in milliseconds. */
const REFRESH_AFTER_MS = 3_000;
/** Asking takes at most one part in so many of the time, however much an account has recorded. */
const PAUSE_TIMES_DURATION = 20;
/** Accounts whose counts are kept; a forgotten one begins again with what is recorded. */
const MAX_ACCOUNTS = 50_000;

/** Requests of an account in its period, as far as this instance knows. */
class AccountCount implements PeriodUse {
  used = 0;
  nextQuestionAtMs = Number.NEGATIVE_INFINITY;
  question: Promise<void> | undefined;

  constructor(
    readonly anchorDay: number,
    readonly period: PlanPeriod,
  ) {}

  /** Counts one, unless that would be more than `limit`. */
  add(limit: number): boolean {
    if (this.used >= limit) return false;
    this.used++;
    return true;
  }
}

/**
 * Counts requests of accounts by their periods: exactly what this instance admits, and of the others what is stored.
 * A count begins with what is recorded and is raised to it every few seconds, so several instances together may let
 * through more than a limit: what the others admit, and do not store, within that time.
 */
export class AccountRequests {
  private readonly counts = new LRUCache<string, AccountCount>({ max: MAX_ACCOUNTS });

  constructor(
    private readonly recorded: Pick<RecordedAccountRequests, 'countSince'>,
    private readonly clock: Clock,
  ) {}

  /**
   * The count of the current period.
   *
   * @param anchorDay day of the month on which its periods begin, 1 to 28.
   * @returns at once where it is known; what others have stored since is then asked for in the background.
   */
  of(organizationId: string, anchorDay: number): Ready<AccountCount> {
    const count = this.currentOf(organizationId, anchorDay);
    const isNew = count.nextQuestionAtMs === Number.NEGATIVE_INFINITY;
    if (isNew) return this.ask(organizationId, count).then(() => count);
    if (this.clock.monotonicMs() >= count.nextQuestionAtMs) this.ask(organizationId, count).catch(() => {});
    return count;
  }

  /** The count once what is stored by now has been asked for, unless that was just done. */
  async freshOf(organizationId: string, anchorDay: number): Promise<AccountCount> {
    const count = this.currentOf(organizationId, anchorDay);
    if (this.clock.monotonicMs() >= count.nextQuestionAtMs) await this.ask(organizationId, count);
    return count;
  }

  /** Takes back one that was added. */
  withdraw(organizationId: string): void {
    const count = this.counts.peek(organizationId);
    if (count !== undefined && count.used > 0) count.used--;
  }

  /** A clock that is set back does not open a period that is over again. */
  private currentOf(organizationId: string, anchorDay: number): AccountCount {
    const nowMs = this.clock.nowMs();
    const known = this.counts.get(organizationId);
    if (known !== undefined && known.anchorDay === anchorDay && nowMs < known.period.endMs) return known;
    const begun = new AccountCount(anchorDay, periodAt(nowMs, anchorDay));
    this.counts.set(organizationId, begun);
    return begun;
  }

  /** One question at a time for each account. What is admitted meanwhile is counted, stored or not. */
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
      // The first answer is waited for by calls, and asked for again by the next; later ones can wait.
      if (!isFirst) count.nextQuestionAtMs = this.clock.monotonicMs() + REFRESH_AFTER_MS;
      throw error;
    }
    const nowMs = this.clock.monotonicMs();
    count.nextQuestionAtMs = nowMs + Math.max(REFRESH_AFTER_MS, PAUSE_TIMES_DURATION * (nowMs - askedAtMs));
  }
}
