import { BrokenConnection } from './broken-connection.js';
import { isChunkExtensions, isTrailer, parseResponseHead, type ResponseHead } from './response-head.rules.js';

/** Events of one response. `onEnd` is the last one. */
export interface ResponseEvents {
  /** The final head, or an interim one (below 200). */
  onHead(head: ResponseHead): void;
  /** The next bytes of the body, without chunk framing. */
  onBytes(bytes: Buffer): void;
  onEnd(): void;
}

/** Maximum size of a head, and of the trailers. Providers send many headers, but not this many. */
const MAX_HEAD_BYTES = 64 * 1024;
/** Maximum size of a line that states the size of a chunk, with its extensions. */
const MAX_CHUNK_LINE_BYTES = 4 * 1024;
/** Hexadecimal digits of a chunk's size: below 2^52. */
const MAX_CHUNK_DIGITS = 13;
const NO_BYTES = Buffer.alloc(0);
const HEAD_END = '\r\n\r\n';
const [CR, LF, SEMICOLON] = [0x0d, 0x0a, 0x3b];

type State =
  | 'idle'
  | 'head'
  | 'body'
  | 'until_close'
  | 'chunk_size'
  | 'chunk_extension'
  | 'chunk_line_end'
  | 'chunk_data'
  | 'chunk_data_cr'
  | 'chunk_data_lf'
  | 'trailer_start'
  | 'trailer'
  | 'trailer_line_end'
  | 'trailers_end';

/**
 * Reads the responses of one connection, one after the other, as HTTP/1.1 frames them (RFC 9112). Bytes of a body that
 * arrive together are delivered together, whatever their chunks.
 *
 * Errors: `BrokenConnection` with `invalid_answer` or `head_too_large`; the connection is unusable then.
 */
export class ResponseReader {
  #state: State = 'idle';
  #method = '';
  /** The part of a head that has arrived, while it is incomplete: the first bytes of a buffer that grows as needed. */
  #headMemory = NO_BYTES;
  #headBytes = 0;
  /** Bytes until the end of the body or of the chunk. */
  #left = 0;
  /** Bytes of framing lines so far, or digits of a size. */
  #lineBytes = 0;
  /** The extensions of a chunk, or a trailer, as far as they have arrived. */
  #line = '';
  #pieces: Buffer[] = [];

  constructor(private readonly events: ResponseEvents) {}

  /** Expects the response to a request. */
  expect(method: string): void {
    this.#state = 'head';
    this.#method = method;
  }

  /** Reads what has arrived. @param bytes may change once this returns: the body's part of them is copied. */
  push(bytes: Buffer): void {
    try {
      for (let at = 0; at < bytes.length; ) at = this.#step(bytes, at);
    } finally {
      this.#deliver();
    }
  }

  /** The provider has ended the connection. @returns whether the response is complete with that. */
  close(): boolean {
    if (this.#state !== 'until_close') return false;
    this.#end();
    return true;
  }

  #step(bytes: Buffer, at: number): number {
    switch (this.#state) {
      case 'head':
        return this.#readHead(bytes, at);
      case 'body':
      case 'chunk_data':
        return this.#readBody(bytes, at);
      case 'until_close':
        this.#pieces.push(at === 0 ? bytes : bytes.subarray(at));
        return bytes.length;
      case 'idle':
        throw invalid('bytes after its answer');
      default:
        this.#state = this.#afterFrameByte(bytes[at] ?? 0);
        if (this.#state === 'idle') this.#end();
        return at + 1;
    }
  }

  #readHead(bytes: Buffer, at: number): number {
    const before = this.#headBytes;
    const arrived = before === 0 ? bytes : this.#keepHead(bytes, at);
    const start = before === 0 ? at : 0;
    const end = arrived.indexOf(HEAD_END, Math.max(start, before - HEAD_END.length + 1), 'latin1');
    if ((end < 0 ? arrived.length : end) - start > MAX_HEAD_BYTES)
      throw new BrokenConnection('head_too_large', `the provider sent headers of more than ${MAX_HEAD_BYTES} bytes`);
    if (end < 0) {
      if (before === 0) this.#keepHead(bytes, at);
      return bytes.length;
    }
    this.#headMemory = NO_BYTES;
    this.#headBytes = 0;
    this.#begin(parseResponseHead(arrived.toString('latin1', start, end), this.#method));
    return end + HEAD_END.length - (before === 0 ? 0 : before - at);
  }

