import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { conflictsOf, isSame, type Json, merged } from './draft-merge.rules.js';

const base = { name: 'App', config: { limits: { per_app: { monthly: 5 } }, models: ['a', 'b'] } };

describe('merging a draft into a version that somebody else saved', () => {
  it('different fields → both changes, no conflict', () => {
    const mine = { ...base, name: 'Mine' };
    const theirs = { ...base, config: { ...base.config, limits: { per_app: { monthly: 9 } } } };
    expect(conflictsOf(base, mine, theirs)).toEqual([]);
    expect(merged(base, mine, theirs)).toEqual({ ...theirs, name: 'Mine' });
  });

  it('the same field to the same value → no conflict', () => {
    const both = { ...base, name: 'Both' };
    expect(conflictsOf(base, both, { ...both })).toEqual([]);
  });

  it('the same field to different values → a conflict that either side may win', () => {
    const [mine, theirs] = [
      { ...base, name: 'Mine' },
      { ...base, name: 'Theirs' },
    ];
    expect(conflictsOf(base, mine, theirs)).toEqual([{ path: 'name', mine: 'Mine', theirs: 'Theirs' }]);
    expect(merged(base, mine, theirs, { name: 'mine' })).toMatchObject({ name: 'Mine' });
    expect(merged(base, mine, theirs, { name: 'theirs' })).toMatchObject({ name: 'Theirs' });
  });

  it('a list that both changed → one conflict; a field that I removed → removed', () => {
    const mine = { name: 'App', config: { limits: base.config.limits, models: ['a', 'c'] } };
    const theirs = { ...base, config: { ...base.config, models: ['b'] } };
    expect(conflictsOf(base, mine, theirs)).toEqual([{ path: 'config.models', mine: ['a', 'c'], theirs: ['b'] }]);
    const without = { name: 'App', config: { models: base.config.models } };
    expect(merged(base, without, { ...base, name: 'Theirs' })).toEqual({ ...without, name: 'Theirs' });
  });

  it('a field inside an object that the other side removed → a conflict', () => {
    const mine = { ...base, config: { ...base.config, limits: { per_app: { monthly: 6 } } } };
    const theirs = { name: 'App', config: { models: base.config.models } };
    expect(conflictsOf(base, mine, theirs).map(({ path }) => path)).toEqual(['config.limits.per_app.monthly']);
  });

  const json = fc.letrec<{ value: Json }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 3 },
      fc.integer({ min: 0, max: 3 }),
      fc.array(fc.integer({ min: 0, max: 2 }), { maxLength: 2 }),
      fc.dictionary(fc.constantFrom('a', 'b', '__proto__', 'length'), tie('value'), { maxKeys: 3 }),
    ),
  })).value;

  it('any three versions → choosing all of mine keeps all my changes; choosing none leaves theirs unchanged', () => {
    fc.assert(
      fc.property(json, json, json, (loaded, mine, theirs) => {
        expect(isSame(merged(loaded, loaded, theirs), theirs)).toBe(true);
        expect(isSame(merged(loaded, mine, loaded), mine)).toBe(true);
        expect(conflictsOf(loaded, merged(loaded, mine, theirs), mine).every(({ path }) => path !== undefined)).toBe(
          true,
        );
      }),
    );
  });
});
