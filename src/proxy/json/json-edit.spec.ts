import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { fuzzRuns } from '../../../test/support/jest/fuzz-runs.js';
import { CheckedMembers } from './checked-members.js';
import { applyEdits, type JsonEdit, setMember } from './json-edit.js';
import { scanJson } from './json-scan.js';
import type { MemberSpan, ObjectSpan, ScannedBody } from './scanned-body.js';

const NAMES = new CheckedMembers({ root: ['a', 'b', 'c', 'd'], nested: { conf: ['x', 'y'] }, deep: [], media: [] });

function scan(text: string): ScannedBody {
  return scanJson(Buffer.from(text), NAMES);
}

function requireMember(object: ObjectSpan, name: string): MemberSpan {
  const member = object.members.get(name);
  if (member === undefined) throw new Error(`no ${name}`);
  return member;
}

function removeAll(object: ObjectSpan, names: readonly string[]): JsonEdit[] {
  return names.map((name) => ({ kind: 'remove', object, member: requireMember(object, name) }));
}

describe('JSON edits', () => {
  it('no edits → the same buffer', () => {
    const body = scan('{ "a" : 1 }');
    expect(applyEdits(body.bytes, [])).toBe(body.bytes);
  });

  it('replace and insert: other bytes → unchanged', () => {
    const body = scan('{ "z" : 1.50e0,\n"a" : "old" , "conf":{ } }');
    const conf = requireMember(body.root, 'conf').nested;
    if (conf === undefined) throw new Error('conf is an object');
    const edits = [setMember(body.root, 'a', '"new"'), setMember(body.root, 'b', 'true'), setMember(conf, 'x', '2')];
    expect(applyEdits(body.bytes, edits).toString()).toBe('{ "z" : 1.50e0,\n"a" : "new" , "conf":{ "x":2} ,"b":true}');
  });

  it('an edited body → its own memory, since a stream would retain part of the shared pool', () => {
    const body = scan('{ "z" : 1 }');
    const edited = applyEdits(body.bytes, [setMember(body.root, 'a', '2')]);
    expect(edited.buffer.byteLength).toBe(edited.length);
  });

  it.each([
    ['{}', ['a', 'b'], '{"a":0,"b":0}'],
    ['{"z":1}', ['a'], '{"z":1,"a":0}'],
  ])('insert into %s → %p at the end', (text, names, expected) => {
    const body = scan(text);
    const edits = names.map((name) => setMember(body.root, name, '0'));
    expect(applyEdits(body.bytes, edits).toString()).toBe(expected);
  });

  it.each([
    [['a'], '{ "b":2, "c":3}'],
    [['b'], '{"a":1, "c":3}'],
    [['c'], '{"a":1, "b":2}'],
    [['a', 'b'], '{ "c":3}'],
    [['b', 'c'], '{"a":1}'],
    [['c', 'a'], '{ "b":2}'],
    [['a', 'b', 'c'], '{}'],
  ])('remove %p → %s', (names, expected) => {
    const body = scan('{"a":1, "b":2, "c":3}');
    const result = applyEdits(body.bytes, removeAll(body.root, names)).toString();
    expect(JSON.parse(result)).toEqual(JSON.parse(expected));
    expect(result.replaceAll(' ', '')).toBe(expected.replaceAll(' ', ''));
  });

  it('edits of the same bytes → a programming error', () => {
    const body = scan('{"a":1}');
    expect(() => applyEdits(body.bytes, [setMember(body.root, 'a', '2'), setMember(body.root, 'a', '3')])).toThrow(
      'overlap',
    );
  });

  it('any object and any edits → the expected object, with untouched values byte for byte', () => {
    const number = fc.constantFrom(
      '1',
      '1.0',
      '1e2',
      '-0',
      '12345678901234567890',
      '"\\u0061"',
      '[ 1 ]',
      '{"k" : 2}',
      'null',
    );
    const names = fc.uniqueArray(fc.constantFrom('a', 'b', 'c', 'd', 'q', 'r', 's'), { maxLength: 7 });
    const change = fc.constantFrom('keep', 'set', 'remove');
    fc.assert(
      fc.property(
        names,
        fc.array(number, { minLength: 7, maxLength: 7 }),
        fc.array(change, { minLength: 4, maxLength: 4 }),
        (keys, values, changes) => {
          const expected = new Map<string, string>(keys.map((key, index) => [key, values[index] ?? '0']));
          const body = scan(`{${keys.map((key) => ` "${key}" :${expected.get(key)}`).join(' ,')} }`);
          const edits = ['a', 'b', 'c', 'd'].flatMap((name, index): JsonEdit[] => {
            if (changes[index] === 'set') expected.set(name, '"set"');
            if (changes[index] === 'set') return [setMember(body.root, name, '"set"')];
            if (changes[index] === 'keep' || !expected.delete(name)) return [];
            return removeAll(body.root, [name]);
          });
          const result = applyEdits(body.bytes, edits).toString();
          expect(JSON.parse(result)).toEqual(
            JSON.parse(`{${[...expected].map(([key, json]) => `"${key}":${json}`).join(',')}}`),
          );
          for (const [key, json] of expected)
            expect(result).toMatch(new RegExp(`"${key}" ?:${json.replace(/[\\[\]{}.]/g, '\\$&')}`));
        },
      ),
      { numRuns: fuzzRuns(1000) },
    );
  });
});
