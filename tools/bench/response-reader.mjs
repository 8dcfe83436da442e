/** A small HTTP/1.1 response parser, so that the load generator costs less than anything it measures. */

const HEAD_END = Buffer.from('\r\n\r\n');
const CR = 13;
const LF = 10;

/**
 * Feed it the bytes of one keep-alive connection. `onHead(statusCode)`, `onBody(bytes)` and `onEnd(statusCode)` are
 * called for each final answer, in order; 1xx answers are skipped. Bodies are framed by content-length or chunked
 * coding; a body without either lasts until `close()`.
 */
export class ResponseReader {
  #sink;
  #state = 'head';
  #held = null;
  #statusCode = 0;
  #left = 0;
  #line = '';

  constructor(sink) {
    this.#sink = sink;
  }

  /** Parses the next piece of the connection, split anywhere. Throws on a response it cannot frame. */
  push(bytes) {
    let at = 0;
    while (at < bytes.length) {
      if (this.#state === 'head') at = this.#readHead(bytes, at);
      else if (this.#state === 'fixed' || this.#state === 'data') at = this.#readBytes(bytes, at);
      else if (this.#state === 'until-close') at = this.#readRest(bytes, at);
      else at = this.#readLine(bytes, at);
    }
  }

  /** The peer closed: ends a body that lasts until then. Returns whether this completed a response. */
  close() {
    if (this.#state !== 'until-close') return false;
    this.#finish();
    return true;
  }

  #readHead(bytes, at) {
    const before = this.#held?.length ?? 0;
    const all = this.#held ? Buffer.concat([this.#held, bytes.subarray(at)]) : bytes.subarray(at);
    const end = all.indexOf(HEAD_END);
    if (end === -1) {
      this.#held = Buffer.from(all);
      return bytes.length;
    }
    this.#held = null;
    this.#startBody(all.latin1Slice(0, end + 2));
    return at + end + HEAD_END.length - before;
  }

  #startBody(head) {
    this.#statusCode = Number(head.slice(9, 12));
    if (!head.startsWith('HTTP/1.') || !(this.#statusCode >= 100)) throw new Error('not an HTTP/1 answer');
    if (this.#statusCode < 200) return;
    this.#sink.onHead(this.#statusCode);
    const length = /\r\ncontent-length:[ \t]*(\d+)/i.exec(head);
    this.#left = length ? Number(length[1]) : 0;
    if (/\r\ntransfer-encoding:[ \t]*chunked/i.test(head)) this.#state = 'size';
    else if (this.#statusCode === 204 || this.#statusCode === 304 || (length && this.#left === 0)) this.#finish();
    else this.#state = length ? 'fixed' : 'until-close';
  }

  #readBytes(bytes, at) {
    const end = Math.min(bytes.length, at + this.#left);
    this.#sink.onBody(bytes.subarray(at, end));
    this.#left -= end - at;
    if (this.#left === 0) {
      if (this.#state === 'fixed') this.#finish();
      else this.#state = 'data-end';
    }
    return end;
  }

  #readRest(bytes, at) {
    this.#sink.onBody(bytes.subarray(at));
    return bytes.length;
  }

  /** One byte of a chunk-size line, of the line end after chunk data, or of a trailer line. */
  #readLine(bytes, at) {
    const byte = bytes[at];
    if (byte !== LF) {
      if (byte !== CR) this.#line += String.fromCharCode(byte);
      return at + 1;
    }
    const line = this.#line;
    this.#line = '';
    if (this.#state === 'data-end') this.#state = 'size';
    else if (this.#state === 'trailer') {
      if (line === '') this.#finish();
    } else this.#startChunk(line);
    return at + 1;
  }

  #startChunk(sizeLine) {
    const size = Number.parseInt(sizeLine, 16);
    if (!(size >= 0)) throw new Error('bad chunk size');
    this.#left = size;
    this.#state = size === 0 ? 'trailer' : 'data';
  }

  #finish() {
    this.#state = 'head';
    this.#sink.onEnd(this.#statusCode);
  }
}
