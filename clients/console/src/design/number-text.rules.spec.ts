import { describe, expect, it } from '@jest/globals';
import { numberOf, textOf } from './number-text.rules';

describe('numberOf', () => {
  it.each([
    ['0', 0],
    ['0.', 0],
    ['.5', 0.5],
    ['0.50', 0.5],
    [' 12 ', 12],
    ['4096', 4096],
  ])('%s → %s', (text, value) => expect(numberOf(text)).toBe(value));

  it.each(['', '.', 'ten', '1,5', '1e3', '-1', '0x10', 'Infinity', '1 000'])('%s → none', (text) =>
    expect(numberOf(text)).toBeUndefined(),
  );
});

it('textOf → what a person would type, or nothing', () => {
  expect([textOf(undefined), textOf(0), textOf(0.25)]).toEqual(['', '0', '0.25']);
});
