import type { BudgetHold } from '../../budgets/budget-hold.js';
import { chargedNanoUsd, chargeOf } from '../../usage/event/usage-estimate.rules.js';
import type { UsageAdmission, UsageAttempt, UsageOutcome } from '../../usage/usage-event.js';
import type { UsageTicket } from '../../usage/usage-recorder.service.js';

/** What a record needs of the recorder, which owns what a call holds from its admission on. */
export interface CallRecorder {
  admit(admission: UsageAdmission, holds: readonly BudgetHold[]): UsageTicket;
  redirect(ticket: UsageTicket, admission: UsageAdmission, unheardNanoUsd: number): UsageTicket;
  settle(ticket: UsageTicket, outcome: UsageOutcome): void;
}

/**
 * The one event of a request, whichever of its targets serves it: written down before the first target
 * is called, told of each further one, settled once. Until it is written down it owns the money that the request holds:
 * a request that never reaches a target gives it back.
 */
export class CallRecord {
  #ticket: UsageTicket | undefined;
  #isAbandoned = false;
  #failed: UsageAttempt[] | undefined;
  #unheardNanoUsd = 0;

  constructor(
    private readonly recorder: CallRecorder,
    /** May grow while it runs. */
    private readonly holds: readonly BudgetHold[],
    /** Told once of a request that is never sent. */
    private readonly onUnsent: () => void = () => undefined,
  ) {}

  /** What targets may charge for that were called and did not serve the request, in whole nano-dollars. */
  get unheardNanoUsd(): number {
    return this.#unheardNanoUsd;
  }

  /** Whether the request has been sent to any target. */
  get isAdmitted(): boolean {
    return this.#ticket !== undefined;
  }

  /**
   * Writes down that a target is called now.
   *
   * @throws service_unavailable it could not be written down and must not be sent.
   */
  admit(admission: UsageAdmission): void {
    if (this.#ticket !== undefined) {
      this.#ticket = this.recorder.redirect(this.#ticket, admission, this.#unheardNanoUsd);
      return;
    }
    try {
      this.#ticket = this.recorder.admit(admission, this.holds);
    } catch (error) {
      this.abandon();
      throw error;
    }
  }

  /** A target failed and another one is tried. What it may charge for all the same is no other target's cost. */
  addFailed(attempt: UsageAttempt, outcome: UsageOutcome): void {
    if (this.#ticket !== undefined) this.#unheardNanoUsd += chargedNanoUsd(chargeOf(this.#ticket.admission, outcome));
    this.#failed ??= [];
    this.#failed.push(attempt);
  }

  /**
   * Says how the request ended. Without an admission there is no event, and nothing was spent.
   *
   * @param last the target whose end it is; absent when that one was never called.
   */
  settle(outcome: UsageOutcome, last: UsageAttempt | undefined): void {
    if (this.#ticket === undefined) {
      this.abandon();
      return;
    }
    const failed = this.#failed;
    if (failed === undefined) {
      this.recorder.settle(this.#ticket, outcome);
      return;
    }
    const attempts = last === undefined ? failed : [...failed, last];
    this.recorder.settle(this.#ticket, { ...outcome, attempts, unheardNanoUsd: this.#unheardNanoUsd });
  }

  /** The request will not be sent any more: what it holds is given back. Changes nothing once it was written down. */
  abandon(): void {
    if (this.#ticket !== undefined || this.#isAbandoned) return;
    this.#isAbandoned = true;
    for (const hold of this.holds) hold.release();
    this.onUnsent();
  }
}
