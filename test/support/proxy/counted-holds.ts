import type { BudgetHold, BudgetScope } from '../../../src/budgets/budget-hold.js';
import { GatewayError } from '../../../src/common/errors/gateway-error.js';
import type { MaybePromise } from '../../../src/common/maybe-promise.js';

const SCOPE: BudgetScope = { organizationId: 'org-1', appId: 'notes-abc123', userId: null, budgetNanoUsd: 1 };

/** One hold of an amount, and how it ended, in order; a second ending would be told, too. */
export function heldBy(nanoUsd: number, scope = SCOPE): { holds: readonly BudgetHold[]; ends: string[] } {
  const ends: string[] = [];
  const hold: BudgetHold = {
    scope,
    nanoUsd,
    release: () => void ends.push(`released ${nanoUsd}`),
    settle: (chargedNanoUsd) => {
      ends.push(`settled ${chargedNanoUsd}`);
      return Math.min(nanoUsd, chargedNanoUsd);
    },
    stored: () => {},
    dropped: () => {},
  };
  return { holds: [hold], ends };
}

/** Budgets without money: they say yes or no as they are told, and write down what becomes of what they gave. */
export class CountedBudgets {
  /** What was held and given back, in order. */
  readonly told: string[] = [];
  /** Whose budget is used up: `user` or `app`. */
  readonly exhausted = new Set<'user' | 'app'>();
  /** Whether the answer has to be waited for. */
  isSlow = false;

  hold(scope: BudgetScope, nanoUsd: number): MaybePromise<BudgetHold> {
    const answer = () => this.answer(scope, nanoUsd);
    return this.isSlow ? Promise.resolve().then(answer) : answer();
  }

  private answer(scope: BudgetScope, nanoUsd: number): BudgetHold {
    const name = scope.userId === null ? 'app' : 'user';
    if (this.exhausted.has(name)) throw new GatewayError('app_budget_exhausted', { data: { scope: name } });
    this.told.push(`hold ${name} ${nanoUsd}`);
    const released = () => void this.told.push(`release ${name}`);
    return { scope, nanoUsd, release: released, settle: () => 0, stored() {}, dropped() {} };
  }
}
