import { BudgetAccount, type BudgetTotals } from './budget-account.js';
import type { BudgetKey } from './budget-grants.js';
import type { BudgetScope, CallBudget } from './budget-hold.js';
import { type BudgetPeriod, type BudgetWindow, budgetPeriodOf, WINDOW_KINDS } from './budget-period.rules.js';

type AccountsOfApps = Map<string, Map<string, BudgetAccount>>;

interface PeriodAccounts {
  readonly period: BudgetPeriod;
  readonly scopes: Readonly<Record<BudgetScope, AccountsOfApps>>;
}

/** Budget accounts by period, scope, application and subject; the lookup does not allocate. */
export class BudgetAccounts {
  /** Of budgets of money. */
  readonly totals: BudgetTotals = { holds: 0, heldNanoUsd: 0 };
  private readonly otherTotals: BudgetTotals = { holds: 0, heldNanoUsd: 0 };
  private periods: PeriodAccounts[] = [];

  /** @param atMs selects the period; milliseconds since the Unix epoch. */
  of(budget: CallBudget, atMs: number): BudgetAccount {
    const { period, scopes } = this.periodAt(budget.window, atMs);
    const { appId, scope, subject } = budget;
    let subjects = scopes[scope].get(appId);
    if (subjects === undefined) {
      subjects = new Map();
      scopes[scope].set(appId, subjects);
    }
    let account = subjects.get(subject);
    if (account === undefined) {
      const isMoney = WINDOW_KINDS[budget.window].measure === 'money';
      account = new BudgetAccount(budget, period, isMoney ? this.totals : this.otherTotals);
      subjects.set(subject, account);
    }
    return account;
  }

  find({ appId, scope, subject, window, periodStart }: BudgetKey): BudgetAccount | undefined {
    const kept = this.periods.find(({ period }) => period.window === window && period.start === periodStart);
    return kept?.scopes[scope].get(appId)?.get(subject);
  }

  ofApp(appId: string): BudgetAccount[] {
    return this.periods.flatMap(({ scopes }) =>
      Object.values(scopes).flatMap((apps) => [...(apps.get(appId)?.values() ?? [])]),
    );
  }

  all(): BudgetAccount[] {
    return this.periods.flatMap(({ scopes }) =>
      Object.values(scopes).flatMap((apps) => [...apps.values()].flatMap((subjects) => [...subjects.values()])),
    );
  }

  /** Removes an account without a row and with nothing in use. */
  drop({ key: { appId, scope, subject }, period }: BudgetAccount): void {
    const kept = this.periods.find((one) => one.period === period);
    const apps = kept?.scopes[scope];
    const subjects = apps?.get(appId);
    subjects?.delete(subject);
    if (subjects?.size === 0) apps?.delete(appId);
    if (kept !== undefined && Object.values(kept.scopes).every(({ size }) => size === 0))
      this.periods = this.periods.filter((one) => one !== kept);
  }

  private periodAt(window: BudgetWindow, atMs: number): PeriodAccounts {
    for (const one of this.periods) {
      const { period } = one;
      if (period.window === window && atMs >= period.startMs && atMs < period.endMs) return one;
    }
    const begun: PeriodAccounts = { period: budgetPeriodOf(window, atMs), scopes: newScopes() };
    this.periods = [begun, ...this.periods];
    return begun;
  }
}

function newScopes(): Readonly<Record<BudgetScope, AccountsOfApps>> {
  return { user: new Map(), group: new Map(), run: new Map(), app: new Map() };
}
