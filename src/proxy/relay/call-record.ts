import type { UsageAdmission, UsageAttempt, UsageOutcome } from '../../usage/usage-event.js';
import type { UsageRecorder, UsageTicket } from '../../usage/usage-recorder.service.js';

/**
 * The one event of a request, whichever of its targets serves it (decision 4.6): written down before the first target
 * is called, told of each further one, settled once.
 */
export class CallRecord {
  #ticket: UsageTicket | undefined;
  #failed: UsageAttempt[] | undefined;

  constructor(private readonly recorder: UsageRecorder) {}

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
    this.#ticket =
      this.#ticket === undefined ? this.recorder.admit(admission) : this.recorder.redirect(this.#ticket, admission);
  }

  /** A target failed and another one is tried. */
  addFailed(attempt: UsageAttempt): void {
    this.#failed ??= [];
    this.#failed.push(attempt);
  }

  /**
   * Says how the request ended. Without an admission there is no event.
   *
   * @param last the target whose end it is; absent when that one was never called.
   */
  settle(outcome: UsageOutcome, last: UsageAttempt | undefined): void {
    if (this.#ticket === undefined) return;
    const failed = this.#failed;
    if (failed === undefined) this.recorder.settle(this.#ticket, outcome);
    else this.recorder.settle(this.#ticket, { ...outcome, attempts: last === undefined ? failed : [...failed, last] });
  }
}
