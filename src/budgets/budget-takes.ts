import type { Clock } from '../common/clock.js';
import { systemErrorCode } from '../common/errors/system-error-code.js';
import type { Log } from '../common/log/log.js';
import type { ConfigChanges } from '../platform/database/config-changes.js';
import { type BackoffBounds, backoffMs } from '../platform/database/retry-unreachable.js';
import { StatementBatch } from '../platform/database/statement-batch.js';
import type { InstanceRegistry } from '../platform/instances/instance-registry.js';
import { grantParts, stepsOf } from './budget.rules.js';
import type { BudgetAccount } from './budget-account.js';
import type { BudgetTake, BudgetTaken } from './budget-grants.js';
import type { BudgetHold, CallBudget } from './budget-hold.js';
import type { BudgetWaiter } from './budget-queue.js';
import { recallKey } from './budget-recall.rules.js';
import { budgetHeld, budgetSpent, budgetUnknown } from './budget-refusals.js';
import type { BudgetsRepository } from './budgets.repository.js';

/** Maximum wait of a call for a grant. */
const ANSWER_MS = 1_000;
/** Time for other instances to return unused grants before a call is refused. */
const RECALL_MS = 300;
/** Minimum time between two recalls. */
const RECALL_EVERY_MS = 75;
/** Pauses after consecutive statements that admitted no call; the last one repeats. */
const FIRST_PAUSE_MS = 25;
const SECOND_PAUSE_MS = 75;
const LATER_PAUSE_MS = 100;
/** Minimum time between a statement that left a call without a grant and the next statement for the same budget. */
const AFTER_REFUSAL_MS = 50;
/**
 * Backoff after consecutive statements without a usable result: an error, an unexpected row, a concurrent correction.
 */
const INCONCLUSIVE_PAUSE: BackoffBounds = { minMs: 5, maxMs: 200 };
/** Maximum calls that wait for one budget; further calls are refused as if the rest were held. */
const MOST_WAITING = 1_000;
const LOG_EVERY_MS = 1_000;

export interface BudgetTakesOptions {
  readonly repository: BudgetsRepository;
  readonly instances: InstanceRegistry;
  readonly configChanges: ConfigChanges;
  readonly clock: Clock;
  readonly log: Log;
  /** Called when a statement about an account has ended. */
  readonly onIdle: (account: BudgetAccount) => void;
}

/** A take and its result. */
interface AskedTake {
  readonly take: BudgetTake;
  readonly taken: BudgetTaken | undefined;
}

/**
 * Requests grants from Postgres for waiting calls: one statement at a time per budget, for all its waiting calls. No
 * call is refused by data that is older than its request.
 */
export class BudgetTakes {
  private readonly firstTakes = new StatementBatch((accounts: readonly BudgetAccount[]) => this.takeFirst(accounts));
  private loggedAtMs = Number.NEGATIVE_INFINITY;

  constructor(private readonly options: BudgetTakesOptions) {}

  /**
   * Waits for a hold.
   *
   * @throws app_budget_exhausted, app_rate_limited, service_unavailable.
   */
  async hold(account: BudgetAccount, budget: CallBudget, amount: number): Promise<BudgetHold> {
    if (account.queue.length >= MOST_WAITING) throw budgetHeld(budget, account, this.heldMs(account));
    const { promise, resolve: admit, reject: refuse } = Promise.withResolvers<BudgetHold>();
    const waiter: BudgetWaiter = { budget, amount, pausedMs: 0, wasAsked: false, admit, refuse };
    account.queue.enqueue(waiter);
    const timer = setTimeout(() => {
      account.queue.withdraw(waiter);
      refuse(budgetUnknown('budget_asked_too_long'));
    }, ANSWER_MS);
    this.work(account);
    return promise.finally(() => clearTimeout(timer));
  }

  /** Starts the request loop for the waiting calls, unless it runs. Never throws. */
  work(account: BudgetAccount): void {
    if (account.isBusy || !account.queue.startAsking()) return;
    void this.ask(account).finally(() => {
      account.queue.stopAsking();
      this.work(account);
    });
  }

  private async ask(account: BudgetAccount): Promise<void> {
    await sleep(Math.max(this.afterRefusalMs(account), this.afterInconclusiveMs(account)));
    let inVain = 0;
    let sinceRecallMs = Number.POSITIVE_INFINITY;
    while (account.queue.length > 0 && !account.isBusy) {
      const waiting = account.queue.length;
      // Postgres may have stored an unstored charge already: it counts twice until the instance is notified.
      const wasUnstored = account.unstored > 0;
      const wasInUse = account.inUse;
      const elsewhere = await this.take(account);
      if (account.queue.length === 0) break;
      if (elsewhere === undefined) {
        await sleep(this.afterInconclusiveMs(account));
        continue;
      }
      this.refuse(account, elsewhere > 0 || wasUnstored || account.inUse < wasInUse);
      if (account.queue.length === 0) break;
      inVain = account.queue.length < waiting ? 0 : inVain + 1;
      if (elsewhere > 0 && sinceRecallMs >= RECALL_EVERY_MS) {
        await this.recall(account);
        sinceRecallMs = 0;
      }
      const pauseMs = inVain <= 1 ? FIRST_PAUSE_MS : inVain === 2 ? SECOND_PAUSE_MS : LATER_PAUSE_MS;
      await this.pause(account, pauseMs);
      sinceRecallMs += pauseMs;
    }
  }

