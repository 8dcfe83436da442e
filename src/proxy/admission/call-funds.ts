import type { BudgetHold, BudgetScope } from '../../budgets/budget-hold.js';

/** What is asked for more money. */
export interface MoreMoney {
  /** Undefined where what this instance has been granted does not do. */
  holdMore(scope: BudgetScope, nanoUsd: number, createdAtMs: number): BudgetHold | undefined;
}

/** The money one request holds, of each budget it counts against, and may come to need more of. Source: ADR 0044. */
export class CallFunds {
  /** Grows as more is held; never shrinks. */
  readonly holds: BudgetHold[];
  readonly #scopes: readonly BudgetScope[];

  /** @param createdAtMs decides the UTC month, as it does for the request's event. */
  constructor(
    held: readonly BudgetHold[],
    private readonly money: MoreMoney,
    private readonly createdAtMs: number,
  ) {
    this.holds = [...held];
    this.#scopes = held.map(({ scope }) => scope);
  }

  /**
   * Sees to it that so much is held of each budget. Asks nobody else, so that nobody waits.
   *
   * @returns false where that cannot be: what is held is then what it was.
   */
  cover(nanoUsd: number): boolean {
    const added: BudgetHold[] = [];
    for (const scope of this.#scopes) {
      const missing = nanoUsd - this.heldOf(scope);
      if (missing <= 0) continue;
      const hold = this.money.holdMore(scope, missing, this.createdAtMs);
      if (hold === undefined) {
        for (const one of added) one.release();
        return false;
      }
      added.push(hold);
    }
    this.holds.push(...added);
    return true;
  }

  private heldOf(scope: BudgetScope): number {
    return this.holds.reduce((sum, hold) => (hold.scope.userId === scope.userId ? sum + hold.nanoUsd : sum), 0);
  }
}
