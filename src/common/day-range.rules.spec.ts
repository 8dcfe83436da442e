import { describe, expect, it } from '@jest/globals';
import { dayRange } from './day-range.rules.js';

const TODAY = '2026-03-01';

describe('dayRange', () => {
  it.each([
    [{}, { from: '2026-01-31', to: TODAY }],
    [{ to: '2024-03-01' }, { from: '2024-02-01', to: '2024-03-01' }],
    [{ from: '2026-02-28' }, { from: '2026-02-28', to: TODAY }],
    [{ from: TODAY }, { from: TODAY, to: TODAY }],
    [
      { from: '2020-02-29', to: '2030-12-31' },
      { from: '2020-02-29', to: '2030-12-31' },
    ],
    [{ to: '0000-01-05' }, { from: '0000-01-01', to: '0000-01-05' }],
  ])('%j → both days, thirty by default', (asked, range) => {
    expect(dayRange(asked, TODAY)).toEqual(range);
  });

  it.each([
    [{ from: '2026-02-29' }, /^from: /],
    [{ to: '2026-13-01' }, /^to: /],
    [{ from: '2026-00-10' }, /^from: /],
    [{ to: '2026-04-31' }, /^to: /],
    [{ from: '2026-03-02' }, /^from: /],
    [{ from: '2026-02-02', to: '2026-02-01' }, /^from: /],
  ])('%j → 400 naming the parameter', (asked, message) => {
    expect(() => dayRange(asked, TODAY)).toThrow(expect.objectContaining({ code: 'invalid_request' }));
    expect(() => dayRange(asked, TODAY)).toThrow(message);
  });
});