  /**
   * Runs one statement. @returns the amount granted to other instances; undefined when it must be repeated or failed.
   */
  private async take(account: BudgetAccount): Promise<number | undefined> {
    account.occupy();
    try {
      const { take, taken } = await this.taken(account);
      // This statement admits the call that crosses the budget: other instances must not use their earlier figures.
      const hasCrossed = taken?.target !== undefined && taken.target > take.inUse && committedBy(taken) > take.budget;
      if (hasCrossed && taken.elsewhere > 0) await this.recall(account);
      return this.apply(account, taken, this.options.clock.monotonicMs());
    } catch (error) {
      this.fail(account, error);
      return undefined;
    } finally {
      account.end();
      this.options.onIdle(account);
    }
  }

  /** After an unusable result a first take has its own statement: other takes cannot make it fail again. */
  private async taken(account: BudgetAccount): Promise<AskedTake> {
    const { repository, instances } = this.options;
    const isFirst = account.row === undefined;
    if (isFirst && account.inconclusive === 0) {
      const first = await this.firstTakes.add(account);
      if (first.taken !== undefined) return first;
    }
    if (isFirst) await repository.addRows(account.key, instances.id, account.organizationId);
    const take = this.begin(account);
    return { take, taken: await repository.take(instances.id, take) };
  }

  private async takeFirst(accounts: readonly BudgetAccount[]): Promise<AskedTake[]> {
    const { repository, instances } = this.options;
    const takes = accounts.map((account) => ({ ...this.begin(account), organizationId: account.organizationId }));
    const taken = await repository.takeFirst(instances.id, takes);
    return takes.map((take, at) => ({ take, taken: taken[at] }));
  }

  /** Starts the statement of an account. @returns the take for its waiting calls. */
  private begin(account: BudgetAccount): BudgetTake {
    const { instances, configChanges } = this.options;
    const { waiting } = account.queue;
    account.rowAdded();
    for (const waiter of waiting) waiter.wasAsked = true;
    return {
      ...account.key,
      ...account.begin(),
      steps: stepsOf(waiting.map(({ amount }) => amount)),
      budget: waiting.at(-1)?.budget.limit ?? 0,
      parts: grantParts(instances.live.length, configChanges.connected),
    };
  }

  private apply(account: BudgetAccount, taken: BudgetTaken | undefined, nowMs: number): number | undefined {
    if (taken?.target !== undefined) {
      return account.grant(taken.target, committedBy(taken), taken, nowMs) ? taken.elsewhere : undefined;
    }
    if (taken === undefined) account.rowLost();
    else account.rowFound(taken.row);
    account.statementInconclusive(nowMs);
    return undefined;
  }

  /**
   * @param mayChange some of the budget may become free soon: other instances have grants, or a local charge is about
   *   to be stored.
   */
  private refuse(account: BudgetAccount, mayChange: boolean): void {
    const { clock } = this.options;
    const nowMs = clock.monotonicMs();
    account.queue.refuse(nowMs, ({ budget, wasAsked, pausedMs }) => {
      if (account.spent >= budget.limit) return budgetSpent(budget, account, clock.nowMs());
      if (!wasAsked || (mayChange && pausedMs < RECALL_MS)) return undefined;
      return budgetHeld(budget, account, this.heldMs(account));
    });
  }

  /** Best effort: without a recall other instances continue to use their grants, which are bounded. */
  private async recall(account: BudgetAccount): Promise<void> {
    const { repository, instances } = this.options;
    try {
      await repository.recall(recallKey({ instanceId: instances.id, appId: account.key.appId, budget: account.key }));
    } catch (error) {
      this.report(error);
    }
  }

  private async pause(account: BudgetAccount, ms: number): Promise<void> {
    await sleep(ms);
    for (const waiter of account.queue.waiting) if (waiter.wasAsked) waiter.pausedMs += ms;
  }

  private afterRefusalMs({ queue }: BudgetAccount): number {
    return AFTER_REFUSAL_MS - (this.options.clock.monotonicMs() - queue.refusedAtMs);
  }

  private afterInconclusiveMs({ inconclusive, inconclusiveAtMs }: BudgetAccount): number {
    if (inconclusive === 0) return 0;
    return backoffMs(inconclusive, INCONCLUSIVE_PAUSE) - (this.options.clock.monotonicMs() - inconclusiveAtMs);
  }

  private fail(account: BudgetAccount, error: unknown): void {
    account.statementInconclusive(this.options.clock.monotonicMs());
    for (const { refuse } of account.queue.takeAll()) refuse(budgetUnknown('budget_not_reached', error));
    this.report(error);
  }

  /** Logs a failed grant statement; at most one line a second. */
  report(error: unknown): void {
    const nowMs = this.options.clock.monotonicMs();
    if (nowMs - this.loggedAtMs < LOG_EVERY_MS) return;
    this.loggedAtMs = nowMs;
    this.options.log.event('budget_write_failed', { error: systemErrorCode(error) ?? String(error) });
  }

  private heldMs({ queue: { refusedSinceMs } }: BudgetAccount): number {
    return refusedSinceMs === undefined ? 0 : this.options.clock.monotonicMs() - refusedSinceMs;
  }
}

/** Total spent and granted. */
function committedBy({ spent, elsewhere, target = 0 }: BudgetTaken): number {
  return spent + elsewhere + target;
}

async function sleep(ms: number): Promise<void> {
  if (ms > 0) await new Promise((resolve) => setTimeout(resolve, ms));
}
