import { wholeSecondsUntil } from '../common/clock.js';
import type { CallBudget } from './budget-hold.js';
import { type BudgetMeasure, type BudgetPeriod, WINDOW_KINDS } from './budget-period.rules.js';

const MS_PER_SECOND = 1000;
const MOST_HELD_RETRY_SECONDS = 10;
/** Number of parts of the remainder, of which an instance takes one beyond its needs, when it is alone. */
const PARTS_ALONE = 2;
/** The same number per live instance. */
const PARTS_AMONG_SEVERAL = 4;
/** Far above the cost of any call in nano-dollars, and its tokens; keeps sums of many holds exact. */
const MOST_HELD = 1e14;

/** Cumulative needs of calls that wait for one budget, in order: before each call, and including it. */
export interface BudgetSteps {
  readonly before: readonly number[];
  readonly upTo: readonly number[];
}

/** What a call uses of its budgets, by measure: whole nano-dollars, tokens and requests. */
export type BudgetAmounts = Readonly<Record<BudgetMeasure, number>>;

/**
 * Amount to hold for a call, at least 1: a free call is also refused once its budget is exhausted.
 *
 * @param most maximum of the budget's measure.
 */
export function heldFor(most: number): number {
  return Math.min(Math.max(1, Math.ceil(most)), MOST_HELD);
}

/**
 * Whether an instance may admit a call from its grant: the spent, held and granted amounts are below the budget before
 * the call, and the grant covers the call. All in units of the budget's measure.
 *
 * @param free part of the instance's grant that is neither held nor waiting to be stored.
 * @param committed total spent and granted, including `free`.
 * Source: docs/reference/accounting.md#hard-budgets.
 */
export function mayHold(free: number, committed: number, budget: number, amount: number): boolean {
  return free >= amount && committed - free < budget;
}

/**
 * Number of parts that the remainder of a budget is divided into; an instance takes one part beyond its needs. 0: none,
 * because a recall could not reach it. Never 1: the grant of a dead process is unavailable for a while.
 *
 * @param instances number of live instances.
 */
export function grantParts(instances: number, canBeRecalled: boolean): number {
  if (instances <= 1) return PARTS_ALONE;
  return canBeRecalled ? PARTS_AMONG_SEVERAL * instances : 0;
}

/** Accumulates the needs of calls that wait for one budget. */
export function stepsOf(needs: readonly number[]): BudgetSteps {
  const before: number[] = [];
  const upTo: number[] = [];
  let sum = 0;
  for (const need of needs) {
    before.push(sum);
    sum += need;
    upTo.push(sum);
  }
  return { before, upTo };
}

/**
 * Whole seconds until the end of a period, at least 1; undefined where it has no end.
 *
 * Source: docs/reference/application-api.md#limit-refusals.
 */
export function secondsToPeriodEnd({ endMs }: BudgetPeriod, nowMs: number): number | undefined {
  return Number.isFinite(endMs) ? wholeSecondsUntil(endMs, nowMs) : undefined;
}

/**
 * `Retry-After` while running calls hold the rest of a budget. Their end is unknown, so the delay grows with the time
 * of refusals.
 *
 * @param heldMs since when calls have been refused for it.
 * @returns whole seconds, 1 to 10.
 * Source: docs/reference/accounting.md#hard-budgets.
 */
export function heldRetrySeconds(heldMs: number): number {
  return Math.min(MOST_HELD_RETRY_SECONDS, Math.max(1, Math.ceil(heldMs / MS_PER_SECOND)));
}

/** An amount that a call holds of one budget. */
interface HeldAmount {
  readonly budget: CallBudget;
  readonly amount: number;
}

/** Whether two budgets of one call are the same, whatever their amount. */
export function isSameBudget(one: CallBudget, other: CallBudget): boolean {
  return one.scope === other.scope && one.subject === other.subject && one.window === other.window;
}

/**
 * Distributes a charge over the holds of a call, so that each budget is charged once: hold by hold in order, and any
 * excess to the last hold of the budget.
 *
 * @param charged what the call used: each budget is charged in its measure.
 */
export function chargesOf(holds: readonly HeldAmount[], charged: BudgetAmounts): number[] {
  return holds.map(({ budget, amount }, at) => {
    const isSame = (other: HeldAmount) => isSameBudget(other.budget, budget);
    const before = holds.slice(0, at).filter(isSame);
    const rest = Math.max(
      0,
      charged[WINDOW_KINDS[budget.window].measure] - before.reduce((sum, hold) => sum + hold.amount, 0),
    );
    return holds.slice(at + 1).some(isSame) ? Math.min(rest, amount) : rest;
  });
}
