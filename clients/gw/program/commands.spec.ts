import { describe, expect, it } from '@jest/globals';
import { commands, GROUPS } from './commands.js';

describe('the commands', () => {
  it('every word that starts several of them says what they are for', () => {
    const groups = commands.flatMap(({ name }) => {
      const words = name.split(' ');
      return words.slice(1).map((_word, place) => words.slice(0, place + 1).join(' '));
    });
    expect(Object.keys(GROUPS).sort()).toEqual([...new Set(groups)].sort());
  });
});
