import { Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { Clock } from '../common/clock.js';
import { Log } from '../common/log/log.js';
import type { MaybePromise } from '../common/maybe-promise.js';
import { ConfigChanges, EVERYTHING } from '../platform/database/config-changes.js';
import { InstanceRegistry } from '../platform/instances/instance-registry.js';
import { Metrics } from '../platform/metrics/metrics.js';
import { heldFor } from './budget.rules.js';
import type { BudgetAccount } from './budget-account.js';
import { BudgetAccounts } from './budget-accounts.js';
import type { BudgetHold, CallBudget } from './budget-hold.js';
import { parseRecall, recallKey } from './budget-recall.rules.js';
import { budgetSpent, budgetUnknown } from './budget-refusals.js';
import { BudgetReturns, ExpiredGrants } from './budget-returns.js';
import { BudgetTakes } from './budget-takes.js';
import { BUDGET_GRANTS_TOPIC, BudgetsRepository, GRANT_LEASE_MS } from './budgets.repository.js';

/** Interval at which idle grants are returned. */
const SWEEP_MS = 2_500;
/** Interval of the search for grants of dead instances. */
const EXPIRE_MS = 30_000;
/** Without a heartbeat for this long, an instance stops using its grants: before other instances expire them. */
const FENCE_MS = GRANT_LEASE_MS - 60_000;
/** Cache duration of an exhausted budget. */
const SPENT_MS = 1_000;
/** Maximum wait of a call for a heartbeat. */
const CONFIRM_MS = 1_000;
/** Time for other instances to return unused grants after a correction of the spending. */
const RECALL_MS = 100;
/** The pauses of the shutdown between attempts to return unused grants. */
const LEAVE_PAUSES_MS = [10, 30, 60, 100, 300, 500] as const;

/**
 * Hard budgets of applications, their users, groups and runs. Holds come from this instance's grants, in memory;
 * Postgres, which all instances share, issues further grants. Redis is not involved.
 */
@Injectable()
export class Budgets implements OnApplicationBootstrap {
  private readonly accounts = new BudgetAccounts();
  private readonly takes: BudgetTakes;
  private readonly returns: BudgetReturns;
  private readonly expired: ExpiredGrants;
  private readonly timers: NodeJS.Timeout[] = [];
  private readonly unsubscribe: (() => void)[];
  private lastHeartbeatAtMs: number;
  private knownAcquisitions: number;

  constructor(
    private readonly repository: BudgetsRepository,
    private readonly instances: InstanceRegistry,
    private readonly configChanges: ConfigChanges,
    private readonly clock: Clock,
    log: Log,
    metrics: Metrics,
  ) {
    const { accounts } = this;
    const onIdle = (account: BudgetAccount) => this.goOn(account);
    this.takes = new BudgetTakes({ repository, instances, configChanges, clock, log, onIdle });
    const onTrouble = (error: unknown) => this.takes.report(error);
    this.returns = new BudgetReturns({ repository, instanceId: instances.id, accounts, clock, onIdle, onTrouble });
    this.expired = new ExpiredGrants({ repository, instanceId: instances.id, clock, log, onTrouble });
    this.lastHeartbeatAtMs = clock.monotonicMs();
    this.knownAcquisitions = instances.leaseAcquisitions;
    this.unsubscribe = [
      configChanges.subscribe(BUDGET_GRANTS_TOPIC, (key) => this.recalled(key)),
      instances.onHeartbeat(() => this.onHeartbeat()),
    ];
    metrics.budgetHolds.read = () => accounts.totals.holds;
    metrics.budgetHeld.read = () => accounts.totals.heldNanoUsd;
  }

  onApplicationBootstrap(): void {
    this.timers.push(setInterval(() => void this.sweep(), SWEEP_MS).unref());
    this.timers.push(setInterval(() => void this.expired.expireDue(), EXPIRE_MS).unref());
  }

  /**
   * Holds the maximum that a call uses of a budget, or refuses the call.
   *
   * @param most in units of the budget's measure.
   * @param createdAtMs selects the periods; the same time as in the call's event.
   * @returns synchronously when this instance's grant suffices.
   * @throws app_budget_exhausted, app_rate_limited (tokens, requests), service_unavailable (the state of the budget is unknown).
   * Source: docs/reference/accounting.md#hard-budgets, docs/reference/application-api.md#request-limits,
   * docs/reference/application-api.md#limit-refusals.
   */
  hold(budget: CallBudget, most: number, createdAtMs: number): MaybePromise<BudgetHold> {
    const nowMs = this.clock.monotonicMs();
    if (!this.isLeaseFresh(nowMs)) return this.confirmThenHold(budget, most, createdAtMs);
    return this.holdConfirmed(budget, most, createdAtMs, nowMs);
  }

  /**
   * Holds more for a running call, without waiting.
   *
   * @returns undefined when this instance's grant does not suffice.
   * Source: ADR 0017.
   */
  holdMore(budget: CallBudget, amount: number, createdAtMs: number): BudgetHold | undefined {
    const nowMs = this.clock.monotonicMs();
    if (!this.isLeaseFresh(nowMs)) return undefined;
    const account = this.accounts.of(budget, createdAtMs);
    account.touch(nowMs);
    return account.holdNow(budget, heldFor(amount));
  }

  /**
   * Invalidates the known spending of an application's budgets, here and on other instances, before a further call is
   * admitted. Never rejects; unreachable instances follow within seconds.
   */
  async invalidateSpending(appId: string): Promise<void> {
    try {
      await this.repository.recall(recallKey({ instanceId: '', appId, budget: null }));
    } catch (error) {
      this.takes.report(error);
    }
    await this.invalidate(this.accounts.ofApp(appId));
    if (!this.instances.isAlone) await pause(RECALL_MS);
  }

  /** Deletes the grants of an instance whose events have been recovered. */
  async dropInstanceGrants(instanceId: string): Promise<void> {
    await this.repository.dropInstanceGrants(instanceId);
  }

  /**
   * Returns all grants that are not in use; call it after the last event is stored. A statement that fails, or finds
   * another row than expected because an earlier answer was lost, is repeated a few times. Never rejects.
   */
  async leave(): Promise<void> {
    for (const timer of this.timers) clearInterval(timer);
    for (const end of this.unsubscribe) end();
    await this.returns.giveBack(this.accounts.all(), true);
    for (const pauseMs of LEAVE_PAUSES_MS) {
      if (this.accounts.all().every(({ isBusy, inUse, row }) => !isBusy && (row ?? inUse) === inUse)) return;
      await pause(pauseMs);
      await this.returns.giveBack(this.accounts.all(), true);
    }
  }

  private holdConfirmed(
    budget: CallBudget,
    most: number,
    createdAtMs: number,
    nowMs: number,
  ): MaybePromise<BudgetHold> {
    const account = this.accounts.of(budget, createdAtMs);
    account.touch(nowMs);
    const amount = heldFor(most);
    const hold = account.holdNow(budget, amount);
    if (hold !== undefined) return hold;
    const isSpent = account.spent >= budget.limit && nowMs - account.spentKnownAtMs < SPENT_MS;
    if (isSpent || budget.limit <= 0) throw budgetSpent(budget, account, this.clock.nowMs());
    return this.takes.hold(account, budget, amount);
  }

  /**
   * The last heartbeat is too old, so other instances may have expired the grants; a clock jump can cause the same
   * state. A new heartbeat decides.
   */
  private async confirmThenHold(budget: CallBudget, most: number, createdAtMs: number): Promise<BudgetHold> {
    await Promise.race([this.instances.heartbeat(), pause(CONFIRM_MS)]);
    const nowMs = this.clock.monotonicMs();
    if (!this.isLeaseFresh(nowMs)) throw budgetUnknown('instance_unconfirmed');
    return this.holdConfirmed(budget, most, createdAtMs, nowMs);
  }

  private isLeaseFresh(nowMs: number): boolean {
    return nowMs - this.lastHeartbeatAtMs < FENCE_MS && this.instances.isConfirmed;
  }

  private onHeartbeat(): void {
    const nowMs = this.clock.monotonicMs();
    const { leaseAcquisitions } = this.instances;
    const wasGone = nowMs - this.lastHeartbeatAtMs >= FENCE_MS || leaseAcquisitions !== this.knownAcquisitions;
    if (wasGone) for (const account of this.accounts.all()) account.forfeit();
    this.lastHeartbeatAtMs = nowMs;
    this.knownAcquisitions = leaseAcquisitions;
  }

  private recalled(key: string): void {
    const recall = key === EVERYTHING ? undefined : parseRecall(key);
    if (recall === undefined) {
      void this.invalidate(this.accounts.all());
      return;
    }
    if (recall.instanceId === this.instances.id) return;
    const { appId, budget } = recall;
    if (budget === null) {
      void this.invalidate(this.accounts.ofApp(appId));
      return;
    }
    const account = this.accounts.find({ appId, ...budget });
    if (account !== undefined) void this.invalidate([account]);
  }

  private invalidate(accounts: readonly BudgetAccount[]): Promise<void> {
    for (const account of accounts) account.invalidate();
    return this.returns.giveBack(accounts);
  }

  private goOn(account: BudgetAccount): void {
    if (account.isReturnDeferred) void this.returns.giveBack([account]);
    this.takes.work(account);
  }

  /** When recalls cannot reach this instance, it keeps no unused grants. */
  private async sweep(): Promise<void> {
    const unreachable = !this.configChanges.connected && !this.instances.isAlone;
    if (unreachable) await this.returns.giveBack(this.accounts.all());
    await this.returns.returnIdle();
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
