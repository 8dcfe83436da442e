import { Injectable } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { AppDirectoryService } from '../../app-directory/app-directory.service.js';
import { Log } from '../../common/log/log.js';
import { SharedClock } from '../../platform/clock/shared-clock.js';
import { Environment } from '../../platform/config/environment.js';
import { Metrics } from '../../platform/metrics/metrics.js';
import { KeptStream, type StreamFacts, type StreamKeeper } from './kept-stream.js';

/** Name of the interval in the scheduler. */
const STREAM_SWEEP = 'stream-sweep';
const SWEEP_EVERY_MS = 1_000;
const EVICTIONS_LOGGED_EVERY_MS = 60_000;

/**
 * The kept answers of this process, by the mark of their id, in bounded memory. If there is no room, the answer that
 * ended first is dropped; if none has ended, the one that began first.
 *
 * Log line: streams_evicted.
 */
@Injectable()
export class StreamStore implements StreamKeeper {
  /** In the order in which they began. */
  readonly #live = new Map<string, KeptStream>();
  /** In the order of their end. */
  readonly #ended = new Map<string, KeptStream>();
  readonly #maxBytes: number;
  #bytes = 0;
  #evicted = 0;
  #loggedAtMs = Number.NEGATIVE_INFINITY;

  constructor(
    private readonly apps: AppDirectoryService,
    private readonly clock: SharedClock,
    private readonly log: Log,
    private readonly metrics: Metrics,
    environment: Environment,
  ) {
    this.#maxBytes = environment.STREAM_STORE_BYTES;
    metrics.streamBytes.read = () => this.#bytes;
    metrics.streamsKept.read = () => this.#live.size + this.#ended.size;
  }

  begin(facts: StreamFacts): KeptStream {
    const stream = new KeptStream(facts, this);
    this.#live.set(facts.mark, stream);
    return stream;
  }

  find(mark: string): KeptStream | undefined {
    const stream = this.#live.get(mark) ?? this.#ended.get(mark);
    return stream !== undefined && stream.expiresAtMs > this.clock.nowMs() ? stream : undefined;
  }

  reserve(stream: KeptStream, bytes: number): boolean {
    while (this.#bytes + bytes > this.#maxBytes) {
      const [oldest = stream] = this.#ended.size > 0 ? this.#ended.values() : this.#live.values();
      this.#evicted++;
      this.metrics.streamsEvicted.of().add();
      this.forget(oldest);
      if (oldest === stream) return false;
    }
    this.#bytes += bytes;
    return true;
  }

  release(_stream: KeptStream, bytes: number): void {
    this.#bytes -= bytes;
  }

  ended(stream: KeptStream): void {
    const { mark, resumeSeconds } = stream.facts;
    stream.expiresAtMs = this.clock.nowMs() + resumeSeconds * 1000;
    if (this.#live.delete(mark)) this.#ended.set(mark, stream);
  }

  forget(stream: KeptStream): void {
    stream.drop();
    this.#live.delete(stream.facts.mark);
    this.#ended.delete(stream.facts.mark);
  }

  /** Drops expired answers, and those of applications that no longer keep answers. */
  @Interval(STREAM_SWEEP, SWEEP_EVERY_MS)
  sweep(): void {
    const nowMs = this.clock.nowMs();
    for (const streams of [this.#live, this.#ended])
      for (const stream of streams.values())
        if (stream.expiresAtMs <= nowMs || !this.isWanted(stream)) this.forget(stream);
    if (this.#evicted === 0 || nowMs - this.#loggedAtMs < EVICTIONS_LOGGED_EVERY_MS) return;
    this.log.event('streams_evicted', { streams: this.#evicted, maxBytes: this.#maxBytes });
    this.#evicted = 0;
    this.#loggedAtMs = nowMs;
  }

  /** An application that is not in memory is loaded, and checked at the next sweep. */
  private isWanted({ facts }: KeptStream): boolean {
    const app = this.apps.find(facts.appId);
    if (app instanceof Promise) {
      app.catch(() => {});
      return true;
    }
    return app !== undefined && (app.configError !== null || app.streamsOf(facts.endpointSlug) !== undefined);
  }
}
