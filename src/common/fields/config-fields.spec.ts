import { describe, expect, it } from '@jest/globals';
import { Default, Optional, objectOf, Refused, Required, Tag, taggedUnion } from './config-fields.js';
import { integer, text } from './config-values.js';

class Nothing {}

class One {
  @Optional(text({}))
  readonly a?: string;
}

class Two {
  @Default(text({}), 'none')
  readonly a: string;
}

class Named {
  @Required<() => string>(() => String)
  readonly toString: () => string;
}

class Base {
  @Required(integer({}))
  readonly size: number;
}

class Circle extends Base {
  @Tag('circle')
  readonly kind: 'circle';

  @Optional(text({}), { late: true })
  readonly label?: string;

  @Required(integer({}), { check: requireAtMostSize })
  readonly hole: number;
}

class Square extends Base {
  @Tag('square')
  readonly kind: 'square';

  @Refused('only with kind "circle"')
  readonly hole?: undefined;

  @Refused('only with kind "circle"')
  readonly label?: undefined;
}

function requireAtMostSize(hole: number, { size }: Pick<Circle, 'size'>, path: string): void {
  if (hole > size) throw new RangeError(`${path}: must be at most size`);
}

const shape = taggedUnion([Circle, Square]);

describe('objectOf', () => {
  it.each([[null], [[]], ['text'], [1], [true], [undefined]])('root: %p → must be an object', (value) => {
    expect(() => objectOf(One)(value, 'config')).toThrow('config: must be an object');
  });

  it('unknown member: named with its path', () => {
    expect(() => objectOf(One)({ a: 1, b: 2 }, 'config.x')).toThrow('config.x.b: is not a known field');
  });

  it('unknown member with an odd name: quoted and shortened', () => {
    const key = `\u0000\n${'x'.repeat(100)}`;
    const problem = `c."\\u0000\\n${'x'.repeat(62)}": is not a known field`;
    expect(() => objectOf(Nothing)({ [key]: 1 }, 'c')).toThrow(problem);
  });

  it('own member named __proto__: refused by name', () => {
    const sent: unknown = JSON.parse('{"__proto__":{"a":1}}');
    expect(() => objectOf(One)(sent, 'c')).toThrow('c.__proto__: is not a known field');
  });

  it('inherited members: absent', () => {
    const sent: unknown = Object.create({ toString: 'x', a: 'x' });
    expect(objectOf(One)(sent, 'c')).toStrictEqual({});
    expect(() => objectOf(Named)(sent, 'c')).toThrow('c.toString: is required');
  });

  it('member set to undefined: counts as absent', () => {
    expect(objectOf(One)({ a: undefined }, 'c')).toStrictEqual({});
    expect(objectOf(Two)({ a: undefined }, 'c')).toStrictEqual({ a: 'none' });
  });

  it('member set to null: read, not defaulted', () => {
    expect(() => objectOf(Two)({ a: null }, 'c')).toThrow('c.a: must be text');
  });
});

describe('taggedUnion', () => {
  it('inherited members are read; the tag comes first, then the order of declaration', () => {
    const read = shape({ hole: 1, label: 'a', size: 2, kind: 'circle' }, 's');
    expect(Object.entries(read)).toEqual([
      ['kind', 'circle'],
      ['size', 2],
      ['label', 'a'],
      ['hole', 1],
    ]);
  });

  it.each([
    [{ kind: 'circle', other: 1 }, 's.other: is not a known field'],
    [{ size: '1' }, 's.kind: is required'],
    [{ kind: 'oval', size: '1' }, 's.kind: must be "circle" or "square"'],
    [{ kind: 'square', size: '1', hole: 1 }, 's.size: must be an integer'],
    [{ kind: 'square', size: 1, label: 'a' }, 's.label: only with kind "circle"'],
    [{ kind: 'circle', size: 1, label: 1, hole: '1' }, 's.hole: must be an integer'],
    [{ kind: 'circle', size: 1, label: 1, hole: 2 }, 's.hole: must be at most size'],
    [{ kind: 'circle', size: 1, label: 1, hole: 1 }, 's.label: must be text'],
  ])('%j → %s', (sent, problem) => {
    expect(() => shape(sent, 's')).toThrow(problem);
  });
});
