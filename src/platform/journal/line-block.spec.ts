import { expect, it } from '@jest/globals';
import fc from 'fast-check';
import { bytesOf, LineBlocks } from './line-block.js';

const KIB = 1024;
const kindOf = (tail: string) => ({ json: '', end: Buffer.alloc(0), tail: Buffer.from(tail) });

it('any lines, even larger than a block → their bytes in order, whichever blocks are reused meanwhile', () => {
  const text = fc.oneof(
    fc.string({ unit: 'grapheme' }),
    fc.nat({ max: 200 }).map((kib) => 'ä'.repeat(kib * KIB)),
  );
  const line = fc.record({ head: text, tail: text, isReleased: fc.boolean() });
  fc.assert(
    fc.property(fc.array(line, { maxLength: 40 }), (lines) => {
      const blocks = new LineBlocks<null>();
      const held = lines.map(({ head, tail, isReleased }) => {
        const encoded = blocks.encode(null, 'S', head, kindOf(tail));
        expect(encoded.headLength).toBe(Buffer.byteLength(head));
        if (isReleased) blocks.release(encoded.block);
        return { encoded, text: `S${head}${tail}\n`, isReleased };
      });
      const kept = held.filter(({ isReleased }) => !isReleased);
      expect(bytesOf(kept.map(({ encoded }) => encoded)).toString()).toBe(kept.map(({ text: one }) => one).join(''));
    }),
    { numRuns: 60 },
  );
});

it('block whose lines are all released → reused', () => {
  const blocks = new LineBlocks<null>();
  const seen = new Set<Buffer>();
  for (let count = 0; count < 2_000; count++) {
    const { block } = blocks.encode(null, 'A', 'x'.repeat(KIB), undefined);
    seen.add(block.bytes);
    blocks.release(block);
  }
  expect(seen.size).toBeLessThan(4);
});
