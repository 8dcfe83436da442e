import type { BudgetHold, CallBudget } from './budget-hold.js';

/** A call that waits for a grant. */
export interface BudgetWaiter {
  readonly budget: CallBudget;
  readonly amount: number;
  /** Total pauses between statements that did not admit it, in milliseconds. */
  pausedMs: number;
  /** A statement has included it. */
  wasAsked: boolean;
  readonly admit: (hold: BudgetHold) => void;
  readonly refuse: (error: unknown) => void;
}

/** The calls that wait for a grant of one budget, in order, and since when calls have been refused. */
export class BudgetQueue {
  #waiting: BudgetWaiter[] = [];
  #isAsking = false;
  #refusedSinceMs: number | undefined;
  #refusedAtMs = Number.NEGATIVE_INFINITY;

  get length(): number {
    return this.#waiting.length;
  }

  get waiting(): readonly BudgetWaiter[] {
    return this.#waiting;
  }

  /** Since when calls have been refused because the rest of the budget is held. */
  get refusedSinceMs(): number | undefined {
    return this.#refusedSinceMs;
  }

  /** When a statement last left a call without a grant. */
  get refusedAtMs(): number {
    return this.#refusedAtMs;
  }

  enqueue(waiter: BudgetWaiter): void {
    this.#waiting.push(waiter);
  }

  withdraw(waiter: BudgetWaiter): void {
    this.#waiting = this.#waiting.filter((other) => other !== waiter);
  }

  /** Removes all calls. @returns them; the caller refuses them. */
  takeAll(): readonly BudgetWaiter[] {
    const waiting = this.#waiting;
    this.#waiting = [];
    return waiting;
  }

  /** Admits calls in order, until there is no hold for one. */
  serve(holdFor: (waiter: BudgetWaiter) => BudgetHold | undefined): void {
    for (let next = this.#waiting[0]; next !== undefined; next = this.#waiting[0]) {
      const hold = holdFor(next);
      if (hold === undefined) return;
      this.#waiting.shift();
      next.admit(hold);
    }
  }

  /** Refuses the calls for which there is an error; the others keep waiting. */
  refuse(nowMs: number, errorOf: (waiter: BudgetWaiter) => Error | undefined): void {
    this.#refusedAtMs = nowMs;
    this.#refusedSinceMs ??= nowMs;
    this.#waiting = this.#waiting.filter((waiter) => {
      const error = errorOf(waiter);
      if (error !== undefined) waiter.refuse(error);
      return error === undefined;
    });
  }

  /** A call was admitted. */
  clearRefusals(): void {
    this.#refusedSinceMs = undefined;
  }

  /** Starts the loop that requests a grant. @returns false when it runs already or no call waits. */
  startAsking(): boolean {
    if (this.#isAsking || this.#waiting.length === 0) return false;
    this.#isAsking = true;
    return true;
  }

  stopAsking(): void {
    this.#isAsking = false;
  }
}