  /**
   * Copies what has arrived of a head. Its memory doubles, so that many small pieces are not copied again and again.
   */
  #keepHead(bytes: Buffer, at: number): Buffer {
    const length = this.#headBytes + bytes.length - at;
    if (length > this.#headMemory.length) {
      const larger = Buffer.allocUnsafeSlow(2 * length);
      this.#headMemory.copy(larger, 0, 0, this.#headBytes);
      this.#headMemory = larger;
    }
    bytes.copy(this.#headMemory, this.#headBytes, at);
    this.#headBytes = length;
    return this.#headMemory.subarray(0, length);
  }

  #begin(head: ResponseHead): void {
    if (head.status === 101) throw invalid('a change of protocol');
    this.events.onHead(head);
    if (head.status < 200) return;
    this.#lineBytes = 0;
    if (head.bodyLength === 0) this.#end();
    else if (head.bodyLength === 'chunked') this.#state = 'chunk_size';
    else if (head.bodyLength === 'until_close') this.#state = 'until_close';
    else {
      this.#state = 'body';
      this.#left = head.bodyLength;
    }
  }

  #readBody(bytes: Buffer, at: number): number {
    const end = Math.min(at + this.#left, bytes.length);
    this.#pieces.push(at === 0 && end === bytes.length ? bytes : bytes.subarray(at, end));
    this.#left -= end - at;
    if (this.#left > 0) return end;
    if (this.#state === 'body') this.#end();
    else this.#state = 'chunk_data_cr';
    return end;
  }

  /** The state after the next byte of the frame around chunks (RFC 9112 section 7.1). */
  #afterFrameByte(byte: number): State {
    switch (this.#state) {
      case 'chunk_size':
        return this.#afterSizeByte(byte);
      case 'chunk_extension':
        if (byte === CR) return this.#endLine(isChunkExtensions, 'chunk_line_end');
        return this.#afterLineByte('chunk_extension', byte, MAX_CHUNK_LINE_BYTES);
      case 'chunk_line_end':
        this.#lineBytes = 0;
        return required(byte, LF, this.#left === 0 ? 'trailer_start' : 'chunk_data');
      case 'chunk_data_cr':
        return required(byte, CR, 'chunk_data_lf');
      case 'chunk_data_lf':
        return required(byte, LF, 'chunk_size');
      case 'trailer_start':
        if (byte === CR) return 'trailers_end';
        return this.#afterLineByte('trailer', byte, MAX_HEAD_BYTES);
      case 'trailer':
        if (byte === CR) return this.#endLine(isTrailer, 'trailer_line_end');
        return this.#afterLineByte('trailer', byte, MAX_HEAD_BYTES);
      case 'trailer_line_end':
        return required(byte, LF, 'trailer_start');
      default:
        return required(byte, LF, 'idle');
    }
  }

  #afterSizeByte(byte: number): State {
    const digit = hexDigit(byte);
    if (digit >= 0) {
      if (++this.#lineBytes > MAX_CHUNK_DIGITS) throw invalid('a chunk of this size');
      this.#left = this.#lineBytes === 1 ? digit : this.#left * 16 + digit;
      return 'chunk_size';
    }
    if (this.#lineBytes === 0) throw invalid('a chunk without a size');
    if (byte === CR) return 'chunk_line_end';
    if (byte === SEMICOLON) return this.#afterLineByte('chunk_extension', byte, MAX_CHUNK_LINE_BYTES);
    throw invalid('a chunk without a size');
  }

  /** A byte of a line whose content is checked at its end, and then ignored. */
  #afterLineByte(state: State, byte: number, maxBytes: number): State {
    if (byte === LF || ++this.#lineBytes > maxBytes) throw invalid('lines between its chunks');
    this.#line += String.fromCharCode(byte);
    return state;
  }

  #endLine(isValid: (line: string) => boolean, next: State): State {
    if (!isValid(this.#line)) throw invalid('lines between its chunks');
    this.#line = '';
    return next;
  }

  #deliver(): void {
    if (this.#pieces.length === 0) return;
    const bytes = Buffer.concat(this.#pieces);
    this.#pieces = [];
    this.events.onBytes(bytes);
  }

  #end(): void {
    this.#state = 'idle';
    this.#deliver();
    this.events.onEnd();
  }
}

/** @returns the value of a hexadecimal digit, -1 for any other byte. */
function hexDigit(byte: number): number {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  const letter = byte | 0x20;
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : -1;
}

function required(byte: number, expected: number, next: State): State {
  if (byte !== expected) throw invalid('chunks that do not end where they should');
  return next;
}

function invalid(what: string): BrokenConnection {
  return new BrokenConnection('invalid_answer', `the provider sent ${what}`);
}
