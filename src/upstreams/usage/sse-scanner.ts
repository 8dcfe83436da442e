import { ByteWindow, type WindowView } from './byte-window.js';
import { endOfLastEvent, SseEventEnds } from './sse-events.js';

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
  private readonly ends = new SseEventEnds();

  constructor(private readonly listener: SseListener) {}

  push(chunk: Buffer): void {
    if (chunk.length === 0) return;
    const from = this.pending.length === 0 ? 0 : this.completePending(chunk);
    if (from >= chunk.length) return;
    const rest = from === 0 ? chunk : chunk.subarray(from);
    const end = endOfLastEvent(rest);
    const whole = end === rest.length ? rest : rest.subarray(0, end);
    if (end > 0 && this.listener.isInteresting(whole)) this.visitEvents(whole);
    if (end >= rest.length) return;
    this.ends.next(rest, end);
    this.pending.append(rest.subarray(end));
  }

  /** Emits the event that the end of the stream truncated. */
  finish(): void {
    this.releasePending();
  }

  /** @returns the offset of the first event that starts in this chunk; its length when the pending event continues. */
  private completePending(chunk: Buffer): number {
    const end = this.ends.next(chunk, 0);
    this.pending.append(end === -1 ? chunk : chunk.subarray(0, end));
    if (end === -1) return chunk.length;
    this.releasePending();
    return end;
  }

  private releasePending(): void {
    if (this.pending.length === 0) return;
    this.offer(this.pending.view());
    this.pending.clear();
  }

  private visitEvents(bytes: Buffer): void {
    let start = 0;
    while (start < bytes.length) {
      const end = this.ends.next(bytes, start);
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
