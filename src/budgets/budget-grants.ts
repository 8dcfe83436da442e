import type { BudgetSteps } from './budget.rules.js';
import type { BudgetScope, CallBudget } from './budget-hold.js';
import type { BudgetWindow } from './budget-period.rules.js';

/** Key of a budget row. */
export interface BudgetKey {
  readonly appId: string;
  readonly scope: BudgetScope;
  /** As that of {@link CallBudget}. */
  readonly subject: string;
  readonly window: BudgetWindow;
  /** As that of `BudgetPeriod.start`. */
  readonly periodStart: string;
}

/** Requests a grant. Amounts are in units of the window's measure. */
export interface BudgetTake extends BudgetKey {
  /** Expected amount of this instance's row. */
  readonly row: number;
  /** The part of the row in use. */
  readonly inUse: number;
  readonly steps: BudgetSteps;
  readonly budget: number;
  /** From `grantParts`. */
  readonly parts: number;
}

/** Result of a take. */
export interface BudgetTaken {
  readonly spent: number;
  /** The estimated part of `spent`. */
  readonly estimated: number;
  /** Granted to other instances. */
  readonly elsewhere: number;
  /** Previous amount of this instance's row. */
  readonly row: number;
  /** New amount; absent when the previous one was unexpected and nothing changed. */
  readonly target: number | undefined;
}

/** Requests the first grant of a budget, for which this instance has no row, as far as known. */
export interface BudgetFirstTake extends Omit<BudgetTake, 'row'> {
  readonly organizationId: string;
}

/** Reduces a row to the amount in use. */
export interface BudgetReturn extends BudgetKey {
  /** Expected amount; the row is not changed when the amount differs. */
  readonly row: number;
  readonly inUse: number;
  /** Delete the row when nothing is in use. */
  readonly remove: boolean;
}

/** An instance with grants and an expired lease. */
export interface LapsedInstance {
  readonly id: string;
  /** Not registered, so the time of its death is unknown. */
  readonly isUnknown: boolean;
}

/** Grants deleted by `dropInstanceGrants`. */
export interface DroppedGrants {
  readonly grants: number;
  readonly nanoUsd: number;
}
