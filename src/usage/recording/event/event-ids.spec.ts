import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { Ids } from '../../../common/ids.js';
import { EventIds, eventId } from './event-ids.js';

class CountingIds extends Ids {
  asked = 0;
  bytes(length: number): Buffer {
    this.asked++;
    return Buffer.from(Array.from({ length }, (_, index) => (index + this.asked * 7) % 256));
  }
  uuid(): string {
    throw new Error('not asked for');
  }
}

describe('event id', () => {
  it('any time and bytes → 12 hex digits of the time, 20 of the bytes', () => {
    fc.assert(
      fc.property(fc.nat({ max: 2 ** 47 }), fc.uint8Array({ minLength: 30, maxLength: 30 }), (nowMs, bytes) => {
        const id = eventId(nowMs, Buffer.from(bytes), 20);
        expect(id).toMatch(/^[0-9a-f]{32}$/);
        expect(Number.parseInt(id.slice(0, 12), 16)).toBe(nowMs);
        expect(id.slice(12)).toBe(Buffer.from(bytes.subarray(20)).toString('hex'));
      }),
    );
  });

  it.each([
    [-5, '000000000000'],
    [1_763_600_000_123.9, '019a9ec0647b'],
    [2 ** 48 + 1, '000000000001'],
  ])('time %d → still twelve digits', (nowMs, digits) => {
    expect(eventId(nowMs, Buffer.alloc(10), 0)).toBe(digits + '0'.repeat(20));
  });

  it('many ids → one system call for hundreds, and no byte is used twice', () => {
    const source = new CountingIds();
    const ids = new EventIds(source);
    const made = Array.from({ length: 409 }, () => ids.next(1));
    expect(source.asked).toBe(1);
    const expected = new CountingIds().bytes(4096).toString('hex');
    expect(made.map((id) => id.slice(12)).join('')).toBe(expected.slice(0, 409 * 20));
    ids.next(1);
    expect(source.asked).toBe(2);
  });
});
