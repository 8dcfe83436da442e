import type { Span, SpanAttributes } from './span.js';

/** Source: `SpanKind` and `StatusCode` of opentelemetry/proto/trace/v1. */
const KINDS = { server: 2, client: 3 } as const;
const STATUS_ERROR = 2;

/** Truncates longer texts, such as a model name from a client. */
const MAX_CHARACTERS = 256;

const SCOPE = 'gateway';

/**
 * A batch of spans as the body of an OTLP request in JSON.
 *
 * @param resource common attributes: the service and its instance.
 * Source: OTLP 1.x, "JSON Protobuf Encoding": ids are hexadecimal, 64-bit integers are strings, enumerations are
 * numbers.
 */
export function otlpBody(spans: readonly Span[], resource: SpanAttributes): string {
  return JSON.stringify({
    resourceSpans: [
      {
        resource: { attributes: attributesOf(resource) },
        scopeSpans: [{ scope: { name: SCOPE }, spans: spans.map(spanOf) }],
      },
    ],
  });
}

function spanOf(span: Span): object {
  const { traceId, spanId, parentSpanId, name, kind, startedMs, endedMs, isFailed, attributes } = span;
  return {
    traceId,
    spanId,
    parentSpanId,
    name: cut(name),
    kind: KINDS[kind],
    startTimeUnixNano: nanoseconds(startedMs),
    endTimeUnixNano: nanoseconds(endedMs),
    attributes: attributesOf(attributes),
    status: isFailed ? { code: STATUS_ERROR } : {},
  };
}

function attributesOf(attributes: SpanAttributes): object[] {
  return Object.entries(attributes).flatMap(([key, value]) => {
    if (value === undefined || value === null) return [];
    return [{ key, value: anyValue(value) }];
  });
}

function anyValue(value: string | number | boolean): object {
  if (typeof value === 'string') return { stringValue: cut(value) };
  if (typeof value === 'boolean') return { boolValue: value };
  return Number.isInteger(value) ? { intValue: String(value) } : { doubleValue: value };
}

function cut(text: string): string {
  return text.length > MAX_CHARACTERS ? text.slice(0, MAX_CHARACTERS) : text;
}

/** Rounds to microseconds, which a number holds exactly; nanoseconds since the Unix epoch exceed its precision. */
function nanoseconds(epochMs: number): string {
  return `${Math.round(epochMs * 1000)}000`;
}
