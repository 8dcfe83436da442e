import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock } from '../../common/clock.js';
import { errorText } from '../../common/errors/error-text.js';
import { systemErrorCode } from '../../common/errors/system-error-code.js';
import type { Log } from '../../common/log/log.js';
import { backoffMs } from '../database/retry-unreachable.js';
import type { Span } from './span.js';

/** Maximum spans that wait: about 8 MB. */
const MAX_WAITING = 8_192;
const BATCH_SPANS = 512;
const FLUSH_MS = 1_000;
const BACKOFF = { minMs: 1_000, maxMs: 30_000 };
/** Minimum interval between two log lines about lost spans. */
const LOG_EVERY_MS = 60_000;

export interface SpanCollector {
  /**
   * Delivers a batch.
   *
   * @returns the number of spans that the collector rejected.
   * @throws SpansRefused permanently; any other error allows a retry.
   */
  deliver(spans: readonly Span[]): Promise<number>;
}

/** The collector rejects the batch permanently. */
export class SpansRefused extends Error {}

/** Receives counts of exported and lost spans. */
interface SpanCounts {
  exported(spans: number): void;
  lost(spans: number): void;
}

interface SpanBatchParts {
  readonly collector: SpanCollector;
  readonly counts: SpanCounts;
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * Collects spans and sends them to the collector: many at once, one delivery at a time, within a second. A failed one
 * is retried later; while too many spans wait, new ones are dropped. Adding a span never waits or fails. A full batch
 * is sent within `add`, which `WriteBatch` does not (ADR 0055).
 */
export class SpanBatch {
  readonly #spans: Span[] = [];
  #timer: NodeJS.Timeout | undefined;
  #sending: Promise<void> | undefined;
  #failures = 0;
  #isClosed = false;
  #lostUntold = 0;
  #toldMs = Number.NEGATIVE_INFINITY;

  constructor(private readonly parts: SpanBatchParts) {}

  add(span: Span): void {
    if (this.#spans.length >= MAX_WAITING) {
      this.#lose(1, 'too many spans wait');
      return;
    }
    this.#spans.push(span);
    if (this.#spans.length >= BATCH_SPANS && this.#failures === 0) this.#run();
    else this.#runLater();
  }

  /** Sends all spans, each once, within the given time; the rest is dropped. Nothing is sent afterwards. */
  async close(withinMs: number): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    const timeIsOver = new AbortController();
    const patience = sleep(withinMs, undefined, { signal: timeIsOver.signal }).catch(() => undefined);
    await Promise.race([this.#drain(), patience]);
    timeIsOver.abort();
    if (this.#spans.length > 0) this.#lose(this.#spans.splice(0).length, 'the process ends');
    if (this.#lostUntold > 0) this.#tell('the process ends');
  }

  async #drain(): Promise<void> {
    await this.#sending;
    for (let failures = -1; this.#spans.length > 0 && failures !== this.#failures; ) {
      failures = this.#failures + 1;
      this.#run();
      await this.#sending;
    }
  }

  #runLater(): void {
    if (this.#isClosed || this.#timer !== undefined || this.#sending !== undefined) return;
    const pauseMs = this.#failures === 0 ? FLUSH_MS : backoffMs(this.#failures, BACKOFF);
    this.#timer = setTimeout(() => this.#run(), pauseMs);
    this.#timer.unref();
  }

  #run(): void {
    if (this.#sending !== undefined || this.#spans.length === 0) return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#sending = this.#deliver(this.#spans.splice(0, BATCH_SPANS)).finally(() => {
      this.#sending = undefined;
      if (this.#isClosed) return;
      if (this.#spans.length >= BATCH_SPANS && this.#failures === 0) this.#run();
      else if (this.#spans.length > 0) this.#runLater();
    });
  }

  async #deliver(batch: Span[]): Promise<void> {
    try {
      const refused = await this.parts.collector.deliver(batch);
      this.#failures = 0;
      this.parts.counts.exported(batch.length - refused);
      if (refused > 0) this.#lose(refused, 'the collector refused them');
    } catch (error) {
      const reason = reasonOf(error);
      if (error instanceof SpansRefused) {
        this.#lose(batch.length, reason);
        return;
      }
      this.#failures++;
      this.#spans.unshift(...batch);
      this.#tellSeldom(reason);
    }
  }

  #lose(spans: number, reason: string): void {
    this.parts.counts.lost(spans);
    this.#lostUntold += spans;
    this.#tellSeldom(reason);
  }

  /** Limits the log rate; later losses are reported in the next line. */
  #tellSeldom(error: string): void {
    if (this.parts.clock.monotonicMs() - this.#toldMs >= LOG_EVERY_MS) this.#tell(error);
  }

  #tell(error: string): void {
    this.#toldMs = this.parts.clock.monotonicMs();
    this.parts.log.event('traces_export_failed', { lost: this.#lostUntold, error });
    this.#lostUntold = 0;
  }
}

function reasonOf(error: unknown): string {
  return systemErrorCode(error) ?? errorText(error);
}
