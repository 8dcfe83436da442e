import { type ELDHistogram, monitorEventLoopDelay } from 'node:perf_hooks';
import { Injectable, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';

/** Sampling interval; included in every value of the histogram. */
const RESOLUTION_MS = 20;
const NS_PER_MS = 1e6;
const MS_PER_SECOND = 1e3;

/** Measures the event loop delay. */
@Injectable()
export class EventLoopDelay implements OnModuleInit, OnApplicationShutdown {
  private histogram: ELDHistogram | undefined;
  private p99Seconds: number | undefined;

  onModuleInit(): void {
    this.histogram = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
    this.histogram.enable();
  }

  onApplicationShutdown(): void {
    this.histogram?.disable();
  }

  /**
   * The 99th percentile since the last call, in seconds; the previous value when nothing was measured since.
   * `undefined` before the first measurement.
   */
  takeP99Seconds(): number | undefined {
    const { histogram } = this;
    if (histogram === undefined || histogram.count === 0) return this.p99Seconds;
    const delayMs = histogram.percentile(99) / NS_PER_MS - RESOLUTION_MS;
    histogram.reset();
    this.p99Seconds = Math.max(0, delayMs) / MS_PER_SECOND;
    return this.p99Seconds;
  }
}
