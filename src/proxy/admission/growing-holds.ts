import type { BudgetHold, BudgetScope } from '../../budgets/budget-hold.js';

/** Source of further reservations. */
export interface ReservationSource {
  /** Undefined when the lease of this instance does not cover the amount. */
  holdMore(scope: BudgetScope, nanoUsd: number, createdAtMs: number): BudgetHold | undefined;
}

/** Reservations of one request in each of its budgets; they can grow. Source: ADR 0017. */
export class GrowingHolds {
  /** Reservations are only added, never removed. */
  readonly holds: BudgetHold[];
  readonly #scopes: readonly BudgetScope[];

  /** @param createdAtMs determines the UTC month, as for the event of the request. */
  constructor(
    held: readonly BudgetHold[],
    private readonly money: ReservationSource,
    private readonly createdAtMs: number,
  ) {
    this.holds = [...held];
    this.#scopes = held.map(({ scope }) => scope);
  }

  /**
   * Raises the reservation in each budget to an amount. Synchronous; uses local leases only.
   *
   * @returns false when a budget does not cover it; the reservations are then unchanged.
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
