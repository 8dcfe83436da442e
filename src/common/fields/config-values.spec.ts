import { describe, expect, it } from '@jest/globals';
import { integer, listOf, MAX_ENTRIES, number, oneOf, oneOrMore, orNull, tableOf, text } from './config-values.js';

const words = tableOf({ pattern: /^[a-z_]+$/, keyProblem: 'must be a word', value: text({}) });

describe('text', () => {
  it('surrounding blanks: trimmed before the rules apply', () => {
    expect(text({ max: 2, pattern: /^ab$/ })('  ab\n', 'c')).toBe('ab');
  });

  it.each([
    ['   ', 'c: must not be blank'],
    ['abcd', 'c: must have at most 3 characters'],
    ['ABC', 'c: must be lower case'],
    ['a\u0000', 'c: must not have NUL or broken characters'],
    ['\u0000', 'c: must not have NUL or broken characters'],
    ['\ud800', 'c: must not have NUL or broken characters'],
    [7, 'c: must be text'],
    [null, 'c: must be text'],
    [['a'], 'c: must be text'],
  ])('%j → %s', (value, message) => {
    expect(() => text({ max: 3, pattern: /^[a-z]+$/, problem: 'must be lower case' })(value, 'c')).toThrow(message);
  });
});

describe('numbers', () => {
  it.each([[1.5], ['1'], [null], [Number.NaN], [Number.POSITIVE_INFINITY]])('integer: %p → refused', (value) => {
    expect(() => integer({})(value, 'c')).toThrow('c: must be an integer');
  });

  it('integer: outside its range → refused with the bound', () => {
    expect(() => integer({ min: 1 })(0, 'c')).toThrow('c: must be at least 1');
    expect(() => integer({ max: 5 })(6, 'c')).toThrow('c: must be at most 5');
    expect(() => integer({})(2 ** 53, 'c')).toThrow('c: must be at most 9007199254740991');
  });

  it('number: not finite → refused', () => {
    expect(() => number({})(JSON.parse('1e999'), 'c')).toThrow('c: must be a number');
  });

  it('negative zero → zero', () => {
    expect(Object.is(number({ min: 0 })(-0, 'c'), 0)).toBe(true);
  });

  it('orNull: null passes, others are read', () => {
    const read = orNull(integer({ min: 1 }));
    expect([read(null, 'c'), read(3, 'c')]).toEqual([null, 3]);
    expect(() => read(false, 'c')).toThrow('c: must be an integer');
  });
});

describe('words and lists', () => {
  it('oneOf: another word, another case or a list holding the word → refused with the choice', () => {
    for (const value of ['c', 'A', ['a'], 0]) {
      expect(() => oneOf(['a', 'b'])(value, 'x')).toThrow('x: must be "a" or "b"');
    }
  });

  it('listOf: a refused entry → the path has its index', () => {
    expect(() => listOf(text({}))(['a', 1], 'x')).toThrow('x.1: must be text');
  });

  it('listOf: number of entries outside the bounds → refused', () => {
    expect(() => listOf(text({}), { min: 1 })([], 'x')).toThrow('x: must have at least 1 entry');
    expect(() => listOf(text({}), { max: 1 })(['a', 'b'], 'x')).toThrow('x: must have at most 1 entries');
    expect(() => listOf(text({}))({ length: 0 }, 'x')).toThrow('x: must be a list');
  });

  it('oneOrMore: one value → a list; an empty list → refused', () => {
    expect(oneOrMore(text({}))(' a ', 'x')).toEqual(['a']);
    expect(oneOrMore(text({}))(['a', 'b'], 'x')).toEqual(['a', 'b']);
    expect(() => oneOrMore(text({}))([], 'x')).toThrow('x: must have at least 1 entry');
  });
});

describe('tableOf', () => {
  it.each(['__proto__', 'constructor', 'prototype'])('key %s → refused by name', (name) => {
    const sent: unknown = JSON.parse(`{"${name}":"x"}`);
    expect(() => words(sent, 'm')).toThrow(`m.${name}: is a reserved name`);
  });

  it('keys outside the pattern → refused by name', () => {
    expect(() => words({ Ab: 'x' }, 'm')).toThrow('m.Ab: must be a word');
    expect(() => words({ '': 'x' }, 'm')).toThrow('m."": must be a word');
  });

  it('reading a name that every object inherits → undefined', () => {
    const table = words({ a: 'x' }, 'm');
    expect(table.a).toBe('x');
    expect(table.toString).toBeUndefined();
    expect(JSON.stringify(table)).toBe('{"a":"x"}');
  });

  it('too many entries → refused', () => {
    const many = Object.fromEntries(Array.from({ length: MAX_ENTRIES + 1 }, (_, index) => [`k${index}`, 'x']));
    expect(() => words(many, 'm')).toThrow(`m: must have at most ${MAX_ENTRIES} entries`);
  });
});
