import { type BudgetMonth, mayHold } from './budget.rules.js';
import type { BudgetHold, BudgetScope } from './budget-hold.js';

/** Totals over all accounts of a process. */
export interface BudgetTotals {
  holds: number;
  /** Whole nano-dollars. */
  heldNanoUsd: number;
}

/** A call that waits for a grant. */
export interface BudgetWaiter {
  readonly scope: BudgetScope;
  readonly nanoUsd: number;
  /** Total pauses between statements that did not admit it, in milliseconds. */
  pausedMs: number;
  /** A statement has included it. */
  wasAsked: boolean;
  readonly admit: (hold: BudgetHold) => void;
  readonly refuse: (error: unknown) => void;
}

/**
 * This instance's state of one budget in one month. Amounts are whole nano-dollars.
 *
 * Only this instance writes its grant row in Postgres. The row is never lower than `granted`: a charge leaves `granted`
 * as soon as its event is stored, and leaves the row with the next write. Until then Postgres counts it twice, never
 * zero times.
 */
export class BudgetAccount {
  /** Limit of `held` and `unstored`; lower than their sum after other instances may have expired the grant. */
  granted = 0;
  /** Last known amount of the row in Postgres; replaced when a statement finds another amount. */
  row = 0;
  /** Whether the row exists, as far as known. */
  hasRow = false;
  /** Held for running calls. */
  held = 0;
  /** Charges of finished calls whose events are not stored yet. */
  unstored = 0;
  /** Spent and granted amounts of all instances, as of the last statement. */
  committed = 0;
  /** Spent amount, as of the last statement. */
  spent = 0;
  /** The estimated part of `spent`. */
  estimated = 0;
  spentKnownAtMs = Number.NEGATIVE_INFINITY;
  /** Last use, monotonic time. */
  usedAtMs = 0;
  /** Since when calls have been refused because the rest is held. */
  refusedSinceMs: number | undefined;
  /** When a statement last left a call without a grant. */
  refusedAtMs = Number.NEGATIVE_INFINITY;
  /** Consecutive statements without a usable result, and the time of the last one. */
  unclear = 0;
  unclearAtMs = Number.NEGATIVE_INFINITY;
  /** A statement is running: one at a time per account. */
  busy = false;
  /** A loop requests a grant for the waiting calls, or pauses before its next attempt. */
  asking = false;
  /** The unused grant must be returned once the running statement has ended. */
  returnWanted = false;
  waiting: BudgetWaiter[] = [];
  private storedMeanwhile = 0;
  private doubtedMeanwhile = false;

  constructor(
    readonly appId: string,
    /** Empty: the whole application. */
    readonly userId: string,
    readonly organizationId: string,
    readonly month: BudgetMonth,
    private readonly totals: BudgetTotals,
  ) {}

  get inUse(): number {
    return this.held + this.unstored;
  }

  /** The known amounts are invalid; see {@link doubt}. */
  get isInDoubt(): boolean {
    return this.committed === Number.POSITIVE_INFINITY;
  }

  get free(): number {
    return this.granted - this.inUse;
  }

  get isQuiet(): boolean {
    return this.held === 0 && this.unstored === 0 && this.waiting.length === 0 && !this.busy;
  }

  /** Creates a hold from the grant. @returns undefined when the grant or the budget does not suffice. */
  tryHold(scope: BudgetScope, nanoUsd: number): BudgetHold | undefined {
    if (!mayHold(this.free, this.committed, scope.budgetNanoUsd, nanoUsd)) return undefined;
    this.held += nanoUsd;
    this.totals.holds++;
    this.totals.heldNanoUsd += nanoUsd;
    this.refusedSinceMs = undefined;
    return new AccountHold(this, scope, nanoUsd);
  }

  /** Admits waiting calls in order, as far as the grant suffices. */
  serve(): void {
    for (let next = this.waiting[0]; next !== undefined; next = this.waiting[0]) {
      const hold = this.tryHold(next.scope, next.nanoUsd);
      if (hold === undefined) return;
      this.waiting.shift();
      next.admit(hold);
    }
  }

