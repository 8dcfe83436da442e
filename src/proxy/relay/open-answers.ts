import { Injectable } from '@nestjs/common';
import { type Linked, LinkedSet } from '../../common/linked-set.js';
import { Environment } from '../../platform/config/environment.js';

/** Number of answers to cancel per event loop turn. */
const CANCEL_BATCH = 64;

/** An answer whose client has disconnected. */
export interface AbandonedAnswer {
  /** Cancels the answer; its usage stays unknown. */
  cancel(): void;
}

/**
 * Drains answers without a client to their final usage, bounded in time and number. Answers beyond the bounds are
 * cancelled in batches, so that thousands of simultaneous disconnects do not block the event loop.
 */
@Injectable()
export class AbandonedAnswers {
  readonly #timers = new Map<AbandonedAnswer, NodeJS.Timeout>();
  /** Answers to cancel, in order. */
  readonly #cancelling = new Set<AbandonedAnswer>();
  readonly #drainMs: number;
  readonly #max: number;
  #stopping = false;

  constructor(environment: Environment) {
    this.#drainMs = environment.ABORT_DRAIN_SECONDS * 1000;
    this.#max = environment.ABORT_DRAIN_MAX;
  }

  /**
   * Takes an answer over. It ends with a call of `ended`, or is cancelled.
   *
   * @param keptSeconds for an answer that is kept: how long it is read. It takes the place of the oldest.
   */
  take(answer: AbandonedAnswer, keptSeconds?: number): void {
    if (this.#stopping) {
      answer.cancel();
      return;
    }
    const drainMs = keptSeconds === undefined ? this.#drainMs : keptSeconds * 1000;
    if (keptSeconds !== undefined) this.#makeRoom();
    if (drainMs === 0 || this.#timers.size >= this.#max) {
      this.#cancelSoon(answer);
      return;
    }
    const timer = setTimeout(() => {
      this.#timers.delete(answer);
      this.#cancelSoon(answer);
    }, drainMs);
    this.#timers.set(answer, timer);
  }

  /** Reports that the answer has ended. */
  ended(answer: AbandonedAnswer): void {
    clearTimeout(this.#timers.get(answer));
    this.#timers.delete(answer);
    this.#cancelling.delete(answer);
  }

  /** Cancels all current and future answers immediately: the process is stopping. */
  cancelAll(): void {
    this.#stopping = true;
    for (const timer of this.#timers.values()) clearTimeout(timer);
    const answers = [...this.#timers.keys(), ...this.#cancelling];
    this.#timers.clear();
    this.#cancelling.clear();
    for (const answer of answers) answer.cancel();
  }

  #makeRoom(): void {
    if (this.#timers.size < this.#max) return;
    const [oldest] = this.#timers.keys();
    if (oldest === undefined) return;
    this.ended(oldest);
    this.#cancelSoon(oldest);
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

/** An answer that its client has not received completely. */
export interface OpenAnswer extends Linked<OpenAnswer> {
  /** Ends the answer because the process is stopping. */
  interrupt(): void;
}

/** Answers in progress, which the process interrupts when it stops. */
@Injectable()
export class OpenAnswers {
  readonly #open = new LinkedSet<OpenAnswer>();
  #stopping = false;

  /** True once shutdown has begun: no new answer may start. */
  get isStopping(): boolean {
    return this.#stopping;
  }

  add(answer: OpenAnswer): void {
    this.#open.add(answer);
  }

  delete(answer: OpenAnswer): void {
    this.#open.delete(answer);
  }

  interruptAll(): void {
    this.#stopping = true;
    for (const answer of [...this.#open]) answer.interrupt();
  }
}
