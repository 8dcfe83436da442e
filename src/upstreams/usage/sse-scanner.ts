import { ByteWindow, type WindowView } from './byte-window.js';

const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const HEAD_BYTES = 4 * 1024;
const TAIL_BYTES = 1024 * 1024;

/** Callbacks of a scanner. Views and chunks are valid during the call only. */
export interface SseListener {
  /** Whether the bytes, complete events or parts of them, need inspection event by event. */
  isInteresting(bytes: Buffer): boolean;
  /**
   * One complete event in its raw lines, or the truncated one at the end of the stream. Called for interesting events
   * only.
   */
  onEvent(event: WindowView): void;
}

/**
 * Splits an event stream into events, independent of chunk boundaries. A chunk of complete events without anything of
 * interest costs one `isInteresting` call and no copy. Only an incomplete event is copied, up to its first 4 KiB and
 * last 1 MiB.
 */
export class SseScanner {
  private readonly pending = new ByteWindow(HEAD_BYTES, TAIL_BYTES);
  /** The last two bytes of the pending event: a chunk boundary may split a blank line. */
  private beforeLast = 0;
  private last = 0;

  constructor(private readonly listener: SseListener) {}

  push(chunk: Buffer): void {
    if (chunk.length === 0) return;
    const from = this.pending.length === 0 ? 0 : this.completePending(chunk);
    if (from >= chunk.length) return;
    const rest = from === 0 ? chunk : chunk.subarray(from);
    const end = endOfLastEvent(rest);
    const whole = end === rest.length ? rest : rest.subarray(0, end);
    if (end > 0 && this.listener.isInteresting(whole)) this.visitEvents(whole);
    if (end < rest.length) this.hold(rest.subarray(end));
  }

  /** Emits the event that the end of the stream truncated. */
  finish(): void {
    this.releasePending();
  }

  /** @returns the offset of the first event that starts in this chunk; its length when the pending event continues. */
  private completePending(chunk: Buffer): number {
    let end = endAcross(this.beforeLast, this.last, chunk);
    if (end === -1) end = endOfEvent(chunk, 0);
    this.hold(end === -1 ? chunk : chunk.subarray(0, end));
    if (end === -1) return chunk.length;
    this.releasePending();
    return end;
  }

  private hold(bytes: Buffer): void {
    this.pending.append(bytes);
    this.beforeLast = bytes.length > 1 ? (bytes[bytes.length - 2] ?? 0) : this.last;
    this.last = bytes[bytes.length - 1] ?? this.last;
  }

  private releasePending(): void {
    if (this.pending.length === 0) return;
    this.offer(this.pending.view());
    this.pending.clear();
    this.beforeLast = 0;
    this.last = 0;
  }

  private visitEvents(bytes: Buffer): void {
    let start = 0;
    while (start < bytes.length) {
      const found = endOfEvent(bytes, start);
      const end = found === -1 ? bytes.length : found;
      this.visit(bytes.subarray(start, end));
      start = end;
    }
  }

  private visit(event: Buffer): void {
    if (event.length <= HEAD_BYTES + TAIL_BYTES) {
      this.offer({ head: event });
      return;
    }
    this.pending.append(event);
    this.releasePending();
  }

  private offer(event: WindowView): void {
    const interesting =
      this.listener.isInteresting(event.head) || (event.tail !== undefined && this.listener.isInteresting(event.tail));
    if (interesting) this.listener.onEvent(event);
  }
}

/** The index after the next blank line, or -1. Lines end in LF or CRLF. */
function endOfEvent(bytes: Buffer, from: number): number {
  for (let at = bytes.indexOf(LINE_FEED, from); at !== -1; at = bytes.indexOf(LINE_FEED, at + 1)) {
    if (bytes[at + 1] === LINE_FEED) return at + 2;
    if (bytes[at + 1] === CARRIAGE_RETURN && bytes[at + 2] === LINE_FEED) return at + 3;
  }
  return -1;
}

/** The index after the last blank line, or 0 when there is none. */
function endOfLastEvent(bytes: Buffer): number {
  for (let at = bytes.lastIndexOf(LINE_FEED); at > 0; at = bytes.lastIndexOf(LINE_FEED, at - 1)) {
    const before = bytes[at - 1];
    if (before === LINE_FEED || (before === CARRIAGE_RETURN && bytes[at - 2] === LINE_FEED)) return at + 1;
  }
  return 0;
}

/** Like {@link endOfEvent} for a blank line that starts in the two bytes before this chunk. */
function endAcross(beforeLast: number, last: number, chunk: Buffer): number {
  if (last === LINE_FEED) {
    if (chunk[0] === LINE_FEED) return 1;
    if (chunk[0] === CARRIAGE_RETURN && chunk[1] === LINE_FEED) return 2;
  }
  return beforeLast === LINE_FEED && last === CARRIAGE_RETURN && chunk[0] === LINE_FEED ? 1 : -1;
}
