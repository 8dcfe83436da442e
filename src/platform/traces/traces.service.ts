import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { Clock } from '../../common/clock.js';
import { Ids } from '../../common/ids.js';
import { Log } from '../../common/log/log.js';
import { Environment } from '../config/environment.js';
import { InstanceRegistry } from '../instances/instance-registry.js';
import { Metrics } from '../metrics/metrics.js';
import { CallTraces } from './call-traces.js';
import { OtlpCollector } from './otlp-collector.js';
import { SpanQueue } from './span-queue.js';

const SERVICE_NAME = 'gateway';
const CLOSE_WITHIN_MS = 2_000;

/** Traces provider calls when a collector is configured; otherwise does nothing. */
@Injectable()
export class Traces implements OnApplicationShutdown {
  /** Absent without a collector. */
  readonly calls: CallTraces | undefined;
  readonly #queue: SpanQueue | undefined;
  readonly #collector: OtlpCollector | undefined;

  constructor(
    { OTEL_EXPORTER_OTLP_ENDPOINT: base }: Environment,
    { id }: InstanceRegistry,
    metrics: Metrics,
    clock: Clock,
    ids: Ids,
    log: Log,
  ) {
    if (base === undefined) return;
    const collector = new OtlpCollector(base, { 'service.name': SERVICE_NAME, 'service.instance.id': id });
    const counts = {
      exported: (spans: number) => metrics.traceSpans.of('exported').add(spans),
      lost: (spans: number) => metrics.traceSpans.of('lost').add(spans),
    };
    const queue = new SpanQueue({ collector, counts, clock, log });
    this.calls = new CallTraces(ids, clock, queue);
    this.#queue = queue;
    this.#collector = collector;
  }

  async onApplicationShutdown(): Promise<void> {
    await this.#queue?.close(CLOSE_WITHIN_MS);
    await this.#collector?.close();
  }
}
