import { describe, expect, it } from '@jest/globals';
import { dayText, slotLook } from './day-strip.rules';

const SINCE_MS = Date.parse('2026-03-01T00:00:00Z');

describe('the strip of a day', () => {
  it.each([
    [null, 'unknown'],
    [0, 'good'],
    [0.01, 'some'],
    [0.49, 'some'],
    [0.5, 'bad'],
    [1, 'bad'],
  ] as const)('share %j → %s', (share, look) => expect(slotLook(share)).toBe(look));

  it('no sample, no failure, failures → described in a sentence', () => {
    expect(dayText(SINCE_MS, 900, [null, null])).toBe('No history yet: the first sample comes within a minute.');
    expect(dayText(SINCE_MS, 900, [null, 0, 0])).toBe('No failure in the last 24 hours.');
    const at = new Intl.DateTimeFormat(undefined, { timeStyle: 'short' }).format(SINCE_MS + 1_800_000);
    expect(dayText(SINCE_MS, 900, [null, 0.1, 1, 0])).toBe(
      `Failures in 2 of 3 quarter-hours of the last 24 hours, the last one from ${at}.`,
    );
  });
});
