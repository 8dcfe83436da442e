/** What a span says of its work, by the names of the semantic conventions; members without a value are left out. */
export type SpanAttributes = Readonly<Record<string, string | number | boolean | null | undefined>>;

/** A piece of work that is done. Times are milliseconds since the Unix epoch, with a fraction. */
export interface Span {
  /** 32 hexadecimal digits. */
  readonly traceId: string;
  /** 16 hexadecimal digits. */
  readonly spanId: string;
  readonly parentSpanId: string | undefined;
  readonly name: string;
  /** Whether it answered a request, or made one. */
  readonly kind: 'server' | 'client';
  readonly startedMs: number;
  readonly endedMs: number;
  readonly isFailed: boolean;
  readonly attributes: SpanAttributes;
}

/** A request of a client that goes to a provider. Holds nothing of its body and no credential. */
export interface TracedRequest {
  /** The header of that name, as it was sent. */
  readonly traceparent: string | undefined;
  readonly method: string;
  /** The pattern of the path. */
  readonly route: string;
  /** Milliseconds since the Unix epoch. */
  readonly receivedMs: number;
  readonly attributes: SpanAttributes;
}

/** How such a request ended. */
export interface TracedAnswer {
  /** The status that was sent; 0 when the client left before there was any. */
  readonly status: number;
  /** Why the answer broke off, or never came; null when it did. */
  readonly error: string | null;
  readonly clientAborted: boolean;
}

/** One call to a provider, for such a request. */
export interface TracedCall {
  /** What was asked for, such as `chat`, and of which model. */
  readonly operation: string;
  readonly model: string;
  /** Of the monotonic clock. */
  readonly startedMs: number;
  /** The provider's status; 0 when none came. */
  readonly status: number;
  /** What went wrong beside the status. */
  readonly error: string | null;
  readonly attributes: SpanAttributes;
}
