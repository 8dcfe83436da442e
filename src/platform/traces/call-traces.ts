import type { Clock } from '../../common/clock.js';
import type { Ids } from '../../common/ids.js';
import { RequestTrace, type SpanIds } from './request-trace.js';
import type { TracedRequest } from './span.js';
import type { SpanQueue } from './span-queue.js';
import { parseTraceparent } from './trace-context.rules.js';

const TRACE_ID_BYTES = 16;
const SPAN_ID_BYTES = 8;

/** Starts the trace of a request, or continues the client's. */
export class CallTraces {
  readonly #ids: SpanIds;

  constructor(
    ids: Ids,
    private readonly clock: Clock,
    private readonly queue: SpanQueue,
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
    return new RequestTrace(request, parent, this.#ids, this.clock, this.queue);
  }
}
