import type { AnswerHead } from './client-answer.js';
import { meaningOf } from './stream-event.rules.js';

/** State of a stream so far. */
export type StreamHeadState = 'undecided' | 'content' | 'failed';

/** Limits after which a stream without content or error is relayed. */
const MAX_BYTES = 64 * 1024;
const MAX_FRAMES = 256;
/** More pieces are joined, so that single-byte chunks do not cost one buffer each. */
const MAX_PIECES = 64;

const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const BYTE_ORDER_MARK = '\ufeff';

/**
 * Holds back the start of an event stream until content or an error arrives, so that a fallback can replace a stream
 * that fails before its first content. The first content is decisive. Lines and events are parsed as in browsers
 * (WHATWG HTML, "Interpreting an event stream"), independent of chunk boundaries.
 */
export class StreamHead {
  #kept: Buffer[] = [];
  #verdict: StreamHeadState = 'undecided';
  #failure: string | undefined;
  #bytesRead = 0;
  #frames = 0;
  /** The current unfinished line. */
  #line: Buffer[] = [];
  /** The previous byte was CR; a following LF belongs to the same line end. */
  #afterReturn = false;
  #isFirstLine = true;
  /** The current unfinished event. */
  #hasLines = false;
  #name = '';
  #data: string | undefined;

  /** With `failed`: the stream's error code, such as `server_error`, of at most 64 characters. */
  get failure(): string | undefined {
    return this.#failure;
  }

  /** Processes and retains the next bytes. The buffer is not copied, so its bytes must not change. */
  push(chunk: Buffer): StreamHeadState {
    if (chunk.length === 0) return this.#verdict;
    this.#kept.push(chunk);
    if (this.#kept.length > MAX_PIECES) this.#kept = [Buffer.concat(this.#kept)];
    if (this.#verdict === 'undecided') this.#read(chunk);
    return this.#verdict;
  }

  /** Returns everything retained, in order, and clears it. */
  release(): readonly Buffer[] {
    const kept = this.#kept;
    this.#kept = [];
    return kept;
  }

  /** Stops at the deciding byte; later bytes, and bytes beyond the limits, have no effect. */
  #read(chunk: Buffer): void {
    const end = Math.min(chunk.length, MAX_BYTES - this.#bytesRead);
    let lineStart = 0;
    for (let at = 0; at < end && this.#verdict === 'undecided'; at++) {
      const byte = chunk[at];
      if (byte === LINE_FEED && this.#afterReturn) lineStart = at + 1;
      else if (byte === LINE_FEED || byte === CARRIAGE_RETURN) {
        this.#line.push(chunk.subarray(lineStart, at));
        lineStart = at + 1;
        this.#endLine();
      }
      this.#afterReturn = byte === CARRIAGE_RETURN;
    }
    if (this.#verdict !== 'undecided') return;
    this.#bytesRead += end;
    if (end < chunk.length) this.#verdict = 'content';
    else if (lineStart < end) this.#keepLine(chunk.subarray(lineStart, end));
  }

  #keepLine(piece: Buffer): void {
    this.#line.push(piece);
    if (this.#line.length > MAX_PIECES) this.#line = [Buffer.concat(this.#line)];
  }

  #endLine(): void {
    const bytes = this.#line.length === 1 ? this.#line[0] : Buffer.concat(this.#line);
    this.#line = [];
    let line = bytes?.toString() ?? '';
    if (this.#isFirstLine && line.startsWith(BYTE_ORDER_MARK)) line = line.slice(1);
    this.#isFirstLine = false;
    if (line === '') this.#endFrame();
    else this.#readField(line);
  }

  #readField(line: string): void {
    this.#hasLines = true;
    const colon = line.indexOf(':');
    const field = colon === -1 ? line : line.slice(0, colon);
    if (field !== 'data' && field !== 'event') return;
    const from = line[colon + 1] === ' ' ? colon + 2 : colon + 1;
    const value = colon === -1 ? '' : line.slice(from);
    if (field === 'event') this.#name = value;
    else this.#data = this.#data === undefined ? value : `${this.#data}\n${value}`;
  }

  #endFrame(): void {
    if (!this.#hasLines) return;
    const meaning = ++this.#frames > MAX_FRAMES ? undefined : meaningOf(this.#name, this.#data);
    this.#hasLines = false;
    this.#name = '';
    this.#data = undefined;
    if (meaning?.kind === 'contentless') return;
    if (meaning?.kind === 'failed') this.#failure = meaning.failure;
    this.#verdict = meaning?.kind ?? 'content';
  }
}

/** The start of a stream that a fallback can still replace: its head and the events before any content. */
export class BufferedStreamHead extends StreamHead {
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
