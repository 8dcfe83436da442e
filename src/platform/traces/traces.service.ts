import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { Clock } from '../../common/clock.js';
import { Ids } from '../../common/ids.js';
import { Log } from '../../common/log/log.js';
import { Environment } from '../config/environment.js';
import { InstanceRegistry } from '../instances/instance-registry.js';
import { Metrics } from '../metrics/metrics.js';
import { OtlpCollector } from './otlp-collector.js';
import { RequestTrace, type SpanIds } from './request-trace.js';
import type { TracedRequest } from './span.js';
import { SpanBatch } from './span-batch.js';
import { parseTraceparent } from './trace-context.rules.js';

const SERVICE_NAME = 'gateway';
const CLOSE_WITHIN_MS = 2_000;

/** Traces provider calls when a collector is configured; otherwise does nothing. */
@Injectable()
export class Traces implements OnApplicationShutdown {
  /** Absent without a collector. */
  readonly calls: CallTraces | undefined;
  readonly #spans: SpanBatch | undefined;
  readonly #collector: OtlpCollector | undefined;

  constructor(environment: Environment, { id }: InstanceRegistry, metrics: Metrics, clock: Clock, ids: Ids, log: Log) {
    const { OTEL_EXPORTER_OTLP_ENDPOINT: base } = environment;
    if (base === undefined) return;
    const resource = { 'service.name': SERVICE_NAME, 'service.instance.id': id };
    const collector = new OtlpCollector(base, resource, environment);
    const counts = {
      exported: (spans: number) => metrics.traceSpans.of('exported').add(spans),
      lost: (spans: number) => metrics.traceSpans.of('lost').add(spans),
    };
    const spans = new SpanBatch({ collector, counts, clock, log });
    this.calls = new CallTraces(ids, clock, spans);
    this.#spans = spans;
    this.#collector = collector;
  }

  async onApplicationShutdown(): Promise<void> {
    await this.#spans?.close(CLOSE_WITHIN_MS);
    await this.#collector?.close();
  }
}

const TRACE_ID_BYTES = 16;
const SPAN_ID_BYTES = 8;

/** Starts the trace of a request, or continues the client's. */
export class CallTraces {
  readonly #ids: SpanIds;

  constructor(
    ids: Ids,
    private readonly clock: Clock,
    private readonly spans: SpanBatch,
  ) {
    this.#ids = {
      traceId: () => ids.bytes(TRACE_ID_BYTES).toString('hex'),
      spanId: () => ids.bytes(SPAN_ID_BYTES).toString('hex'),
    };
  }

  /** `undefined` when the client's trace is not sampled. */
  begin(request: TracedRequest): RequestTrace | undefined {
    const parent = parseTraceparent(request.traceparent);
    if (parent?.isSampled === false) return undefined;
    return new RequestTrace(request, parent, this.#ids, this.clock, this.spans);
  }
}
