import { describe, expect, it } from '@jest/globals';
import { otlpBody } from './otlp.rules.js';
import type { Span } from './span.js';

const SPAN: Span = {
  traceId: '4bf92f3577b34da6a3ce929d0e0e4736',
  spanId: '00f067aa0ba902b7',
  parentSpanId: 'b7ad6b7169203331',
  name: 'chat gpt-4.1',
  kind: 'client',
  startedMs: 1_790_000_000_123.456,
  endedMs: 1_790_000_001_000,
  isFailed: false,
  attributes: { text: 'a', count: 3, share: 0.5, flag: true, absent: undefined, none: null, zero: 0 },
};

function spansIn(body: string) {
  return JSON.parse(body).resourceSpans[0].scopeSpans[0].spans;
}

describe('otlpBody (OTLP 1.x, JSON Protobuf Encoding)', () => {
  it('a span → ids unchanged, times as strings of nanoseconds, kinds as numbers, each attribute by its type', () => {
    expect(JSON.parse(otlpBody([SPAN], { 'service.name': 'gateway' }))).toEqual({
      resourceSpans: [
        {
          resource: { attributes: [{ key: 'service.name', value: { stringValue: 'gateway' } }] },
          scopeSpans: [
            {
              scope: { name: 'gateway' },
              spans: [
                {
                  traceId: SPAN.traceId,
                  spanId: SPAN.spanId,
                  parentSpanId: SPAN.parentSpanId,
                  name: 'chat gpt-4.1',
                  kind: 3,
                  startTimeUnixNano: '1790000000123456000',
                  endTimeUnixNano: '1790000001000000000',
                  attributes: [
                    { key: 'text', value: { stringValue: 'a' } },
                    { key: 'count', value: { intValue: '3' } },
                    { key: 'share', value: { doubleValue: 0.5 } },
                    { key: 'flag', value: { boolValue: true } },
                    { key: 'zero', value: { intValue: '0' } },
                  ],
                  status: {},
                },
              ],
            },
          ],
        },
      ],
    });
  });

  it('a failed span without a parent → error status, no parent', () => {
    const [span] = spansIn(otlpBody([{ ...SPAN, kind: 'server', parentSpanId: undefined, isFailed: true }], {}));
    expect(span).toMatchObject({ kind: 2, status: { code: 2 } });
    expect(span).not.toHaveProperty('parentSpanId');
  });

  it('texts longer than 256 characters → truncated', () => {
    const [span] = spansIn(otlpBody([{ ...SPAN, name: 'n'.repeat(300), attributes: { text: 't'.repeat(300) } }], {}));
    expect([span.name.length, span.attributes[0].value.stringValue.length]).toEqual([256, 256]);
  });
});
