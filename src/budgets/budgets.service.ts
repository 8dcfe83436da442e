import { Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { Clock } from '../common/clock.js';
import { Log } from '../common/log/log.js';
import type { Ready } from '../common/when-ready.js';
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

/** How often idle money is given back. */
const SWEEP_MS = 2_500;
/** How often grants of instances that are gone are looked for. */
const LAPSES_MS = 30_000;
/** An instance that others have not heard for so long counts on no grant any more: before they divide it. */
const FENCE_MS = GRANT_LEASE_MS - 60_000;
/** So long it is believed that a budget is spent. */
const SPENT_MS = 1_000;
/** Longest a call waits for the others to hear of this instance. */
const CONFIRM_MS = 1_000;
/** What others have, after a correction of what was spent, to give back what they do not use. */
const RECALL_MS = 100;
/** Longest a stop waits for statements that are under way. */
const LEAVE_MS = 1_000;

/**
 * Hard budgets of applications and their users, by UTC month. Money is held by what this instance has been granted, in
 * memory; more is granted by Postgres, where all instances meet. Redis has no part in it.
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
    this.knownEntries = instances.timesEntered;
    this.unsubscribe = [
      configChanges.subscribe(BUDGET_GRANTS_TOPIC, (key) => this.recalled(key)),
      instances.onBeat(() => this.heard()),
    ];
    metrics.budgetHolds.read = () => accounts.totals.holds;
    metrics.budgetHeld.read = () => accounts.totals.heldNanoUsd;
  }

  onApplicationBootstrap(): void {
    this.timers.push(setInterval(() => void this.sweep(), SWEEP_MS).unref());
    this.timers.push(setInterval(() => void this.lapses.look(), LAPSES_MS).unref());
  }

  /**
   * Holds the worst case of a call, or refuses it.
   *
   * @param worstNanoUsd what the call may cost at most, in whole nano-dollars.
   * @param createdAtMs decides the UTC month, as it does for the call's event.
   * @returns at once where this instance has been granted enough.
   * @throws app_budget_exhausted, service_unavailable (the budget cannot be asked for now).
   * Source: docs/reference/accounting.md#hard-budgets, docs/reference/application-api.md#request-limits,
   * docs/reference/application-api.md#limit-refusals.
   */
  hold(scope: BudgetScope, worstNanoUsd: number, createdAtMs: number): Ready<BudgetHold> {
    const nowMs = this.clock.monotonicMs();
    if (!this.isHeard(nowMs)) return this.holdUnheard(scope, worstNanoUsd, createdAtMs);
    return this.holdHeard(scope, worstNanoUsd, createdAtMs, nowMs);
  }

  /**
   * Holds more for a call that runs, where this instance has been granted enough: nobody waits for it.
   *
   * @returns undefined where it has not. Source: ADR 0044.
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
   * What was spent of an application's budgets in a month was corrected: what is known of it is forgotten, here and
   * elsewhere, before anything more is admitted. Never rejects; others that cannot be reached forget within seconds.
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

  /** What an instance had been granted whose events have been recovered is given back. */
  async forgetInstance(instanceId: string): Promise<void> {
    await this.repository.forgetInstance(instanceId);
  }

  /** Gives back everything that is not in use; to be called after the last event is stored. Never rejects. */
  async leave(): Promise<void> {
    for (const timer of this.timers) clearInterval(timer);
    for (const end of this.unsubscribe) end();
    for (let waitedMs = 0; waitedMs < LEAVE_MS && this.accounts.all().some(({ busy }) => busy); waitedMs += 10) {
      await pause(10);
    }
    await this.returns.giveBack(this.accounts.all(), true);
  }

  private holdHeard(scope: BudgetScope, worstNanoUsd: number, createdAtMs: number, nowMs: number): Ready<BudgetHold> {
    const account = this.accounts.of(scope.organizationId, scope.appId, scope.userId, createdAtMs);
    account.usedAtMs = nowMs;
    const nanoUsd = heldFor(worstNanoUsd);
    // A statement that is under way may leave this instance less than it still seems to have.
    if (account.waiting.length === 0 && !account.busy) {
      const hold = account.tryHold(scope, nanoUsd);
      if (hold !== undefined) return hold;
    }
    const isSpent = account.spent >= scope.budgetNanoUsd && nowMs - account.spentKnownAtMs < SPENT_MS;
    if (isSpent || scope.budgetNanoUsd <= 0) throw budgetSpent(scope, account, this.clock.nowMs());
    return this.takes.hold(account, scope, nanoUsd);
  }

  /** Others may take this instance for dead. Perhaps it only seems so, because a clock was moved: it gives a sign of life. */
  private async holdUnheard(scope: BudgetScope, worstNanoUsd: number, createdAtMs: number): Promise<BudgetHold> {
    await Promise.race([this.instances.beat(), pause(CONFIRM_MS)]);
    const nowMs = this.clock.monotonicMs();
    if (!this.isHeard(nowMs)) throw budgetUnknown('instance_unconfirmed');
    return this.holdHeard(scope, worstNanoUsd, createdAtMs, nowMs);
  }

  private isHeard(nowMs: number): boolean {
    return nowMs - this.heardAtMs < FENCE_MS && this.instances.isConfirmed;
  }

  private heard(): void {
    const nowMs = this.clock.monotonicMs();
    const { timesEntered } = this.instances;
    const wasGone = nowMs - this.heardAtMs >= FENCE_MS || timesEntered !== this.knownEntries;
    if (wasGone) for (const account of this.accounts.all()) account.forfeit();
    this.heardAtMs = nowMs;
    this.knownEntries = timesEntered;
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

  /** Where nobody could ask for it, nothing is kept that is not in use. */
  private async sweep(): Promise<void> {
    const unreachable = !this.configChanges.connected && !this.instances.isAlone;
    if (unreachable) await this.returns.giveBack(this.accounts.all());
    await this.returns.returnIdle();
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
