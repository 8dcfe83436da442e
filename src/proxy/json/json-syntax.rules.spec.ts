import { expect, it } from '@jest/globals';
import fc from 'fast-check';
import { plainTextEnd } from './json-syntax.rules.js';

const isPlain = (byte: number) => byte >= 0x20 && byte !== 0x22 && byte !== 0x5c;

/** Around the range of plain characters, and with the top bit. */
const EDGES = [0x00, 0x1f, 0x20, 0x21, 0x22, 0x23, 0x5b, 0x5c, 0x5d, 0x7f, 0x80, 0x9f, 0xa2, 0xdc, 0xff];

it('any text of any length at any offset in memory → ends at its first byte that is not plain, or at the limit', () => {
  const text = fc.record({
    before: fc.nat({ max: 9 }),
    length: fc.nat({ max: 300 }),
    special: fc.array(fc.tuple(fc.nat({ max: 320 }), fc.constantFrom(...EDGES)), { maxLength: 6 }),
    fill: fc.constantFrom(0x20, 0x62, 0x7f, 0x80, 0xe4, 0xff),
    cut: fc.nat({ max: 20 }),
  });
  fc.assert(
    fc.property(text, ({ before, length, special, fill, cut }) => {
      const bytes = Buffer.alloc(before + length + 20, fill).subarray(before);
      for (const [at, byte] of special) if (at < bytes.length) bytes[at] = byte;
      const limit = Math.max(0, length - cut);
      const start = Math.min(cut, limit);
      const found = bytes.findIndex((byte, at) => at >= start && at < limit && !isPlain(byte));
      expect(plainTextEnd(bytes, start, limit)).toBe(found === -1 ? limit : found);
    }),
    { numRuns: 3_000 },
  );
});

it('each byte at each offset of a word in a long text → ends it unless it is plain', () => {
  const bytes = Buffer.alloc(400, 'b');
  for (let byte = 0; byte <= 0xff; byte++) {
    for (const at of [200, 201, 202, 203]) {
      bytes[at] = byte;
      expect([byte, plainTextEnd(bytes, 0, bytes.length)]).toEqual([byte, isPlain(byte) ? bytes.length : at]);
      bytes[at] = 0x62;
    }
  }
});
