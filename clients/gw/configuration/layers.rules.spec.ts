import { describe, expect, it } from '@jest/globals';
import { merged, reaches, Variables } from './layers.rules.js';

const DOLLAR = '$';
const variable = (name: string) => `${DOLLAR}{${name}}`;

describe('overlays of a value', () => {
  it.each([
    [{ a: { b: 1, c: 2 } }, { a: { b: 3 } }, { a: { b: 3, c: 2 } }],
    [{ a: 1, b: 2 }, { a: null }, { b: 2 }],
    [{ a: [1, 2] }, { a: [3] }, { a: [3] }],
    [{ a: 1 }, { a: { b: { c: null, d: 1 } } }, { a: { b: { d: 1 } } }],
    [{ a: { b: 1 } }, { a: 7 }, { a: 7 }],
    [7, { a: 1 }, { a: 1 }],
  ])('%j under %j → %j', (base, patch, result) => {
    expect(merged(base, patch)).toEqual(result);
  });

  it('a member name that every object inherits → only the given value', () => {
    expect(merged({}, JSON.parse('{"constructor": {"a": 1}, "__proto__": {"b": 2}}'))).toEqual(
      JSON.parse('{"constructor": {"a": 1}, "__proto__": {"b": 2}}'),
    );
    expect(Object(merged({}, JSON.parse('{"__proto__": {"polluted": true}}'))).polluted).toBeUndefined();
  });

  it.each([
    ['config.limits', { config: { limits: null } }, true],
    ['config.limits.per_user', { config: { limits: null } }, true],
    ['config.limits', { config: { endpoints: {} } }, false],
    ['config', {}, false],
  ])('%s in %j → %s', (path, patch, isReached) => {
    expect(reaches(patch, path)).toBe(isReached);
  });
});

describe('variables', () => {
  const values = { model: 'gpt', count: 3, list: ['a'], flag: false };
  const filled = (value: unknown) => {
    const variables = new Variables(values);
    return [variables.in(value), variables.problems.map(({ path, problem }) => `${path}: ${problem}`)];
  };

  it.each([
    [variable('count'), 3],
    [variable('list'), ['a']],
    [`${variable('model')}-${variable('count')}`, 'gpt-3'],
    [`${DOLLAR}${variable('model')}`, variable('model')],
    ['costs $5, {a}', 'costs $5, {a}'],
    [{ a: [variable('flag')] }, { a: [false] }],
  ])('%j → %j', (value, result) => {
    expect(filled(value)).toEqual([result, []]);
  });

  it.each([
    [{ a: variable('nobody') }, 'a: the variable nobody has no value in this environment'],
    [{ a: ['x', variable('constructor')] }, 'a.1: the variable constructor has no value in this environment'],
    [{ a: `x${variable('list')}` }, 'a: the variable list is not a single value, so it must be the whole text'],
    [{ a: `${DOLLAR}{model` }, expect.stringContaining('a: write a variable as')],
    [{ [variable('model')]: 1 }, `${variable('model')}: a name cannot hold a variable`],
  ])('%j → %s', (value, problem) => {
    expect(filled(value)[1]).toEqual([problem]);
  });

  it('a value that looks like a variable → stays text', () => {
    expect(new Variables({ a: variable('b'), b: 1 }).in(variable('a'))).toBe(variable('b'));
  });

  it('a value that no text can hold → reported', () => {
    const variables = new Variables(values);
    variables.in([variable('model'), variable('count')]);
    expect(variables.unused).toEqual(['list', 'flag']);
  });
});
