import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { Ids, SystemIds } from './ids.js';

/** Returns the bytes 0, 1, 2, … cyclically: every value equally often. */
class CountingIds extends Ids {
  #next = 0;

  bytes(length: number): Buffer {
    return Buffer.from(Array.from({ length }, () => this.#next++ % 256));
  }

  uuid(): string {
    return '00000000-0000-4000-8000-000000000000';
  }
}

type Alphabet = 'base62' | 'base36' | 'crockford32';

const ALPHABETS: [Alphabet, RegExp, number][] = [
  ['base62', /^[0-9A-Za-z]*$/, 62],
  ['base36', /^[0-9a-z]*$/, 36],
  ['crockford32', /^[0-9a-hjkmnp-tv-z]*$/, 32],
];

function countsOf(text: string): number[] {
  const counts = new Map<string, number>();
  for (const character of text) counts.set(character, (counts.get(character) ?? 0) + 1);
  return [...counts.values()];
}

describe.each(ALPHABETS)('%s', (alphabet, form, size) => {
  it('any length → that many characters of the alphabet', () => {
    const ids = new SystemIds();
    fc.assert(
      fc.property(fc.nat(300), (length) => {
        const text = ids[alphabet](length);
        expect(text).toHaveLength(length);
        expect(text).toMatch(form);
      }),
    );
  });

  it('uniform bytes → uniform characters: no modulo bias', () => {
    const wholeRounds = 256 - (256 % size);
    const text = new CountingIds()[alphabet](wholeRounds);
    expect(countsOf(text)).toEqual(Array(size).fill(wholeRounds / size));
  });
});

describe('SystemIds', () => {
  const ids = new SystemIds();

  it('48 characters, ten thousand times → never the same twice', () => {
    expect(new Set(Array.from({ length: 10_000 }, () => ids.base62(48))).size).toBe(10_000);
  });

  it('uuid → version 4, different each time', () => {
    expect(ids.uuid()).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(ids.uuid()).not.toBe(ids.uuid());
  });

  it('bytes → as many as requested, not all the same', () => {
    expect(ids.bytes(0)).toHaveLength(0);
    expect(ids.bytes(32)).toHaveLength(32);
    expect(new Set(ids.bytes(256)).size).toBeGreaterThan(100);
  });
});
