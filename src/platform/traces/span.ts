/** Attributes of a span, named after the semantic conventions; members without a value are omitted. */
export type SpanAttributes = Readonly<Record<string, string | number | boolean | null | undefined>>;

/** A finished operation. Times are fractional milliseconds since the Unix epoch. */
export interface Span {
  /** 32 hexadecimal digits. */
  readonly traceId: string;
  /** 16 hexadecimal digits. */
  readonly spanId: string;
  readonly parentSpanId: string | undefined;
  readonly name: string;
  /** Server: answered a request; client: made one. */
  readonly kind: 'server' | 'client';
  readonly startedMs: number;
  readonly endedMs: number;
  readonly isFailed: boolean;
  readonly attributes: SpanAttributes;
}

/** A client request to a provider. Holds no part of the body and no credential. */
export interface TracedRequest {
  /** The `traceparent` header as sent. */
  readonly traceparent: string | undefined;
  readonly method: string;
  /** The route pattern. */
  readonly route: string;
  /** Milliseconds since the Unix epoch. */
  readonly receivedMs: number;
  readonly attributes: SpanAttributes;
}

/** The end of a traced request. */
export interface TracedAnswer {
  /** Status sent to the client; 0 when the client disconnected first. */
  readonly status: number;
  /** Why the response broke off or is missing; null for a complete one. */
  readonly error: string | null;
  readonly clientAborted: boolean;
}

/** One provider call of a traced request. */
export interface TracedCall {
  /** The requested operation, such as `chat`, and its model. */
  readonly operation: string;
  readonly model: string;
  /** Time of the monotonic clock. */
  readonly startedMs: number;
  /** The provider's status; 0 without a response. */
  readonly status: number;
  /** An error other than the status. */
  readonly error: string | null;
  readonly attributes: SpanAttributes;
}
