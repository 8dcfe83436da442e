import { Injectable } from '@nestjs/common';
import { Environment } from '../../platform/config/environment.js';

/** How many cancelled answers are torn down before other work gets its turn. */
const CANCEL_BATCH = 64;

/** An answer whose client has left. */
export interface AbandonedAnswer {
  /** Gives the answer up; its usage stays unknown. */
  cancel(): void;
}

/**
 * Reads answers without a client to their final usage, bounded in time and in number; what is beyond the bounds is
 * cancelled, a batch at a time, so that thousands of clients leaving at once do not hold the event loop
 *.
 */
@Injectable()
export class AbandonedAnswers {
  readonly #timers = new Map<AbandonedAnswer, NodeJS.Timeout>();
  /** Waiting for their turn, in order. */
  readonly #cancelling = new Set<AbandonedAnswer>();
  readonly #drainMs: number;
  readonly #max: number;
  #stopping = false;

  constructor(environment: Environment) {
    this.#drainMs = environment.ABORT_DRAIN_SECONDS * 1000;
    this.#max = environment.ABORT_DRAIN_MAX;
  }

  /** Takes an answer over. Sooner or later either `ended` is called for it or it is cancelled. */
  take(answer: AbandonedAnswer): void {
    if (this.#stopping) {
      answer.cancel();
      return;
    }
    if (this.#drainMs === 0 || this.#timers.size >= this.#max) {
      this.#cancelSoon(answer);
      return;
    }
    const timer = setTimeout(() => {
      this.#timers.delete(answer);
      this.#cancelSoon(answer);
    }, this.#drainMs);
    this.#timers.set(answer, timer);
  }

  /** The answer reached its end by itself. */
  ended(answer: AbandonedAnswer): void {
    clearTimeout(this.#timers.get(answer));
    this.#timers.delete(answer);
    this.#cancelling.delete(answer);
  }

  /** Gives everything up at once, and all that still comes: the service stops. */
  cancelAll(): void {
    this.#stopping = true;
    for (const timer of this.#timers.values()) clearTimeout(timer);
    const answers = [...this.#timers.keys(), ...this.#cancelling];
    this.#timers.clear();
    this.#cancelling.clear();
    for (const answer of answers) answer.cancel();
  }

  #cancelSoon(answer: AbandonedAnswer): void {
    this.#cancelling.add(answer);
    if (this.#cancelling.size === 1) setImmediate(() => this.#cancelBatch());
  }

  #cancelBatch(): void {
    let left = CANCEL_BATCH;
    for (const answer of this.#cancelling) {
      if (left-- === 0) {
        setImmediate(() => this.#cancelBatch());
        return;
      }
      this.#cancelling.delete(answer);
      answer.cancel();
    }
  }
}
