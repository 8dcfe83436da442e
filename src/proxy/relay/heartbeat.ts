/** A comment of an event stream, which clients ignore (WHATWG HTML, "Interpreting an event stream"). */
const HEARTBEAT = ': gateway\n\n';
/** Enough for the longest empty line: CR LF CR LF. */
const TAIL_BYTES = 4;
const BETWEEN_EVENTS = /(?:^|\n\n|\r\r|\r\n\r\n)$/;

/** What is needed of `ServerResponse`. */
interface BeatenAnswer {
  readonly destroyed: boolean;
  readonly writableEnded: boolean;
  readonly headersSent: boolean;
  readonly writableNeedDrain: boolean;
  write(text: string): boolean;
  once(event: 'close', listener: () => void): unknown;
}

/**
 * Sends a comment whenever nothing else has been sent for a while, so that proxies and phones do not take a silent
 * provider for a dead connection; between events only, and after the head.
 */
export class Heartbeat {
  readonly #timer: NodeJS.Timeout;
  #tail: string;

  /** @param before what precedes the next bytes; empty at the start of the stream. */
  constructor(
    private readonly response: BeatenAnswer,
    everyMs: number,
    before = '',
  ) {
    this.#tail = before;
    this.#timer = setTimeout(() => this.#beat(), everyMs).unref();
    response.once('close', () => clearTimeout(this.#timer));
  }

  /** Notes bytes of the stream that were sent. */
  sent(bytes: Buffer): void {
    this.#tail = (this.#tail + bytes.toString('latin1', Math.max(0, bytes.length - TAIL_BYTES))).slice(-TAIL_BYTES);
    this.#timer.refresh();
  }

  #beat(): void {
    const { response } = this;
    if (response.destroyed || response.writableEnded) return;
    if (response.headersSent && !response.writableNeedDrain && BETWEEN_EVENTS.test(this.#tail))
      response.write(HEARTBEAT);
    this.#timer.refresh();
  }
}
