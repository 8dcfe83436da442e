import { describe, expect, it } from '@jest/globals';
import { firstEventDay } from './usage-range.rules.js';

describe('firstEventDay', () => {
  it('90 days back, over leap Februaries too', () => {
    expect(firstEventDay('2024-05-29')).toBe('2024-02-29');
    expect(firstEventDay('2026-03-01')).toBe('2025-12-01');
  });
});
