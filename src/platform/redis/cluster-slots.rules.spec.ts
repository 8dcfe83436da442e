import { describe, expect, it } from '@jest/globals';
import { keyOnEachMaster, slotOf } from './cluster-slots.rules.js';

describe('slots of a cluster', () => {
  it.each([
    // Expected values from `CLUSTER KEYSLOT`.
    ['', 0],
    ['123456789', 12_739],
    ['somekey', 11_058],
    ['gw:probe', 10_881],
  ])('"%s" → %i', (key, slot) => {
    expect(slotOf(key)).toBe(slot);
  });

  it('exactly one key per master', () => {
    const masters = Array.from({ length: 16_384 }, (_, slot) => ['a', 'b', 'c', undefined][slot % 4]);
    const keys = keyOnEachMaster(masters, 'gw:probe:');
    expect(keys.map((key) => masters[slotOf(key)]).sort()).toEqual(['a', 'b', 'c']);
  });

  it('a master of one slot → found as well', () => {
    const masters = Array.from({ length: 16_384 }, (_, slot) => (slot === 7 ? 'small' : 'big'));
    expect(keyOnEachMaster(masters, 'gw:probe:')).toHaveLength(2);
  });

  it('no master → no key', () => {
    expect(keyOnEachMaster([], 'gw:probe:')).toEqual([]);
  });
});
