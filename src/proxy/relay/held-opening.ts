import type { AnswerHead } from './client-answer.js';
import { StreamOpening } from './stream-opening.js';

/**
 * A stream is held back this long at most: clients that hear nothing at all give up, the usual mobile one after a
 * minute.
 */
const HOLD_MAX_MS = 30_000;

/** The beginning of a stream that another target could still replace: its head and what came before any content. */
export class HeldOpening extends StreamOpening {
  readonly #timer: NodeJS.Timeout;

  /** @param onExpiry told when it has been held long enough. */
  constructor(
    readonly head: AnswerHead,
    onExpiry: () => void,
  ) {
    super();
    this.#timer = setTimeout(onExpiry, HOLD_MAX_MS);
  }

  override release(): readonly Buffer[] {
    clearTimeout(this.#timer);
    return super.release();
  }
}
