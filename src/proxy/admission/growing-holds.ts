import { isSameBudget } from '../../budgets/budget.rules.js';
import type { BudgetHold, CallBudget } from '../../budgets/budget-hold.js';
import { WINDOW_KINDS } from '../../budgets/budget-period.rules.js';

/** Source of further reservations. */
export interface ReservationSource {
  /** Undefined when the lease of this instance does not cover the amount. */
  holdMore(budget: CallBudget, amount: number, createdAtMs: number): BudgetHold | undefined;
}

/** Reservations of one request in each of its budgets; those of money can grow. Source: ADR 0017. */
export class GrowingHolds {
  /** Reservations are only added, never removed. */
  readonly holds: BudgetHold[];
  readonly #budgets: readonly CallBudget[];

  /** @param createdAtMs determines the periods, as for the event of the request. */
  constructor(
    held: readonly BudgetHold[],
    private readonly money: ReservationSource,
    private readonly createdAtMs: number,
  ) {
    this.holds = [...held];
    this.#budgets = held.map(({ budget }) => budget).filter(({ window }) => WINDOW_KINDS[window].measure === 'money');
  }

  /**
   * Raises the reservation in each budget of money to an amount. Synchronous; uses local leases only.
   *
   * @returns false when a budget does not cover it; the reservations are then unchanged.
   */
  cover(amount: number): boolean {
    const added: BudgetHold[] = [];
    for (const budget of this.#budgets) {
      const missing = amount - this.heldOf(budget);
      if (missing <= 0) continue;
      const hold = this.money.holdMore(budget, missing, this.createdAtMs);
      if (hold === undefined) {
        for (const one of added) one.release();
        return false;
      }
      added.push(hold);
    }
    this.holds.push(...added);
    return true;
  }

  private heldOf(budget: CallBudget): number {
    return this.holds.reduce((sum, hold) => (isSameBudget(hold.budget, budget) ? sum + hold.amount : sum), 0);
  }
}
