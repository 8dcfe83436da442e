/** Whose money a budget is about. */
export interface BudgetScope {
  readonly organizationId: string;
  readonly appId: string;
  /** Null: the application as a whole. */
  readonly userId: string | null;
  /** Of one UTC month, in whole nano-dollars; 0 closes the door. */
  readonly budgetNanoUsd: number;
}

/**
 * Money of one budget that one call holds, from its admission until its cost is stored. Exactly one of `release` and
 * `settle` is called, once; after `settle` exactly one of `stored` and `dropped`. Calls beyond that change nothing.
 *
 * Source: docs/reference/accounting.md#hard-budgets.
 */
export interface BudgetHold {
  readonly scope: BudgetScope;
  /** The worst case of the call, in whole nano-dollars. */
  readonly nanoUsd: number;
  /** The call never reached a provider: nothing was spent. */
  release(): void;
  /**
   * The call has ended.
   *
   * @param chargedNanoUsd what it counts; may be more than was held, when the worst case was guessed too low.
   * @returns what of that was held and leaves the grant of this instance when the event is stored.
   */
  settle(chargedNanoUsd: number): number;
  /** Its event is stored, and with it the spending. */
  stored(): void;
  /** Its event can never be stored: it counts nothing. */
  dropped(): void;
}
