import { dayStartMs, instantOf, wholeSecondsUntil } from '../common/clock.js';

const MS_PER_SECOND = 1000;
/** Added to the beginning of a month, it leads into the next one. */
const LONGER_THAN_A_MONTH_MS = 32 * 24 * 60 * 60 * MS_PER_SECOND;
const MOST_HELD_RETRY_SECONDS = 10;
/** The share of what remains that an instance takes beyond what it needs: one of so many parts … */
const PARTS_ALONE = 2;
/** … and of so many for each instance that lives. */
const PARTS_AMONG_SEVERAL = 4;
/** Far above any call; keeps sums of many of them exact. */
const MOST_HELD_NANO_USD = 1e14;

/** A UTC month. */
export interface BudgetMonth {
  /** Its first day, `YYYY-MM-DD`. */
  readonly day: string;
  /** Milliseconds since the Unix epoch; the end is the beginning of the next one. */
  readonly startMs: number;
  readonly endMs: number;
}

/** What calls that wait for money of one budget need, in their order: what those before each need, and that with its own. */
export interface BudgetSteps {
  readonly before: readonly number[];
  readonly upTo: readonly number[];
}

/** The month an instant lies in. @param atMs milliseconds since the Unix epoch. */
export function budgetMonthOf(atMs: number): BudgetMonth {
  const day = firstDayOfMonth(atMs);
  const startMs = dayStartMs(day);
  return { day, startMs, endMs: dayStartMs(firstDayOfMonth(startMs + LONGER_THAN_A_MONTH_MS)) };
}

function firstDayOfMonth(atMs: number): string {
  return `${instantOf(atMs).toISOString().slice(0, 'YYYY-MM'.length)}-01`;
}

/**
 * What is held for a call. Never nothing: a call that costs nothing is refused as well once its budget is used up.
 *
 * @param worstNanoUsd whole nano-dollars.
 */
export function heldFor(worstNanoUsd: number): number {
  return Math.min(Math.max(1, Math.ceil(worstNanoUsd)), MOST_HELD_NANO_USD);
}

/**
 * Whether an instance may admit a call by what it has been granted: what is spent, held and granted to others stays
 * below the budget before the call, and the grant covers it. All in whole nano-dollars.
 *
 * @param free of the instance's grant, neither held nor waiting to be stored.
 * @param committed everything spent and granted, `free` included.
 * Source: docs/reference/accounting.md#hard-budgets.
 */
export function mayHold(free: number, committed: number, budget: number, nanoUsd: number): boolean {
  return free >= nanoUsd && committed - free < budget;
}

/**
 * Into how many parts an instance divides what remains of a budget, to take one beyond what it needs; 0: none, because
 * it could not be asked to give it back. Never all: what a process that dies has been granted is out of reach for a while.
 *
 * @param instances that live.
 */
export function grantParts(instances: number, canBeRecalled: boolean): number {
  if (instances <= 1) return PARTS_ALONE;
  return canBeRecalled ? PARTS_AMONG_SEVERAL * instances : 0;
}

/** Sums up what calls need that wait for the same money. */
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

/** Whole seconds until a month ends, at least 1. Source: docs/reference/application-api.md#limit-refusals. */
export function secondsToMonthEnd(month: BudgetMonth, nowMs: number): number {
  return wholeSecondsUntil(month.endMs, nowMs);
}

/**
 * When to come back while the rest of a budget is held by calls that run: nobody knows when they end, so the longer they
 * have been running, the later.
 *
 * @param heldMs since when calls have been refused for it.
 * @returns whole seconds, 1 to 10. Source: docs/reference/accounting.md#hard-budgets.
 */
export function heldRetrySeconds(heldMs: number): number {
  return Math.min(MOST_HELD_RETRY_SECONDS, Math.max(1, Math.ceil(heldMs / MS_PER_SECOND)));
}

/** Money of one budget that a call holds. */
interface HeldMoney {
  readonly scope: { readonly userId: string | null };
  readonly nanoUsd: number;
}

/**
 * What each of a call's holds is charged, so that each budget is charged once: hold by hold in their order, and what is
 * beyond all of them to the last one.
 *
 * @param chargedNanoUsd what the call counts against each budget, in whole nano-dollars.
 */
export function chargesOf(holds: readonly HeldMoney[], chargedNanoUsd: number): number[] {
  return holds.map(({ scope, nanoUsd }, at) => {
    const isSame = (other: HeldMoney) => other.scope.userId === scope.userId;
    const before = holds.slice(0, at).filter(isSame);
    const rest = Math.max(0, chargedNanoUsd - before.reduce((sum, hold) => sum + hold.nanoUsd, 0));
    return holds.slice(at + 1).some(isSame) ? Math.min(rest, nanoUsd) : rest;
  });
}
