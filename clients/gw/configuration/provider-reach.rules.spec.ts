import { describe, expect, it } from '@jest/globals';
import { lossText, reachText } from './provider-reach.rules.js';

describe('who reaches a provider', () => {
  it('nobody → says so', () => {
    const nobody = { count: 0, names: [] };
    expect([reachText(nobody), lossText(nobody)]).toEqual(Array(2).fill('No application can reach it.'));
  });

  it('some, and more than are named → names and the number of the others', () => {
    expect(reachText({ count: 1, names: ['notes'] })).toBe('It is reached by notes.');
    expect(lossText({ count: 3, names: ['a', 'b'] })).toBe('Calls of a, b, 1 other application through it fail.');
    expect(lossText({ count: 9, names: ['a', 'b'] })).toBe('Calls of a, b, 7 other applications through it fail.');
  });
});
