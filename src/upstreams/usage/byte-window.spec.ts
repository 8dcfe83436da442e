import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { ByteWindow, copyOfView } from './byte-window.js';

describe('ByteWindow', () => {
  it('any chunks → all bytes while they fit, then the first and the last ones', () => {
    const sizes = fc.integer({ min: 1, max: 40 });
    const chunks = fc.array(fc.uint8Array({ maxLength: 90 }), { maxLength: 12 });
    fc.assert(
      fc.property(sizes, sizes, chunks, (headBytes, tailBytes, parts) => {
        const window = new ByteWindow(headBytes, tailBytes);
        for (const part of parts) window.append(Buffer.from(part));
        const all = Buffer.concat(parts);
        const { head, tail } = window.view();
        expect(window.length).toBe(all.length);
        if (all.length <= headBytes + tailBytes) {
          expect(head.equals(all)).toBe(true);
          expect(tail).toBeUndefined();
        } else {
          expect(head.equals(all.subarray(0, headBytes))).toBe(true);
          expect(tail?.equals(all.subarray(all.length - tailBytes))).toBe(true);
        }
      }),
    );
  });

  it('a chunk that its owner overwrites later → was copied', () => {
    const window = new ByteWindow(2, 4);
    const chunk = Buffer.from('abc');
    window.append(chunk);
    chunk.fill('x');
    expect(window.view().head.toString()).toBe('abc');
  });

  it('a kept view → a copy with its own memory', () => {
    const window = new ByteWindow(8, 4);
    window.append(Buffer.from('abc'));
    const { head } = copyOfView(window.view());
    window.clear();
    window.append(Buffer.from('xyz'));
    expect(head.toString()).toBe('abc');
    expect(head.buffer.byteLength).toBe(3);
  });

  it('clear → starts again, also after an overflow', () => {
    const window = new ByteWindow(2, 4);
    window.append(Buffer.from('0123456789'));
    window.clear();
    window.append(Buffer.from('ab'));
    expect(window.view()).toEqual({ head: Buffer.from('ab') });
  });
});
