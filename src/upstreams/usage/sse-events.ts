const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;

/**
 * Finds the ends of events in an event stream, independent of chunk boundaries. An event ends after a blank line; lines
 * end in LF or CRLF, as providers send them. A CR alone ends no line here, unlike in `StreamHead`, which reads as
 * browsers do: this sees every chunk of every stream, and must neither visit each byte nor wait for the byte after a
 * CR.
 */
export class SseEventEnds {
  /** Content so far of the line that the last chunk left unfinished. */
  #line: 'empty' | 'cr' | 'text' = 'empty';

  /** Whether the last chunk ended within a line. */
  get isWithinLine(): boolean {
    return this.#line !== 'empty';
  }

  /**
   * The offset after the next blank line at or after `from`; -1 when none ends in this chunk. Until -1 is returned, the
   * next call continues at the returned offset.
   */
  next(chunk: Buffer, from: number): number {
    for (let start = from; ; ) {
      const newline = chunk.indexOf(LINE_FEED, start);
      const end = newline === -1 ? chunk.length : newline;
      if (end > start) {
        const isReturn = this.#line === 'empty' && end - start === 1 && chunk[start] === CARRIAGE_RETURN;
        this.#line = isReturn ? 'cr' : 'text';
      }
      if (newline === -1) return -1;
      const isBlank = this.#line !== 'text';
      this.#line = 'empty';
      start = newline + 1;
      if (isBlank) return start;
    }
  }
}

/** The offset after the last blank line of bytes that begin with an event; 0 when there is none. */
export function endOfLastEvent(bytes: Buffer): number {
  for (let at = bytes.lastIndexOf(LINE_FEED); at >= 0; at = at === 0 ? -1 : bytes.lastIndexOf(LINE_FEED, at - 1)) {
    const lineEnd = bytes[at - 1] === CARRIAGE_RETURN ? at - 1 : at;
    if (lineEnd === 0 || bytes[lineEnd - 1] === LINE_FEED) return at + 1;
  }
  return 0;
}
