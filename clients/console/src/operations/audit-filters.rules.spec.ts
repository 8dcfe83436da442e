import { describe, expect, it } from '@jest/globals';
import { filtersOf } from './audit-filters.rules';

const NOW_MS = Date.parse('2026-03-01T00:30:00Z');
const EVERYTHING = { action: '', person: '', time: 'any', app: '' } as const;

describe('filters of the audit page', () => {
  it.each([
    [{}, {}],
    [{ action: 'app.replaced' }, { action: 'app.replaced' }],
    [
      { person: 'user_1', app: 'notes' },
      { actor_id: 'user_1', app_id: 'notes' },
    ],
    [{ time: '1' }, { from: '2026-03-01' }],
    [{ time: '7' }, { from: '2026-02-23' }],
    [{ time: '30' }, { from: '2026-01-31' }],
  ] as const)('%j → %j', (address, expected) => {
    expect(filtersOf({ ...EVERYTHING, ...address }, NOW_MS)).toEqual(expected);
  });
});
