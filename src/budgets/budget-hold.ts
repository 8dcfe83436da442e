import type { BudgetWindow } from './budget-period.rules.js';

/** Whose a budget is. */
export const BUDGET_SCOPES = ['user', 'group', 'run', 'app'] as const;

export type BudgetScope = (typeof BUDGET_SCOPES)[number];

/** A budget that a call counts against. */
export interface CallBudget {
  readonly organizationId: string;
  readonly appId: string;
  readonly scope: BudgetScope;
  /** The user, `<group>:<value>`, or the run; empty for the whole application. */
  readonly subject: string;
  readonly window: BudgetWindow;
  /** Per period of the window, in whole nano-dollars; 0 refuses every call. */
  readonly budgetNanoUsd: number;
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
  /** Maximum cost of the call, in whole nano-dollars. */
  readonly nanoUsd: number;
  /** The call did not reach a provider: nothing was spent. */
  release(): void;
  /**
   * Settles the hold when the call has ended.
   *
   * @param chargedNanoUsd actual charge; exceeds the hold when the maximum cost was underestimated.
   * @returns the held part of the charge, which leaves the grant when the event is stored.
   */
  settle(chargedNanoUsd: number): number;
  /** The event is stored, and with it the spending. */
  stored(): void;
  /** The event can never be stored: it charges nothing. */
  dropped(): void;
}

/** The account that a hold belongs to; see `BudgetAccount`. */
export interface HoldOwner {
  release(nanoUsd: number): void;
  settle(nanoUsd: number, chargedNanoUsd: number): number;
  stored(covered: number): void;
  dropped(covered: number): void;
}

/** Passes each event of a hold to its account, once. */
export class AccountHold implements BudgetHold {
  #state: 'held' | 'settled' | 'over' = 'held';
  #covered = 0;

  readonly #owner: HoldOwner;

  constructor(
    owner: HoldOwner,
    readonly budget: CallBudget,
    readonly nanoUsd: number,
  ) {
    this.#owner = owner;
  }

  release(): void {
    if (this.#state !== 'held') return;
    this.#state = 'over';
    this.#owner.release(this.nanoUsd);
  }

  settle(chargedNanoUsd: number): number {
    if (this.#state !== 'held') return 0;
    this.#state = 'settled';
    this.#covered = this.#owner.settle(this.nanoUsd, chargedNanoUsd);
    return this.#covered;
  }

  stored(): void {
    if (this.#state !== 'settled') return;
    this.#state = 'over';
    this.#owner.stored(this.#covered);
  }

  dropped(): void {
    if (this.#state !== 'settled') return;
    this.#state = 'over';
    this.#owner.dropped(this.#covered);
  }
}
