/** The client's trace context. */
export interface TraceParent {
  /** 32 hexadecimal digits, not all zero. */
  readonly traceId: string;
  /** The client's span: 16 hexadecimal digits, not all zero. */
  readonly spanId: string;
  /** False: the client does not record this trace. */
  readonly isSampled: boolean;
}

/** Version, trace id, parent id, flags; a newer version may append more. */
const TRACEPARENT = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
const UNKNOWN_VERSION = 'ff';
const VERSION_WITH_NO_MORE = '00';
const SAMPLED = 1;

/**
 * Parses a `traceparent` header; `undefined` for a missing or invalid one, which starts a new trace.
 *
 * Source: W3C Trace Context, 3.2.
 */
export function parseTraceparent(header: string | undefined): TraceParent | undefined {
  const [, version, traceId = '', spanId = '', flags = '', more] = TRACEPARENT.exec(header ?? '') ?? [];
  if (version === undefined || version === UNKNOWN_VERSION || isZero(traceId) || isZero(spanId)) return undefined;
  if (version === VERSION_WITH_NO_MORE && more !== undefined) return undefined;
  return { traceId, spanId, isSampled: (Number.parseInt(flags, 16) & SAMPLED) === SAMPLED };
}

function isZero(digits: string): boolean {
  return /^0+$/.test(digits);
}
