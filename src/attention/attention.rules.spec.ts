import { expect, it } from '@jest/globals';
import { attentionTimes } from './attention.rules.js';

it('dates derived from an instant → its day, yesterday, thirty days with today, ninety days before', () => {
  expect(attentionTimes(new Date('2026-03-01T05:06:07.000Z'))).toEqual({
    today: '2026-03-01',
    callsFrom: '2026-02-28',
    costsFrom: '2026-01-31',
    unusedSince: '2025-12-01T05:06:07.000Z',
  });
});
