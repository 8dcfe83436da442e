import type { KeptStream } from './kept-stream.js';

/** Is notified of a claim's outcome. */
export interface ClaimEvents {
  begun(claim: RepeatClaim): void;
  ended(claim: RepeatClaim): void;
  freed(claim: RepeatClaim): void;
}

/**
 * A call with an `Idempotency-Key`. Until its answer begins, repetitions wait for it; a refusal or a failure before
 * that frees the key.
 */
export class RepeatClaim {
  /** The answer; undefined if the key became free. */
  readonly answer: Promise<KeptStream | undefined>;
  #stream: KeptStream | undefined;
  #isOver = false;
  #decide: (stream: KeptStream | undefined) => void = () => undefined;

  /** @param keyMark, requestMark keyed hashes. */
  constructor(
    readonly keyMark: string,
    readonly requestMark: string,
    readonly claimId: string,
    private readonly events: ClaimEvents,
  ) {
    this.answer = new Promise((resolve) => {
      this.#decide = resolve;
    });
  }

  get stream(): KeptStream | undefined {
    return this.#stream;
  }

  /** The head of a 2xx is about to be sent. */
  begin(stream: KeptStream): void {
    this.#stream = stream;
    stream.onEnd = () => this.events.ended(this);
    this.events.begun(this);
    this.#decide(stream);
  }

  /** The call has ended; without an answer the key is free. */
  release(): void {
    if (this.#stream !== undefined || this.#isOver) return;
    this.events.freed(this);
    this.abandon();
  }

  /** Another call has the key; calls that wait for this one look it up again. */
  abandon(): void {
    this.#isOver = true;
    this.#decide(undefined);
  }
}
