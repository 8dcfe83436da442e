import type { AnswerHead } from './client-answer.js';
import { StreamOpening } from './stream-opening.js';

/** The beginning of a stream that another target could still replace: its head and what came before any content. */
export class HeldOpening extends StreamOpening {
  readonly #timer: NodeJS.Timeout;

  /** @param onExpiry told when it has been held for `holdMs`. */
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
