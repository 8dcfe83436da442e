import { describe, expect, it } from '@jest/globals';
import { pressed, SHORTCUTS } from './shortcuts.rules.js';

describe('shortcuts', () => {
  it.each(SHORTCUTS.map(({ label, keys }) => ({ label, keys })))(
    '$label: every key but the last waits',
    ({ label, keys }) => {
      const answers = keys.map((key, index) => pressed(keys.slice(0, index), key));
      expect(answers.slice(0, -1).every((answer) => answer === 'waits')).toBe(true);
      expect(answers.at(-1)).toMatchObject({ label });
    },
  );

  it('a key that belongs to none → nothing; one that starts another shortcut after a wait → that shortcut', () => {
    expect(pressed([], 'x')).toBeUndefined();
    expect(pressed(['g'], 'x')).toBeUndefined();
    expect(pressed(['g'], '?')).toMatchObject({ keys: ['?'] });
    expect(pressed(['g'], 'g')).toBe('waits');
  });

  it('no two are the same, and none is a prefix of another', () => {
    const all = SHORTCUTS.map(({ keys }) => keys.join(' '));
    expect(new Set(all).size).toBe(all.length);
    expect(SHORTCUTS.filter(({ keys }) => keys.length === 1 && keys[0] === 'g')).toEqual([]);
  });
});
