import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { fuzzRuns } from '../../../test/support/jest/fuzz-runs.js';
import { jsonObject, MAX_JSON_DEPTH } from './free-json.rules.js';

describe('jsonObject', () => {
  const nested = (levels: number): unknown => JSON.parse(`${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`);

  it('any JSON → an equal copy, in the same order', () => {
    const sent = { b: [1, null, 'x', { b: false }], a: {} };
    const read = jsonObject(sent, 'p');
    expect(JSON.stringify(read)).toBe(JSON.stringify(sent));
    expect(read).not.toBe(sent);
    expect(read.b).not.toBe(sent.b);
  });

  it('names that every object inherits → plain data', () => {
    const sent = '{"constructor":{"prototype":[{"constructor":1}]},"toString":"x","hasOwnProperty":null}';
    expect(JSON.stringify(jsonObject(JSON.parse(sent), 'p'))).toBe(sent);
  });

  it.each([
    ['{"__proto__":{"polluted":1},"a":1}', '{"a":1}'],
    ['{"a":{"__proto__":"x","b":2}}', '{"a":{"b":2}}'],
    ['{"a":[[{"__proto__":{"polluted":1}}],{"constructor":{"__proto__":[]}}]}', '{"a":[[{}],{"constructor":{}}]}'],
    ['{"\\u005f_proto__":{"a":"\\u0000"}}', '{}'],
  ])('%s → __proto__ left out, %s', (sent, expected) => {
    const read = jsonObject(JSON.parse(sent), 'p');
    expect(JSON.stringify(read)).toBe(expected);
    expect(Object.getPrototypeOf(read)).toBe(Object.prototype);
    expect(Reflect.has({}, 'polluted') || Reflect.has(read, 'polluted')).toBe(false);
  });

  it('depth: the last allowed level passes, one more is refused', () => {
    expect(() => jsonObject(nested(MAX_JSON_DEPTH), 'p')).not.toThrow();
    expect(() => jsonObject(nested(MAX_JSON_DEPTH + 1), 'p')).toThrow('must not be nested deeper than 40 levels');
    expect(() => jsonObject({ a: JSON.parse(`${'['.repeat(5000)}${']'.repeat(5000)}`) }, 'p')).toThrow('nested deeper');
  });

  it.each([
    ['{"a":["\\u0000"]}', 'p.a.0: must not have NUL or broken characters'],
    ['{"a\\u0000":1}', 'p."a\\u0000": must not have NUL or broken characters'],
    ['{"a":1e999}', 'p.a: must be a JSON value'],
    ['[]', 'p: must be an object'],
    ['null', 'p: must be an object'],
  ])('%s → %s', (sent, message) => {
    expect(() => jsonObject(JSON.parse(sent), 'p')).toThrow(message);
  });

  it.each([[undefined], [() => 1], [1n], [Symbol('x')]])('a value that JSON cannot express (%p) → refused', (value) => {
    expect(() => jsonObject({ a: value }, 'p')).toThrow('p.a: must be a JSON value');
  });

  it('any JSON object → the same text without the members named __proto__, and unchanged when parsed again', () => {
    const key = fc.oneof(
      fc.constantFrom('__proto__', 'constructor', 'prototype', 'a'),
      fc.string({ unit: 'grapheme' }),
    );
    const value = fc.letrec<{ value: unknown }>((tie) => ({
      value: fc.oneof(
        { maxDepth: 5 },
        fc.constantFrom(null, true, 0, 1.5, 'x'),
        fc.array(tie('value'), { maxLength: 3 }),
        fc.array(fc.tuple(key, tie('value')), { maxLength: 3 }).map((entries) => Object.fromEntries(entries)),
      ),
    })).value;
    const object = fc.array(fc.tuple(key, value), { maxLength: 4 }).map((entries) => Object.fromEntries(entries));
    fc.assert(
      fc.property(object, (sent) => {
        fc.pre(!JSON.stringify(sent).includes('\\u0000'));
        const read = jsonObject(sent, 'p');
        const expected = JSON.stringify(sent, (name, part: unknown) => (name === '__proto__' ? undefined : part));
        expect(JSON.stringify(read)).toBe(expected);
        expect(JSON.stringify(jsonObject(JSON.parse(expected), 'p'))).toBe(expected);
      }),
      { numRuns: fuzzRuns(1000) },
    );
  });
});
