import { type BudgetMonth, mayHold } from './budget.rules.js';
import type { BudgetHold, BudgetScope } from './budget-hold.js';

/** Sums over all accounts of a process. */
export interface BudgetTotals {
  holds: number;
  /** Whole nano-dollars. */
  heldNanoUsd: number;
}

/** A call that waits for money. */
export interface BudgetWaiter {
  readonly scope: BudgetScope;
  readonly nanoUsd: number;
  /** Between statements that did not admit it, in milliseconds. */
  pausedMs: number;
  /** A statement has asked for it. */
  wasAsked: boolean;
  readonly admit: (hold: BudgetHold) => void;
  readonly refuse: (error: unknown) => void;
}

/**
 * What this instance knows of one budget in one month. Amounts are whole nano-dollars.
 *
 * The row of its grant in Postgres is written by this instance alone, always as a whole, and is never lower than
 * `granted`: money whose event is stored leaves `granted` at once and the row when it is written the next time. Until
 * then it counts twice there, never zero times.
 */
export class BudgetAccount {
  /** What may be held; less than what is held already once others took this instance for dead. */
  granted = 0;
  /** The row in Postgres, as it was left; another value found there is believed. */
  row = 0;
  /** Whether there is a row, as far as known. */
  hasRow = false;
  /** Of calls that run. */
  held = 0;
  /** Of calls that have ended and whose events Postgres does not have yet. */
  unstored = 0;
  /** Everything spent and granted, here and elsewhere, when Postgres was last asked. */
  committed = 0;
  /** What was spent then. */
  spent = 0;
  /** What of that was estimated. */
  estimated = 0;
  spentKnownAtMs = Number.NEGATIVE_INFINITY;
  /** When it was last used, on the clock that never goes back. */
  usedAtMs = 0;
  /** Since when calls have been refused because of money that is held. */
  refusedSinceMs: number | undefined;
  /** When a statement about it last refused somebody. */
  refusedAtMs = Number.NEGATIVE_INFINITY;
  /** Answers of Postgres in a row that told nothing of it, and when the last one came. */
  unclear = 0;
  unclearAtMs = Number.NEGATIVE_INFINITY;
  /** A statement about it is under way: one at a time. */
  busy = false;
  /** Somebody asks for those who wait, or pauses before asking again. */
  asking = false;
  /** It is to be given back once that one has ended. */
  returnWanted = false;
  waiting: BudgetWaiter[] = [];
  private storedMeanwhile = 0;
  private doubtedMeanwhile = false;

  constructor(
    readonly appId: string,
    /** Empty: the application as a whole. */
    readonly userId: string,
    readonly organizationId: string,
    readonly month: BudgetMonth,
    private readonly totals: BudgetTotals,
  ) {}

  get inUse(): number {
    return this.held + this.unstored;
  }

  /** What is known of the budget holds no more; see {@link doubt}. */
  get isInDoubt(): boolean {
    return this.committed === Number.POSITIVE_INFINITY;
  }

  get free(): number {
    return this.granted - this.inUse;
  }

  /** Nothing of it is in use, by nobody. */
  get isQuiet(): boolean {
    return this.held === 0 && this.unstored === 0 && this.waiting.length === 0 && !this.busy;
  }

  /** Holds money that this instance has been granted. @returns undefined where that does not do. */
  tryHold(scope: BudgetScope, nanoUsd: number): BudgetHold | undefined {
    if (!mayHold(this.free, this.committed, scope.budgetNanoUsd, nanoUsd)) return undefined;
    this.held += nanoUsd;
    this.totals.holds++;
    this.totals.heldNanoUsd += nanoUsd;
    this.refusedSinceMs = undefined;
    return new AccountHold(this, scope, nanoUsd);
  }

  /** Admits those who wait, in their order, as far as the grant goes. */
  serve(): void {
    for (let next = this.waiting[0]; next !== undefined; next = this.waiting[0]) {
      const hold = this.tryHold(next.scope, next.nanoUsd);
      if (hold === undefined) return;
      this.waiting.shift();
      next.admit(hold);
    }
  }

  /** Others may have divided this instance's grant among themselves: nothing may be held by it any more. */
  forfeit(): void {
    this.committed -= this.granted;
    this.granted = 0;
    this.spentKnownAtMs = Number.NEGATIVE_INFINITY;
  }

  /** What was spent has been corrected: nothing more is held before Postgres was asked. */
  doubt(): void {
    this.doubtedMeanwhile = true;
    this.committed = Number.POSITIVE_INFINITY;
    this.spentKnownAtMs = Number.NEGATIVE_INFINITY;
  }

  /** A statement was cut, found another row than was thought, or was overtaken by a correction. */
  toldNothing(nowMs: number): void {
    this.unclear++;
    this.unclearAtMs = nowMs;
  }

  release(nanoUsd: number): void {
    this.held -= nanoUsd;
    this.closed(nanoUsd);
    this.freed();
  }

  /** @returns what of the charge was held. */
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

  /**
   * A statement about it is sent. What it says the row becomes is seen from now: what is stored meanwhile leaves the
   * grant all the same.
   */
  begin(): void {
    this.busy = true;
    this.storedMeanwhile = 0;
    this.doubtedMeanwhile = false;
  }

  /** From now on only what is in use may be counted on. @returns that. */
  keepInUse(): number {
    const free = Math.max(0, this.free);
    this.granted -= free;
    this.committed -= free;
    return this.inUse;
  }

  /** The row was written. @param committed everything spent and granted, this included; absent where that is as before. */
  wrote(row: number, committed?: number): void {
    this.row = row;
    this.committed = committed ?? this.committed + row - this.storedMeanwhile - this.granted;
    this.granted = row - this.storedMeanwhile;
    if (this.doubtedMeanwhile) this.doubt();
  }

  /** The row is another than was thought, because a statement had an unknown end, or others took this instance for dead. */
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
