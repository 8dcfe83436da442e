import type { BudgetHold, BudgetScope, CallBudget } from '../../../src/budgets/budget-hold.js';
import { GatewayError } from '../../../src/common/errors/gateway-error.js';
import type { MaybePromise } from '../../../src/common/maybe-promise.js';

const BUDGET: CallBudget = {
  ...{ organizationId: 'org-1', appId: 'notes-abc123', scope: 'app', subject: '', window: 'month', limit: 1 },
};

/** One hold of an amount, and how it ended, in order; a second ending would be told, too. */
export function heldBy(amount: number, budget = BUDGET): { holds: readonly BudgetHold[]; ends: string[] } {
  const ends: string[] = [];
  const hold: BudgetHold = {
    budget,
    amount,
    release: () => void ends.push(`released ${amount}`),
    settle: (chargedNanoUsd) => {
      ends.push(`settled ${chargedNanoUsd}`);
      return Math.min(amount, chargedNanoUsd);
    },
    stored: () => {},
    dropped: () => {},
  };
  return { holds: [hold], ends };
}

/** Fake budgets: they admit or refuse as told, and record the outcome of their holds. */
export class CountedBudgets {
  /** Holds and returns, in order. */
  readonly told: string[] = [];
  /** The owner of the exhausted budget: `user` or `app`. */
  readonly exhausted = new Set<BudgetScope>();
  /** Whether the answer has to be waited for. */
  isSlow = false;

  hold(budget: CallBudget, amount: number): MaybePromise<BudgetHold> {
    const answer = () => this.answer(budget, amount);
    return this.isSlow ? Promise.resolve().then(answer) : answer();
  }

  private answer(budget: CallBudget, amount: number): BudgetHold {
    const name = budget.scope;
    if (this.exhausted.has(name)) throw new GatewayError('app_budget_exhausted', { data: { scope: name } });
    this.told.push(`hold ${name} ${amount}`);
    const released = () => void this.told.push(`release ${name}`);
    return { budget, amount, release: released, settle: () => 0, stored() {}, dropped() {} };
  }
}
