import { mayHold } from './budget.rules.js';
import type { BudgetKey, BudgetTaken } from './budget-grants.js';
import { AccountHold, type BudgetHold, type CallBudget, type HoldOwner } from './budget-hold.js';
import type { BudgetPeriod } from './budget-period.rules.js';
import { BudgetQueue } from './budget-queue.js';

/** Totals over all accounts of a process. */
export interface BudgetTotals {
  holds: number;
  /** Whole nano-dollars: budgets of money alone. */
  heldNanoUsd: number;
}

/**
 * This instance's state of one budget in one period. Amounts are in units of its measure; those granted, held and
 * unstored are never negative. A hold is created only within the grant. Only `rowFound`, `rowLost` and `forfeit` reduce
 * the grant below the amount in use, because other instances may have expired it.
 *
 * Only this instance writes its grant row in Postgres. The row is never lower than the grant: a charge leaves the grant
 * as soon as its event is stored, and leaves the row with the next write. Until then Postgres counts it twice, never
 * zero times.
 *
 * One statement runs at a time: `begin`, then its outcome (`grant`, `returned`, `rowFound`, `rowLost`; none after an
 * error), then `end`. While it runs, nothing is held, because it may reduce the grant.
 */
export class BudgetAccount implements HoldOwner {
  readonly queue = new BudgetQueue();
  #granted = 0;
  /** Last known amount of the row in Postgres; undefined: there is none, as far as known. */
  #row: number | undefined;
  /** Held for running calls. */
  #held = 0;
  /** Held part of the charges of finished calls whose events are not stored yet. */
  #unstored = 0;
  /** The rest of these charges: of calls that cost more than they held. No statement counts it before it is stored. */
  #unstoredExcess = 0;
  /** Spent and granted amounts of all instances, as of the last statement; infinite when invalidated. */
  #committed = 0;
  #spent = 0;
  #estimated = 0;
  #spentKnownAtMs = Number.NEGATIVE_INFINITY;
  #usedAtMs = 0;
  #inconclusive = 0;
  #inconclusiveAtMs = Number.NEGATIVE_INFINITY;
  #isBusy = false;
  #isReturnDeferred = false;
  /** Charges stored since the running statement was sent. */
  #storedMeanwhile = 0;
  #excessStoredMeanwhile = 0;
  #wasInvalidatedMeanwhile = false;
  /**
   * Of the latest hold. Holds share it: each lives until its event is stored, and costs the garbage collector until
   * then.
   */
  #budget: CallBudget | undefined;
  readonly #totals: BudgetTotals;

  readonly organizationId: string;
  readonly key: BudgetKey;

  constructor(
    { organizationId, appId, scope, subject, window }: CallBudget,
    readonly period: BudgetPeriod,
    totals: BudgetTotals,
  ) {
    this.organizationId = organizationId;
    this.key = { appId, scope, subject, window, periodStart: period.start };
    this.#totals = totals;
  }

  get row(): number | undefined {
    return this.#row;
  }

  get inUse(): number {
    return this.#held + this.#unstored;
  }

  get free(): number {
    return this.#granted - this.inUse;
  }

  get unstored(): number {
    return this.#unstored;
  }

  get committed(): number {
    return this.#committed;
  }

  /** Spent amount, as of the last statement. */
  get spent(): number {
    return this.#spent;
  }

  /** The estimated part of `spent`. */
  get estimated(): number {
    return this.#estimated;
  }

  get spentKnownAtMs(): number {
    return this.#spentKnownAtMs;
  }

  /** Last use, monotonic time. */
  get usedAtMs(): number {
    return this.#usedAtMs;
  }

  /** Number of consecutive statements without a usable result. */
  get inconclusive(): number {
    return this.#inconclusive;
  }

  get inconclusiveAtMs(): number {
    return this.#inconclusiveAtMs;
  }

  /** A statement is running. */
  get isBusy(): boolean {
    return this.#isBusy;
  }

  /** The unused grant must be returned once the running statement has ended. */
  get isReturnDeferred(): boolean {
    return this.#isReturnDeferred;
  }

  /** The known amounts are invalid; see {@link invalidate}. */
  get isInvalid(): boolean {
    return this.#committed === Number.POSITIVE_INFINITY;
  }

  /** Nothing is in use, waiting or stored in Postgres. */
  get isUnused(): boolean {
    return this.inUse === 0 && this.queue.length === 0 && !this.#isBusy && this.#row === undefined;
  }

  touch(nowMs: number): void {
    this.#usedAtMs = nowMs;
  }

  /**
   * A hold from the grant, at once. @returns undefined while calls wait or a statement runs; and as {@link tryHold}.
   */
  holdNow(budget: CallBudget, amount: number): BudgetHold | undefined {
    return this.queue.length > 0 || this.#isBusy ? undefined : this.tryHold(budget, amount);
  }

