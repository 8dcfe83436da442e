import { describe, expect, it } from '@jest/globals';
import { numberOf, numberProblem, textOf } from './number-text.rules';

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

it.each([
  ['0', undefined],
  ['0.5', undefined],
  ['-1', 'must be 0 or more'],
  ['−0.5', 'must be 0 or more'],
  ['ten', 'must be a number, such as 20 or 0.5'],
  ['--1', 'must be a number, such as 20 or 0.5'],
])('“%s” → %s', (text, problem) => expect(numberProblem(text)).toBe(problem));

it('textOf → as a person types it, or empty', () => {
  expect([textOf(undefined), textOf(0), textOf(0.25)]).toEqual(['', '0', '0.25']);
});
