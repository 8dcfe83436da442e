import { describe, expect, it } from '@jest/globals';
import { parseTraceparent } from './trace-context.rules.js';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const SPAN = '00f067aa0ba902b7';

describe('parseTraceparent (W3C Trace Context 3.2)', () => {
  it.each([
    ['01', true],
    ['00', false],
    ['03', true],
    ['fe', false],
  ])('flags %s → sampled: %s', (flags, isSampled) => {
    expect(parseTraceparent(`00-${TRACE}-${SPAN}-${flags}`)).toEqual({ traceId: TRACE, spanId: SPAN, isSampled });
  });

  it('a newer version with more fields → the known fields', () => {
    expect(parseTraceparent(`01-${TRACE}-${SPAN}-01-more`)).toEqual({ traceId: TRACE, spanId: SPAN, isSampled: true });
  });

  it.each([
    [undefined],
    [''],
    ['nonsense'],
    [`ff-${TRACE}-${SPAN}-01`],
    [`00-${TRACE}-${SPAN}-01-more`],
    [`00-${TRACE}-${SPAN}-1`],
    [`00-${TRACE.toUpperCase()}-${SPAN}-01`],
    [`00-${'0'.repeat(32)}-${SPAN}-01`],
    [`00-${TRACE}-${'0'.repeat(16)}-01`],
    [`00-${TRACE}-${SPAN}-01, 00-${TRACE}-${SPAN}-01`],
    [`00-${TRACE}-${SPAN}-01\n`],
  ])('%j → none', (header) => {
    expect(parseTraceparent(header)).toBeUndefined();
  });
});