  /** Creates a hold from the grant. @returns undefined when the grant or the budget does not suffice. */
  tryHold(budget: CallBudget, amount: number): BudgetHold | undefined {
    if (!mayHold(this.free, this.#committed, budget.limit, amount)) return undefined;
    this.#held += amount;
    this.#totals.holds++;
    this.#totals.heldNanoUsd += amount;
    this.queue.clearRefusals();
    if (this.#budget?.limit !== budget.limit) this.#budget = budget;
    return new AccountHold(this, this.#budget, amount);
  }

  /** Reserves the account for a statement that {@link begin} follows. */
  occupy(): void {
    this.#isBusy = true;
  }

  rowAdded(): void {
    this.#row ??= 0;
  }

  /**
   * Starts a statement. Charges stored and corrections made from here on are missing in its result.
   *
   * @returns the amounts to send: the expected one of the row, and the one in use.
   */
  begin(): { readonly row: number; readonly inUse: number } {
    this.#isBusy = true;
    this.#storedMeanwhile = 0;
    this.#excessStoredMeanwhile = 0;
    this.#wasInvalidatedMeanwhile = false;
    return { row: this.#row ?? 0, inUse: this.inUse };
  }

  /** The statement has ended, whatever its outcome. */
  end(): void {
    this.#isBusy = false;
  }

  /**
   * A statement granted the amount in use and more; admits waiting calls.
   *
   * @param committed total spent and granted, including the row.
   * @returns false when a concurrent correction makes the amounts invalid.
   */
  grant(row: number, committed: number, spending: Pick<BudgetTaken, 'spent' | 'estimated'>, nowMs: number): boolean {
    this.#spent = spending.spent;
    this.#estimated = spending.estimated;
    this.#spentKnownAtMs = nowMs;
    this.#wrote(row, committed + this.#unstoredExcess + this.#excessStoredMeanwhile);
    this.#serve();
    if (this.isInvalid) this.statementInconclusive(nowMs);
    else this.#inconclusive = 0;
    return !this.isInvalid;
  }

  /** A statement failed, found an unexpected row, or was overtaken by a correction. */
  statementInconclusive(nowMs: number): void {
    this.#inconclusive++;
    this.#inconclusiveAtMs = nowMs;
  }

  /**
   * Whether the unused grant can be returned now; while a statement runs, {@link isReturnDeferred} demands it later.
   */
  mayReturn(): boolean {
    this.#isReturnDeferred = this.#isBusy;
    return !this.#isBusy;
  }

  /** Reduces the grant to the amount in use, before the row follows. @returns that amount. */
  keepInUse(): number {
    const free = Math.max(0, this.free);
    this.#granted -= free;
    this.#committed -= free;
    return this.inUse;
  }

  /**
   * The row was reduced to this amount, with the grant of {@link keepInUse}. @param isRemoved it was 0 and is deleted.
   */
  returned(row: number, isRemoved: boolean): void {
    this.#wrote(row, this.#committed + row - this.#storedMeanwhile - this.#granted);
    if (isRemoved) this.rowLost();
  }

  /** The row has another amount than expected: a statement had an unknown outcome. */
  rowFound(row: number): void {
    this.#row = row;
    this.#reduceTo(row);
  }

  /** The row is gone: other instances expired the grant, or this one removed it. */
  rowLost(): void {
    this.#row = undefined;
    this.#reduceTo(0);
  }

  /** Drops the grant, because other instances may have expired and redistributed it. */
  forfeit(): void {
    this.#committed -= this.#granted;
    this.#granted = 0;
    this.#spentKnownAtMs = Number.NEGATIVE_INFINITY;
  }

  /** Invalidates the known amounts after a correction of the spending: no holds until the next statement. */
  invalidate(): void {
    this.#wasInvalidatedMeanwhile = true;
    this.#committed = Number.POSITIVE_INFINITY;
    this.#spentKnownAtMs = Number.NEGATIVE_INFINITY;
  }

  /** A call ended without a charge. */
  release(amount: number): void {
    this.#held -= amount;
    this.#closed(amount);
    this.#freed();
  }

  /** A call ended with a charge. @returns the part of the charge that was held. */
  settle(amount: number, charged: number): number {
    const covered = Math.min(amount, charged);
    const excess = charged - covered;
    this.#held -= amount;
    this.#unstored += covered;
    this.#unstoredExcess += excess;
    this.#committed += excess;
    this.#totals.heldNanoUsd -= amount - covered;
    this.#freed();
    return covered;
  }

  /** The event of a settled call is stored: its charge is spent and leaves the grant. */
  stored(covered: number, excess: number): void {
    this.#unstored -= covered;
    this.#unstoredExcess -= excess;
    this.#excessStoredMeanwhile += excess;
    this.#granted = Math.max(0, this.#granted - covered);
    this.#storedMeanwhile += covered;
    this.#closed(covered);
  }

  /** The event of a settled call can never be stored. */
  dropped(covered: number, excess: number): void {
    this.#unstored -= covered;
    this.#unstoredExcess -= excess;
    this.#committed -= excess;
    this.#closed(covered);
    this.#freed();
  }

  #wrote(row: number, committed: number): void {
    this.#row = row;
    this.#granted = row - this.#storedMeanwhile;
    this.#committed = committed;
    if (this.#wasInvalidatedMeanwhile) this.invalidate();
  }

  #reduceTo(row: number): void {
    if (row >= this.#granted) return;
    this.#committed -= this.#granted - row;
    this.#granted = row;
  }

  #closed(amount: number): void {
    this.#totals.holds--;
    this.#totals.heldNanoUsd -= amount;
  }

  #freed(): void {
    if (!this.#isBusy) this.#serve();
  }

  #serve(): void {
    this.queue.serve(({ budget, amount }) => this.tryHold(budget, amount));
  }
}
