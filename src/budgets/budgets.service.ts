import { Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { Clock } from '../common/clock.js';
import { Log } from '../common/log/log.js';
import type { MaybePromise } from '../common/maybe-promise.js';
import { ConfigChanges } from '../platform/database/config-changes.js';
import { EVERYTHING } from '../platform/database/config-changes.rules.js';
import { InstanceRegistry } from '../platform/instances/instance-registry.js';
import { Metrics } from '../platform/metrics/metrics.js';
import { heldFor } from './budget.rules.js';
import type { BudgetAccount } from './budget-account.js';
import { BudgetAccounts } from './budget-accounts.js';
import type { BudgetHold, BudgetScope } from './budget-hold.js';
import { BudgetLapses } from './budget-lapses.js';
import { parseRecall, recallKey } from './budget-recall.rules.js';
import { budgetSpent, budgetUnknown } from './budget-refusals.js';
import { BudgetReturns } from './budget-returns.js';
import { BudgetTakes } from './budget-takes.js';
import { BUDGET_GRANTS_TOPIC, BudgetsRepository, GRANT_LEASE_MS } from './budgets.repository.js';

/** Interval at which idle grants are returned. */
const SWEEP_MS = 2_500;
/** Interval of the search for grants of dead instances. */
const LAPSES_MS = 30_000;
/** Without a heartbeat for this long, an instance stops using its grants: before other instances expire them. */
const FENCE_MS = GRANT_LEASE_MS - 60_000;
/** Cache duration of an exhausted budget. */
const SPENT_MS = 1_000;
/** Maximum wait of a call for a heartbeat. */
const CONFIRM_MS = 1_000;
/** Time for other instances to return unused grants after a correction of the spending. */
const RECALL_MS = 100;
/** Maximum wait of the shutdown for running statements. */
const LEAVE_MS = 1_000;

/**
 * Hard budgets of applications and their users, by UTC month. Holds come from this instance's grants, in memory;
 * Postgres, which all instances share, issues further grants. Redis is not involved.
 */
@Injectable()
export class Budgets implements OnApplicationBootstrap {
  private readonly accounts = new BudgetAccounts();
  private readonly takes: BudgetTakes;
  private readonly returns: BudgetReturns;
  private readonly lapses: BudgetLapses;
  private readonly timers: NodeJS.Timeout[] = [];
  private readonly unsubscribe: (() => void)[];
  private heardAtMs: number;
  private knownEntries: number;

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
    this.lapses = new BudgetLapses({ repository, instanceId: instances.id, clock, log, onTrouble });
    this.heardAtMs = clock.monotonicMs();
    this.knownEntries = instances.leaseAcquisitions;
    this.unsubscribe = [
      configChanges.subscribe(BUDGET_GRANTS_TOPIC, (key) => this.recalled(key)),
      instances.onHeartbeat(() => this.heard()),
    ];
    metrics.budgetHolds.read = () => accounts.totals.holds;
    metrics.budgetHeld.read = () => accounts.totals.heldNanoUsd;
  }

  onApplicationBootstrap(): void {
    this.timers.push(setInterval(() => void this.sweep(), SWEEP_MS).unref());
    this.timers.push(setInterval(() => void this.lapses.look(), LAPSES_MS).unref());
  }

  /**
   * Holds the maximum cost of a call, or refuses the call.
   *
   * @param maxCostNanoUsd maximum cost in whole nano-dollars.
   * @param createdAtMs selects the UTC month; the same time as in the call's event.
   * @returns synchronously when this instance's grant suffices.
   * @throws app_budget_exhausted, service_unavailable (the state of the budget is unknown).
   * Source: docs/reference/accounting.md#hard-budgets, docs/reference/application-api.md#request-limits,
   * docs/reference/application-api.md#limit-refusals.
   */
  hold(scope: BudgetScope, maxCostNanoUsd: number, createdAtMs: number): MaybePromise<BudgetHold> {
    const nowMs = this.clock.monotonicMs();
    if (!this.isHeard(nowMs)) return this.holdUnheard(scope, maxCostNanoUsd, createdAtMs);
    return this.holdHeard(scope, maxCostNanoUsd, createdAtMs, nowMs);
  }

  /**
   * Holds more for a running call, without waiting.
   *
   * @returns undefined when this instance's grant does not suffice.
   * Source: ADR 0044.
   */
  holdMore(scope: BudgetScope, nanoUsd: number, createdAtMs: number): BudgetHold | undefined {
    const nowMs = this.clock.monotonicMs();
    if (!this.isHeard(nowMs)) return undefined;
    const account = this.accounts.of(scope.organizationId, scope.appId, scope.userId, createdAtMs);
    account.usedAtMs = nowMs;
    if (account.waiting.length > 0 || account.busy) return undefined;
    return account.tryHold(scope, heldFor(nanoUsd));
  }

  /**
   * Invalidates the known spending of an application's budgets in a month, here and on other instances, before a
   * further call is admitted. Never rejects; unreachable instances follow within seconds.
   *
   * @param month UTC, `YYYY-MM`.
   */
  async forgetSpending(appId: string, month: string): Promise<void> {
    const day = `${month}-01`;
    try {
      await this.repository.recall(recallKey({ instanceId: '', appId, userId: null, month: day }));
    } catch (error) {
      this.takes.report(error);
    }
    await this.forgetKnown(this.accounts.listOf(appId, null, day));
    if (!this.instances.isAlone) await pause(RECALL_MS);
  }

  /** Deletes the grants of an instance whose events have been recovered. */
  async forgetInstance(instanceId: string): Promise<void> {
    await this.repository.forgetInstance(instanceId);
  }

  /** Returns all grants that are not in use; call it after the last event is stored. Never rejects. */
  async leave(): Promise<void> {
    for (const timer of this.timers) clearInterval(timer);
    for (const end of this.unsubscribe) end();
    for (let waitedMs = 0; waitedMs < LEAVE_MS && this.accounts.all().some(({ busy }) => busy); waitedMs += 10) {
      await pause(10);
    }
    await this.returns.giveBack(this.accounts.all(), true);
  }

  private holdHeard(
    scope: BudgetScope,
    maxCostNanoUsd: number,
    createdAtMs: number,
    nowMs: number,
  ): MaybePromise<BudgetHold> {
    const account = this.accounts.of(scope.organizationId, scope.appId, scope.userId, createdAtMs);
    account.usedAtMs = nowMs;
    const nanoUsd = heldFor(maxCostNanoUsd);
    // A running statement may reduce the grant below the local figure.
    if (account.waiting.length === 0 && !account.busy) {
      const hold = account.tryHold(scope, nanoUsd);
      if (hold !== undefined) return hold;
    }
    const isSpent = account.spent >= scope.budgetNanoUsd && nowMs - account.spentKnownAtMs < SPENT_MS;
    if (isSpent || scope.budgetNanoUsd <= 0) throw budgetSpent(scope, account, this.clock.nowMs());
    return this.takes.hold(account, scope, nanoUsd);
  }

  /**
   * The last heartbeat is too old, so other instances may have expired the grants; a clock jump can cause the same
   * state. A new heartbeat decides.
   */
  private async holdUnheard(scope: BudgetScope, maxCostNanoUsd: number, createdAtMs: number): Promise<BudgetHold> {
    await Promise.race([this.instances.heartbeat(), pause(CONFIRM_MS)]);
    const nowMs = this.clock.monotonicMs();
    if (!this.isHeard(nowMs)) throw budgetUnknown('instance_unconfirmed');
    return this.holdHeard(scope, maxCostNanoUsd, createdAtMs, nowMs);
  }

  private isHeard(nowMs: number): boolean {
    return nowMs - this.heardAtMs < FENCE_MS && this.instances.isConfirmed;
  }

  private heard(): void {
    const nowMs = this.clock.monotonicMs();
    const { leaseAcquisitions } = this.instances;
    const wasGone = nowMs - this.heardAtMs >= FENCE_MS || leaseAcquisitions !== this.knownEntries;
    if (wasGone) for (const account of this.accounts.all()) account.forfeit();
    this.heardAtMs = nowMs;
    this.knownEntries = leaseAcquisitions;
  }

  private recalled(key: string): void {
    const recall = key === EVERYTHING ? undefined : parseRecall(key);
    if (recall === undefined) {
      void this.forgetKnown(this.accounts.all());
      return;
    }
    const { instanceId, appId, userId, month } = recall;
    const accounts = this.accounts.listOf(appId, userId, month);
    if (instanceId !== this.instances.id) void this.forgetKnown(accounts);
  }

  private forgetKnown(accounts: readonly BudgetAccount[]): Promise<void> {
    for (const account of accounts) account.doubt();
    return this.returns.giveBack(accounts);
  }

  private goOn(account: BudgetAccount): void {
    if (account.returnWanted) void this.returns.giveBack([account]);
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