  /** Drops the grant, because other instances may have expired and redistributed it. */
  forfeit(): void {
    this.committed -= this.granted;
    this.granted = 0;
    this.spentKnownAtMs = Number.NEGATIVE_INFINITY;
  }

  /** Invalidates the known amounts after a correction of the spending: no holds until the next statement. */
  doubt(): void {
    this.doubtedMeanwhile = true;
    this.committed = Number.POSITIVE_INFINITY;
    this.spentKnownAtMs = Number.NEGATIVE_INFINITY;
  }

  /** A statement failed, found an unexpected row, or was overtaken by a correction. */
  toldNothing(nowMs: number): void {
    this.unclear++;
    this.unclearAtMs = nowMs;
  }

  release(nanoUsd: number): void {
    this.held -= nanoUsd;
    this.closed(nanoUsd);
    this.freed();
  }

  /** @returns the part of the charge that was held. */
  settle(nanoUsd: number, chargedNanoUsd: number): number {
    const covered = Math.min(nanoUsd, chargedNanoUsd);
    this.held -= nanoUsd;
    this.unstored += covered;
    this.committed += chargedNanoUsd - covered;
    this.totals.heldNanoUsd -= nanoUsd - covered;
    this.freed();
    return covered;
  }

  stored(covered: number): void {
    this.unstored -= covered;
    this.granted = Math.max(0, this.granted - covered);
    this.storedMeanwhile += covered;
    this.closed(covered);
  }

  dropped(covered: number): void {
    this.unstored -= covered;
    this.closed(covered);
    this.freed();
  }

  /** Starts a statement. Charges stored while it runs still leave the grant. */
  begin(): void {
    this.busy = true;
    this.storedMeanwhile = 0;
    this.doubtedMeanwhile = false;
  }

  /** Reduces the grant to the amount in use. @returns that amount. */
  keepInUse(): number {
    const free = Math.max(0, this.free);
    this.granted -= free;
    this.committed -= free;
    return this.inUse;
  }

  /**
   * The row was written. @param committed total spent and granted, including the row; absent when nothing else changed.
   */
  wrote(row: number, committed?: number): void {
    this.row = row;
    this.committed = committed ?? this.committed + row - this.storedMeanwhile - this.granted;
    this.granted = row - this.storedMeanwhile;
    if (this.doubtedMeanwhile) this.doubt();
  }

  /**
   * The row differs from the last known one: a statement had an unknown outcome, or other instances expired the grant.
   */
  found(row: number | undefined): void {
    this.hasRow = row !== undefined;
    this.row = row ?? 0;
    if (this.row >= this.granted) return;
    this.committed -= this.granted - this.row;
    this.granted = this.row;
  }

  private closed(nanoUsd: number): void {
    this.totals.holds--;
    this.totals.heldNanoUsd -= nanoUsd;
  }

  private freed(): void {
    if (!this.busy && this.waiting.length > 0) this.serve();
  }
}

class AccountHold implements BudgetHold {
  #state: 'held' | 'settled' | 'over' = 'held';
  #covered = 0;

  constructor(
    private readonly account: BudgetAccount,
    readonly scope: BudgetScope,
    readonly nanoUsd: number,
  ) {}

  release(): void {
    if (this.#state !== 'held') return;
    this.#state = 'over';
    this.account.release(this.nanoUsd);
  }

  settle(chargedNanoUsd: number): number {
    if (this.#state !== 'held') return 0;
    this.#state = 'settled';
    this.#covered = this.account.settle(this.nanoUsd, chargedNanoUsd);
    return this.#covered;
  }

  stored(): void {
    if (this.#state !== 'settled') return;
    this.#state = 'over';
    this.account.stored(this.#covered);
  }

  dropped(): void {
    if (this.#state !== 'settled') return;
    this.#state = 'over';
    this.account.dropped(this.#covered);
  }
}
