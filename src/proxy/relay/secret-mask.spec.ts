import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { maskText, SecretMask } from './secret-mask.js';

const SECRET = 'sk-abcabcabd-secret';

function pass(chunks: readonly string[]): string {
  const mask = new SecretMask(Buffer.from(SECRET));
  const out = chunks.map((chunk) => mask.push(Buffer.from(chunk))?.toString() ?? '');
  return out.join('') + (mask.end()?.toString() ?? '');
}

describe('SecretMask (decision 3.10)', () => {
  it('body without the secret → the very same chunk passes', () => {
    const chunk = Buffer.from('data: nothing of ours\n\n');
    expect(new SecretMask(Buffer.from(SECRET)).push(chunk)).toBe(chunk);
  });

  it('secret in one chunk → asterisks of the same length', () => {
    expect(pass([`{"error":"bad key ${SECRET}!"}`])).toBe(`{"error":"bad key ${'*'.repeat(SECRET.length)}!"}`);
  });

  it('only a beginning of the secret at the end of the body → passes unchanged', () => {
    expect(pass(['text sk-abc', 'abc'])).toBe('text sk-abcabc');
  });

  it('any text cut anywhere → the whole text with every occurrence masked', () => {
    const piece = fc.oneof(fc.constant(SECRET), fc.constant('sk-abcabc'), fc.constant('sk-'), fc.string());
    fc.assert(
      fc.property(fc.array(piece), fc.array(fc.nat(40)), (pieces, cuts) => {
        const text = pieces.join('');
        const bytes = Buffer.from(text, 'latin1');
        const mask = new SecretMask(Buffer.from(SECRET));
        const out: Buffer[] = [];
        let at = 0;
        for (const cut of [...cuts, bytes.length]) {
          out.push(mask.push(bytes.subarray(at, at + cut)) ?? Buffer.alloc(0));
          at = Math.min(bytes.length, at + cut);
        }
        out.push(mask.end() ?? Buffer.alloc(0));
        const expected = bytes.toString('latin1').replaceAll(SECRET, '*'.repeat(SECRET.length));
        expect(Buffer.concat(out).toString('latin1')).toBe(expected);
      }),
    );
  });

  it('header value → masked likewise', () => {
    expect(maskText(`Bearer ${SECRET}`, SECRET)).toBe(`Bearer ${'*'.repeat(SECRET.length)}`);
    expect(maskText('short sk-1 stays', 'sk-1')).toBe('short sk-1 stays');
  });
});
