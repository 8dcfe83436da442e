import type { BudgetWindow } from './budget-period.rules.js';

/** The owner of a budget. */
export const BUDGET_SCOPES = ['user', 'group', 'run', 'app'] as const;

export type BudgetScope = (typeof BUDGET_SCOPES)[number];

/** A budget that a call counts against. */
export interface CallBudget {
  readonly organizationId: string;
  readonly appId: string;
  readonly scope: BudgetScope;
  /** The user, `<group>:<value>`, or the run (see `BudgetRuns`); empty for the whole application. */
  readonly subject: string;
  readonly window: BudgetWindow;
  /** Per period, in units of the window's measure; 0 refuses every call. */
  readonly limit: number;
}

/**
 * An amount of one budget that is reserved for one call, from its admission until its cost is stored. Exactly one of
 * `release` and `settle` is called, once; after `settle` exactly one of `stored` and `dropped`. Further calls are
 * no-ops.
 *
 * Source: docs/reference/accounting.md#hard-budgets.
 */
export interface BudgetHold {
  readonly budget: CallBudget;
  /** Maximum that the call uses, in units of the window's measure. */
  readonly amount: number;
  /** No event will be recorded: nothing was spent. */
  release(): void;
  /**
   * Settles the hold when the call has ended.
   *
   * @param charged actual charge; exceeds the hold when the maximum was underestimated.
   * @returns the held part of the charge, which leaves the grant when the event is stored.
   */
  settle(charged: number): number;
  /** The event is stored, and with it the spending. */
  stored(): void;
  /** The event can never be stored: it charges nothing. */
  dropped(): void;
}

/** The account that a hold belongs to; see `BudgetAccount`. */
export interface HoldOwner {
  release(amount: number): void;
  settle(amount: number, charged: number): number;
  /** @param excess the part of the charge that was not held. */
  stored(covered: number, excess: number): void;
  dropped(covered: number, excess: number): void;
}

/** Passes each event of a hold to its account, once. */
export class AccountHold implements BudgetHold {
  #state: 'held' | 'settled' | 'over' = 'held';
  #covered = 0;
  #excess = 0;

  readonly #owner: HoldOwner;

  constructor(
    owner: HoldOwner,
    readonly budget: CallBudget,
    readonly amount: number,
  ) {
    this.#owner = owner;
  }

  release(): void {
    if (this.#state !== 'held') return;
    this.#state = 'over';
    this.#owner.release(this.amount);
  }

  settle(charged: number): number {
    if (this.#state !== 'held') return 0;
    this.#state = 'settled';
    this.#covered = this.#owner.settle(this.amount, charged);
    this.#excess = charged - this.#covered;
    return this.#covered;
  }

  stored(): void {
    if (this.#state !== 'settled') return;
    this.#state = 'over';
    this.#owner.stored(this.#covered, this.#excess);
  }

  dropped(): void {
    if (this.#state !== 'settled') return;
    this.#state = 'over';
    this.#owner.dropped(this.#covered, this.#excess);
  }
}
