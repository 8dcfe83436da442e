import { meaningOf } from './stream-opening.rules.js';

/** What is known of a stream so far. */
export type OpeningVerdict = 'undecided' | 'content' | 'failed';

/** A stream that has still said nothing within these bounds is relayed as it is. */
const MAX_BYTES = 64 * 1024;
const MAX_FRAMES = 256;
/** More pieces than this are joined, so that a stream in single bytes costs its bytes and not a buffer for each. */
const MAX_PIECES = 64;

const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const BYTE_ORDER_MARK = '\ufeff';

/**
 * Holds the beginning of an event stream back until it is known whether it brings content or an error, so that a stream
 * that fails before its first content can still be replaced. The first content decides for good. Lines
 * and events are read as browsers read them (WHATWG HTML, "Interpreting an event stream"), wherever the chunks are cut.
 */
export class StreamOpening {
  #kept: Buffer[] = [];
  #verdict: OpeningVerdict = 'undecided';
  #failure: string | undefined;
  #bytesRead = 0;
  #frames = 0;
  /** The line that has not ended yet. */
  #line: Buffer[] = [];
  /** A line feed that comes next belongs to the line end before it. */
  #afterReturn = false;
  #isFirstLine = true;
  /** The frame that has not ended yet. */
  #hasLines = false;
  #name = '';
  #data: string | undefined;

  /** With `failed`: what the stream called its error, such as `server_error`; a code of at most 64 characters. */
  get failure(): string | undefined {
    return this.#failure;
  }

  /** Looks at the next bytes and keeps them. The buffer is not copied: its bytes must not change any more. */
  push(chunk: Buffer): OpeningVerdict {
    if (chunk.length === 0) return this.#verdict;
    this.#kept.push(chunk);
    if (this.#kept.length > MAX_PIECES) this.#kept = [Buffer.concat(this.#kept)];
    if (this.#verdict === 'undecided') this.#read(chunk);
    return this.#verdict;
  }

  /** Everything that was kept, in order, for the caller to relay. Nothing is kept any more. */
  release(): readonly Buffer[] {
    const kept = this.#kept;
    this.#kept = [];
    return kept;
  }

  /** Stops at the byte that decides: what is behind it, and what is behind the bounds, changes nothing. */
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
