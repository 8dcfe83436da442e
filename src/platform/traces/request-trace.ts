import type { Clock } from '../../common/clock.js';
import type { SpanAttributes, TracedAnswer, TracedCall, TracedRequest } from './span.js';
import type { SpanQueue } from './span-queue.js';
import type { TraceParent } from './trace-context.rules.js';

const FIRST_FAILURE_OF_CLIENT = 400;
const FIRST_FAILURE_OF_OURS = 500;

/** Ids for new spans, in hexadecimal digits. */
export interface SpanIds {
  /** 32 of them. */
  traceId(): string;
  /** 16 of them. */
  spanId(): string;
}

/**
 * The spans of one request: one of kind server for itself, and below it one of kind client for each call to a provider,
 * of which a named endpoint may make several.
 */
export class RequestTrace {
  readonly #traceId: string;
  readonly #spanId: string;
  /** From the monotonic clock to the Unix epoch, in milliseconds. */
  readonly #epochMs: number;
  #ended = false;

  constructor(
    private readonly request: TracedRequest,
    private readonly parent: TraceParent | undefined,
    private readonly ids: SpanIds,
    private readonly clock: Clock,
    private readonly queue: SpanQueue,
  ) {
    this.#traceId = parent?.traceId ?? ids.traceId();
    this.#spanId = ids.spanId();
    this.#epochMs = clock.nowMs() - clock.monotonicMs();
  }

  /** A call to a provider is over. */
  addCall({ operation, model, startedMs, status, error, attributes }: TracedCall): void {
    this.queue.add({
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

  /** The request is over. Said again, it is not heard. */
  end({ status, error, clientAborted }: TracedAnswer): void {
    if (this.#ended) return;
    this.#ended = true;
    const { method, route, receivedMs, attributes } = this.request;
    this.queue.add({
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
