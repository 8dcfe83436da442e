/** Which trace a request belongs to, as its client says. */
export interface TraceParent {
  /** 32 hexadecimal digits, not all zero. */
  readonly traceId: string;
  /** 16 hexadecimal digits, not all zero: the client's own span. */
  readonly spanId: string;
  /** False: the client records nothing of this trace, and asks nobody else to. */
  readonly isSampled: boolean;
}

/** Version, trace, parent, flags; a version that is newer than ours may say more after them. */
const TRACEPARENT = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
const UNKNOWN_VERSION = 'ff';
const VERSION_WITH_NO_MORE = '00';
const SAMPLED = 1;

/**
 * Reads a `traceparent` header; `undefined` where there is none, or none that holds: then a trace of our own begins.
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
