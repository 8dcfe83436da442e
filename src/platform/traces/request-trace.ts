import type { Clock } from '../../common/clock.js';
import type { SpanAttributes, TracedAnswer, TracedCall, TracedRequest } from './span.js';
import type { SpanBatch } from './span-batch.js';
import type { TraceParent } from './trace-context.rules.js';

const FIRST_FAILURE_OF_CLIENT = 400;
const FIRST_FAILURE_OF_OURS = 500;

/** Generates span and trace ids in hexadecimal. */
export interface SpanIds {
  /** 32 digits. */
  traceId(): string;
  /** 16 digits. */
  spanId(): string;
}

/**
 * The spans of one request: a server span and, below it, one client span per provider call. A named endpoint may make
 * several.
 */
export class RequestTrace {
  readonly #traceId: string;
  readonly #spanId: string;
  /** Offset from the monotonic clock to the Unix epoch, in milliseconds. */
  readonly #epochMs: number;
  #ended = false;

  constructor(
    private readonly request: TracedRequest,
    private readonly parent: TraceParent | undefined,
    private readonly ids: SpanIds,
    private readonly clock: Clock,
    private readonly spans: SpanBatch,
  ) {
    this.#traceId = parent?.traceId ?? ids.traceId();
    this.#spanId = ids.spanId();
    this.#epochMs = clock.nowMs() - clock.monotonicMs();
  }

  /** Records a finished provider call. */
  addCall({ operation, model, startedMs, status, error, attributes }: TracedCall): void {
    this.spans.add({
      traceId: this.#traceId,
      spanId: this.ids.spanId(),
      parentSpanId: this.#spanId,
      name: `${operation} ${model}`,
      kind: 'client',
      startedMs: this.#epochMs + startedMs,
      endedMs: this.#nowMs(),
      isFailed: error !== null || status >= FIRST_FAILURE_OF_CLIENT,
      attributes: {
        'gen_ai.operation.name': operation,
        'gen_ai.request.model': model,
        ...attributes,
        ...outcome(status, error, FIRST_FAILURE_OF_CLIENT),
      },
    });
  }

  /** Records the end of the request; later calls have no effect. */
  end({ status, error, clientAborted }: TracedAnswer): void {
    if (this.#ended) return;
    this.#ended = true;
    const { method, route, receivedMs, attributes } = this.request;
    this.spans.add({
      traceId: this.#traceId,
      spanId: this.#spanId,
      parentSpanId: this.parent?.spanId,
      name: `${method} ${route}`,
      kind: 'server',
      startedMs: receivedMs,
      endedMs: Math.max(receivedMs, this.#nowMs()),
      isFailed: error !== null || status >= FIRST_FAILURE_OF_OURS,
      attributes: {
        'http.request.method': method,
        'http.route': route,
        ...attributes,
        'gateway.client_aborted': clientAborted || undefined,
        ...outcome(status, error, FIRST_FAILURE_OF_OURS),
      },
    });
  }

  #nowMs(): number {
    return this.#epochMs + this.clock.monotonicMs();
  }
}

function outcome(status: number, error: string | null, firstFailure: number): SpanAttributes {
  return {
    'http.response.status_code': status || undefined,
    'error.type': error ?? (status >= firstFailure ? String(status) : undefined),
  };
}
