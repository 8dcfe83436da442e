import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { fastestMs } from '../../../test/support/fastest-ms.js';
import { lastNumber, lastObject } from './json-fields.rules.js';

describe('lastObject', () => {
  it.each([
    ['two of them', '..,"usage":{"a":1},"x":1,"usage" : {"a":2}}', { a: 2 }],
    ['the last one cut', '"usage":{"a":1},"usage":{"a":2,"b":{', { a: 1 }],
    ['a null after it', '"usage":{"a":1},"usage":null', { a: 1 }],
    ['the name as a value', '"usage":{"a":1},"kind":"usage"}', { a: 1 }],
    ['the name inside a string', '"usage":{"a":1},"text":"\\"usage\\":{\\"a\\":9}"', { a: 1 }],
    ['braces inside strings', '"usage":{"a":"}{\\"","b":{"c":[{}]}}}', { a: '}{"', b: { c: [{}] } }],
    ['broken JSON in it', '"usage":{"a":1},"usage":{a:2}', { a: 1 }],
    ['nothing', '{"used":{}}', undefined],
    ['the name at the very start', '"usage"', undefined],
  ])('%s → %#', (_what, text, expected) => {
    expect(lastObject(text, 'usage')).toEqual(expected);
  });

  it('a hostile text of unclosed objects → rejected quickly', () => {
    const run = () => expect(lastObject('"usage":{'.repeat(120_000), 'usage')).toBeUndefined();
    expect(fastestMs(run)).toBeLessThan(1000);
  });

  it('any text around it → the object is found', () => {
    const usage = fc.dictionary(fc.string({ maxLength: 5 }), fc.oneof(fc.nat(), fc.string({ maxLength: 9 })));
    fc.assert(
      fc.property(fc.string(), usage, (before, object) => {
        const text = `${JSON.stringify(before)},"usage":${JSON.stringify(object)},"more":1`;
        expect(JSON.stringify(lastObject(text, 'usage'))).toBe(JSON.stringify(object));
      }),
    );
  });
});

describe('lastNumber', () => {
  it.each([
    ['"duration":1.5,"duration": 2e1}', 20],
    ['"duration":7,"duration":12', 7],
    ['"duration":7,"duration":"12"', 7],
    ['"duration":7,"duration":-1}', 7],
    ['"duration":null}', undefined],
    ['', undefined],
  ])('%s → %p', (text, expected) => {
    expect(lastNumber(text, 'duration')).toBe(expected);
  });
});
