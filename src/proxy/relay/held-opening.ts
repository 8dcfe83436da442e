import type { AnswerHead } from './client-answer.js';
import { StreamOpening } from './stream-opening.js';

/** The start of a stream that a fallback can still replace: its head and the events before any content. */
export class HeldOpening extends StreamOpening {
  readonly #timer: NodeJS.Timeout;

  /** @param onExpiry called after `holdMs`. */
  constructor(
    readonly head: AnswerHead,
    holdMs: number,
    onExpiry: () => void,
  ) {
    super();
    this.#timer = setTimeout(onExpiry, holdMs);
  }

  override release(): readonly Buffer[] {
    clearTimeout(this.#timer);
    return super.release();
  }
}
