import type { Clock } from '../common/clock.js';
import type { BudgetAccount } from './budget-account.js';
import type { BudgetAccounts } from './budget-accounts.js';
import type { BudgetsRepository } from './budgets.repository.js';

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
    const idle = accounts.all().filter((account) => account.usedAtMs <= before && account.waiting.length === 0);
    return this.giveBack(idle, true);
  }

  /**
   * Reduces the grants of these accounts to the amounts in use; for a busy account, when its statement has ended. Never
   * rejects.
   *
   * @param forget removes accounts with nothing in use.
   */
  async giveBack(accounts: readonly BudgetAccount[], invalidate = false): Promise<void> {
    const ready: BudgetAccount[] = [];
    for (const account of accounts) {
      account.returnWanted = account.busy;
      if (account.busy) continue;
      const isOver = invalidate && account.inUse === 0;
      if (account.hasRow && (isOver || account.row !== account.inUse)) ready.push(account);
      else if (invalidate && account.isQuiet && !account.hasRow) this.options.accounts.drop(account);
    }
    for (let at = 0; at < ready.length; at += AT_ONCE) await this.write(ready.slice(at, at + AT_ONCE), invalidate);
  }

  private async write(chosen: readonly BudgetAccount[], invalidate: boolean): Promise<void> {
    const { repository, instanceId, accounts, onTrouble, onIdle } = this.options;
    const returns = chosen.map((account) => {
      account.begin();
      const { appId, userId, month, row, inUse } = account;
      const remove = invalidate && inUse === 0 && account.waiting.length === 0;
      return { account, appId, userId, month: month.day, row, inUse: account.keepInUse(), remove };
    });
    try {
      const found = await repository.giveBack(
        instanceId,
        returns.map(({ account: _, ...written }) => written),
      );
      returns.forEach(({ account, row, inUse, remove }, at) => {
        if (found[at] === row) this.returned(account, inUse, remove);
        else account.found(found[at]);
      });
    } catch (error) {
      onTrouble(error);
    } finally {
      for (const { account } of returns) {
        account.busy = false;
        onIdle(account);
        if (invalidate && account.isQuiet && !account.hasRow) accounts.drop(account);
      }
    }
  }

  private returned(account: BudgetAccount, inUse: number, removed: boolean): void {
    account.wrote(inUse);
    if (removed) account.found(undefined);
  }
}
