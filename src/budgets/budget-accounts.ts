import { type BudgetMonth, budgetMonthOf } from './budget.rules.js';
import { BudgetAccount, type BudgetTotals } from './budget-account.js';

/** User id of an account of a whole application. */
const NO_USER = '';

interface MonthAccounts {
  readonly month: BudgetMonth;
  readonly apps: Map<string, Map<string, BudgetAccount>>;
}

/** Budget accounts by month, application and user; the lookup does not allocate. */
export class BudgetAccounts {
  readonly totals: BudgetTotals = { holds: 0, heldNanoUsd: 0 };
  private months: MonthAccounts[] = [];

  /** @param atMs selects the month; milliseconds since the Unix epoch. */
  of(organizationId: string, appId: string, userId: string | null, atMs: number): BudgetAccount {
    const { month, apps } = this.monthAt(atMs);
    let users = apps.get(appId);
    if (users === undefined) {
      users = new Map();
      apps.set(appId, users);
    }
    const user = userId ?? NO_USER;
    let account = users.get(user);
    if (account === undefined) {
      account = new BudgetAccount(appId, user, organizationId, month, this.totals);
      users.set(user, account);
    }
    return account;
  }

  /** Accounts of an application in a month. @param userId one user; null: the application and all its users. */
  listOf(appId: string, userId: string | null, month: string): BudgetAccount[] {
    const users = this.months.find((one) => one.month.day === month)?.apps.get(appId);
    if (users === undefined) return [];
    if (userId === null) return [...users.values()];
    const account = users.get(userId);
    return account === undefined ? [] : [account];
  }

  all(): BudgetAccount[] {
    return this.months.flatMap(({ apps }) => [...apps.values()].flatMap((users) => [...users.values()]));
  }

  /** Removes an account without a row and with nothing in use. */
  drop({ appId, userId, month }: BudgetAccount): void {
    const accounts = this.months.find((one) => one.month === month);
    const users = accounts?.apps.get(appId);
    users?.delete(userId);
    if (users?.size === 0) accounts?.apps.delete(appId);
    if (accounts?.apps.size === 0) this.months = this.months.filter((one) => one !== accounts);
  }

  private monthAt(atMs: number): MonthAccounts {
    for (const one of this.months) if (atMs >= one.month.startMs && atMs < one.month.endMs) return one;
    const begun: MonthAccounts = { month: budgetMonthOf(atMs), apps: new Map() };
    this.months = [begun, ...this.months];
    return begun;
  }
}
