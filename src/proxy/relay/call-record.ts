import type { BudgetHold } from '../../budgets/budget-hold.js';
import { GatewayError } from '../../common/errors/gateway-error.js';
import { chargedNanoUsd, chargeOf } from '../../usage/recording/event/usage-estimate.rules.js';
import type { UsageAdmission, UsageAttempt, UsageOutcome } from '../../usage/recording/usage-event.js';
import type { UsageTicket } from '../../usage/recording/usage-recorder.service.js';

/** The recorder interface of a record; the recorder owns the reservations of a call from `admit` on. */
export interface CallRecorder {
  admit(admission: UsageAdmission, holds: readonly BudgetHold[]): UsageTicket;
  redirect(ticket: UsageTicket, admission: UsageAdmission, unansweredNanoUsd: number): UsageTicket;
  settle(ticket: UsageTicket, outcome: UsageOutcome): void;
}

/**
 * The single event of a request, whichever target serves it: recorded before the call to the first target, updated for
 * each further target, settled once. Until it is recorded it owns the reservations of the request, and releases them if
 * no event is recorded.
 */
export class CallRecord {
  #ticket: UsageTicket | undefined;
  #isAbandoned = false;
  #failed: UsageAttempt[] | undefined;
  #unansweredNanoUsd = 0;

  constructor(
    private readonly recorder: CallRecorder,
    /** May grow during the request. */
    private readonly holds: readonly BudgetHold[],
    /** Called once for a request that is never sent. */
    private readonly onUnsent: () => void = () => undefined,
  ) {}

  /** Maximum charge of targets that were called and did not serve the request, in whole nano-dollars. */
  get unansweredNanoUsd(): number {
    return this.#unansweredNanoUsd;
  }

  /** Whether the request has been recorded. */
  get isAdmitted(): boolean {
    return this.#ticket !== undefined;
  }

  /**
   * Records the call of a target.
   *
   * @throws service_unavailable the event could not be recorded; the request must not be sent.
   */
  admit(admission: UsageAdmission): void {
    if (this.#ticket !== undefined) {
      this.#ticket = this.recorder.redirect(this.#ticket, admission, this.#unansweredNanoUsd);
      return;
    }
    try {
      this.#ticket = this.recorder.admit(admission, this.holds);
    } catch (error) {
      this.releaseUnsent();
      throw error;
    }
  }

  /** Records a call that was never sent, if possible. */
  admitUnsent(admission: UsageAdmission): void {
    try {
      this.admit(admission);
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
    }
  }

  /** Records a failed target before a fallback. Its possible charge is not part of another target's cost. */
  addFailed(attempt: UsageAttempt, outcome: UsageOutcome): void {
    if (this.#ticket !== undefined)
      this.#unansweredNanoUsd += chargedNanoUsd(chargeOf(this.#ticket.admission, outcome));
    this.#failed ??= [];
    this.#failed.push(attempt);
  }

  /**
   * Records how the request ended. Without an admission there is no event and no cost.
   *
   * @param last the target that ended the request; absent when it was never called.
   */
  settle(outcome: UsageOutcome, last: UsageAttempt | undefined): void {
    if (this.#ticket === undefined) {
      this.releaseUnsent();
      return;
    }
    const failed = this.#failed;
    if (failed === undefined) {
      this.recorder.settle(this.#ticket, outcome);
      return;
    }
    const attempts = last === undefined ? failed : [...failed, last];
    this.recorder.settle(this.#ticket, { ...outcome, attempts, unansweredNanoUsd: this.#unansweredNanoUsd });
  }

  /** Releases the reservations of a request that will not be sent. No effect once the request is recorded. */
  releaseUnsent(): void {
    if (this.#ticket !== undefined || this.#isAbandoned) return;
    this.#isAbandoned = true;
    for (const hold of this.holds) hold.release();
    this.onUnsent();
  }
}
