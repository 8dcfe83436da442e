import type { Clock } from '../common/clock.js';
import type { Log } from '../common/log/log.js';
import type { BudgetAccount } from './budget-account.js';
import type { BudgetAccounts } from './budget-accounts.js';
import { type BudgetsRepository, GRANT_LEASE_MS } from './budgets.repository.js';

/** Maximum accounts per statement. */
const AT_ONCE = 500;
/** Unused grants are returned after this idle time. */
const IDLE_MS = 10_000;

export interface BudgetReturnsOptions {
  readonly repository: BudgetsRepository;
  readonly instanceId: string;
  readonly accounts: BudgetAccounts;
  readonly clock: Clock;
  /** Called when a statement about an account has ended. */
  readonly onIdle: (account: BudgetAccount) => void;
  readonly onTrouble: (error: unknown) => void;
}

/** Returns unused grants of this instance. */
export class BudgetReturns {
  constructor(private readonly options: BudgetReturnsOptions) {}

  /** Returns the grants of idle accounts and removes idle accounts with nothing in use. Never rejects. */
  returnIdle(): Promise<void> {
    const { accounts, clock } = this.options;
    const before = clock.monotonicMs() - IDLE_MS;
    const idle = accounts.all().filter((account) => account.usedAtMs <= before && account.queue.length === 0);
    return this.giveBack(idle, true);
  }

  /**
   * Reduces the grants of these accounts to the amounts in use; for a busy account, when its statement has ended. Never
   * rejects.
   *
   * @param forget removes accounts with nothing in use.
   */
  async giveBack(accounts: readonly BudgetAccount[], forget = false): Promise<void> {
    const ready: BudgetAccount[] = [];
    for (const account of accounts) {
      if (!account.mayReturn()) continue;
      const { row, inUse } = account;
      if (row !== undefined && ((forget && inUse === 0) || row !== inUse)) ready.push(account);
      else if (forget && account.isUnused) this.options.accounts.drop(account);
    }
    for (let at = 0; at < ready.length; at += AT_ONCE) await this.write(ready.slice(at, at + AT_ONCE), forget);
  }

  private async write(chosen: readonly BudgetAccount[], forget: boolean): Promise<void> {
    const { repository, instanceId, accounts, onTrouble, onIdle } = this.options;
    const returns = chosen.map((account) => {
      const { row, inUse } = account.begin();
      const remove = forget && inUse === 0 && account.queue.length === 0;
      return { account, ...account.key, row, inUse: account.keepInUse(), remove };
    });
    try {
      const found = await repository.giveBack(
        instanceId,
        returns.map(({ account: _, ...written }) => written),
      );
      returns.forEach(({ account, row, inUse, remove }, at) => {
        const had = found[at];
        if (had === row) account.returned(inUse, remove);
        else if (had === undefined) account.rowLost();
        else account.rowFound(had);
      });
    } catch (error) {
      onTrouble(error);
    } finally {
      for (const { account } of returns) {
        account.end();
        onIdle(account);
        if (forget && account.isUnused) accounts.drop(account);
      }
    }
  }
}

export interface ExpiredGrantsOptions {
  readonly repository: BudgetsRepository;
  readonly instanceId: string;
  readonly clock: Clock;
  readonly log: Log;
  readonly onTrouble: (error: unknown) => void;
}

/**
 * Expires the grants of dead instances that no process recovers. An instance without a registry row gets one lease from
 * the moment its absence is noticed.
 */
export class ExpiredGrants {
  private unknownSinceMs = new Map<string, number>();

  constructor(private readonly options: ExpiredGrantsOptions) {}

  /** Expires grants that are due. Never rejects. */
  async expireDue(): Promise<void> {
    const { repository, instanceId, clock, onTrouble } = this.options;
    try {
      const lapsed = (await repository.listLapsed()).filter(({ id }) => id !== instanceId);
      const nowMs = clock.monotonicMs();
      const unknown = lapsed.filter(({ isUnknown }) => isUnknown);
      this.unknownSinceMs = new Map(unknown.map(({ id }) => [id, this.unknownSinceMs.get(id) ?? nowMs]));
      for (const { id } of lapsed) {
        if (nowMs - (this.unknownSinceMs.get(id) ?? Number.NEGATIVE_INFINITY) >= GRANT_LEASE_MS) await this.expire(id);
      }
    } catch (error) {
      onTrouble(error);
    }
  }

  private async expire(instance: string): Promise<void> {
    const { repository, log } = this.options;
    const { grants, nanoUsd } = await repository.dropInstanceGrants(instance);
    if (grants > 0) log.event('budget_grants_expired', { instance, grants, nanoUsd });
  }
}
