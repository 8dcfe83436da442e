import type { BudgetHold } from '../../budgets/budget-hold.js';
import { chargeOf, resolveCost } from '../../usage/event/usage-cost.rules.js';
import type { UsageAdmission, UsageAttempt, UsageOutcome } from '../../usage/usage-event.js';
import type { UsageTicket } from '../../usage/usage-recorder.service.js';
import { TIMED_OUT, WENT_SILENT } from '../exchange/provider-failure.rules.js';

/** What a record needs of the recorder, which owns what a call holds from its admission on. */
export interface CallRecorder {
  admit(admission: UsageAdmission, holds: readonly BudgetHold[]): UsageTicket;
  redirect(ticket: UsageTicket, admission: UsageAdmission): UsageTicket;
  settle(ticket: UsageTicket, outcome: UsageOutcome): void;
}

/**
 * The one event of a request, whichever of its targets serves it (decision 4.6): written down before the first target
 * is called, told of each further one, settled once. Until it is written down it owns the money that the request holds:
 * a request that never reaches a target gives it back.
 */
export class CallRecord {
  #ticket: UsageTicket | undefined;
  #isAbandoned = false;
  #failed: UsageAttempt[] | undefined;
  #unheardNanoUsd: number | undefined;

  constructor(
    private readonly recorder: CallRecorder,
    private readonly holds: readonly BudgetHold[],
    /** Told once of a request that is never sent. */
    private readonly onUnsent: () => void = () => undefined,
  ) {}

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
      this.#ticket = this.recorder.redirect(this.#ticket, admission);
      return;
    }
    try {
      this.#ticket = this.recorder.admit(admission, this.holds);
    } catch (error) {
      this.abandon();
      throw error;
    }
  }

  /**
   * A target failed and another one is tried.
   *
   * @param wasSent the request went out to it.
   * @param discarded what became of its successful answer; absent where none had begun.
   */
  addFailed(attempt: UsageAttempt, wasSent: boolean, discarded?: UsageOutcome): void {
    if (attempt.error === TIMED_OUT || attempt.error === WENT_SILENT) this.#countUnheard(wasSent);
    else if (discarded !== undefined) this.#countDiscarded(discarded);
    this.#failed ??= [];
    this.#failed.push(attempt);
  }

  /**
   * Says how the request ended. Without an admission there is no event, and nothing was spent.
   *
   * @param last the target whose end it is; absent when that one was never called.
   * @param wasSent the request went out to it.
   */
  settle(outcome: UsageOutcome, last: UsageAttempt | undefined, wasSent: boolean): void {
    if (this.#ticket === undefined) {
      this.abandon();
      return;
    }
    // An answer that had begun and went silent is charged for by its own outcome.
    if (last?.error === TIMED_OUT) this.#countUnheard(wasSent);
    const failed = this.#failed;
    const unheardNanoUsd = this.#unheardNanoUsd;
    if (failed === undefined && unheardNanoUsd === undefined) {
      this.recorder.settle(this.#ticket, outcome);
      return;
    }
    const attempts = failed && (last === undefined ? failed : [...failed, last]);
    this.recorder.settle(this.#ticket, { ...outcome, attempts, unheardNanoUsd });
  }

  /** The request will not be sent any more: what it holds is given back. Changes nothing once it was written down. */
  abandon(): void {
    if (this.#ticket !== undefined || this.#isAbandoned) return;
    this.#isAbandoned = true;
    for (const hold of this.holds) hold.release();
    this.onUnsent();
  }

  /** A provider that had begun to answer may charge for it, though the client never sees it (threats 8.3). */
  #countDiscarded(answer: UsageOutcome): void {
    if (this.#ticket === undefined) return;
    const { reportsCost, worstNanoUsd } = this.#ticket.admission;
    const chargedNanoUsd = chargeOf(resolveCost(reportsCost, answer), worstNanoUsd);
    this.#unheardNanoUsd = (this.#unheardNanoUsd ?? 0) + chargedNanoUsd;
  }

  /** A provider that was too slow for us may have served the request: that is not free (threats 8.3, 9.1). */
  #countUnheard(wasSent: boolean): void {
    if (!wasSent || this.#ticket === undefined) return;
    this.#unheardNanoUsd = (this.#unheardNanoUsd ?? 0) + this.#ticket.admission.worstNanoUsd;
  }
}
