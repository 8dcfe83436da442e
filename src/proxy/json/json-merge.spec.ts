import { describe, expect, it } from '@jest/globals';
import { GatewayError } from '../../common/errors/gateway-error.js';
import { compileMembers, JsonMerge } from './json-merge.js';
import { mergeMembers, mergeScan } from './json-scan.js';

type Json = Record<string, unknown>;

function merge(text: string, members: Json): string {
  return mergeMembers(Buffer.from(text), compileMembers(members)).toString();
}

function refusal(text: string, members: Json): string {
  try {
    merge(text, members);
  } catch (error) {
    if (error instanceof GatewayError && error.code === 'invalid_request') return error.message;
    throw error;
  }
  return 'accepted';
}

/** Parses to an object with own members only, `__proto__` included. */
function parsed(text: string): Json {
  return JSON.parse(text);
}

describe('merge: the rules', () => {
  it.each<[string, Json, string]>([
    ['{"a":1}', { a: 2 }, '{"a":2}'],
    ['{ "a" : 1 , "b" : 1.0 }', { a: 'x' }, '{ "a" : "x" , "b" : 1.0 }'],
    ['{"b":1e5}', { a: null }, '{"b":1e5,"a":null}'],
    ['{}', { a: 1, b: [2] }, '{"a":1,"b":[2]}'],
    ['{ \n }', { a: 1 }, '{ \n "a":1}'],
    ['{"a":{"x":1.0,"y":2}}', { a: { y: 3, z: 4 } }, '{"a":{"x":1.0,"y":3,"z":4}}'],
    ['{"a":{"x":{"y":{"z":1}}}}', { a: { x: { y: { z: 2 } } } }, '{"a":{"x":{"y":{"z":2}}}}'],
    ['{"a":{"x":1}}', { a: null }, '{"a":null}'],
    ['{"a":{"x":1}}', { a: [1] }, '{"a":[1]}'],
    ['{"a":[{"x":1}, 2]}', { a: [3] }, '{"a":[3]}'],
    ['{"a":[{"x":1}]}', { a: { x: 2 } }, '{"a":{"x":2}}'],
    ['{"a":"{" , "b":2}', { a: { x: 2 } }, '{"a":{"x":2} , "b":2}'],
    ['{"a":null}', { a: {} }, '{"a":{}}'],
    ['{"b":1}', { a: {} }, '{"b":1,"a":{}}'],
    ['{"a":"x\\"}","b":"\\\\"}', { b: 1 }, '{"a":"x\\"}","b":1}'],
    ['{"\\u006dodel":"x"}', { model: 'y' }, '{"\\u006dodel":"y"}'],
    ['{"mod\\u0065l":{"\\u0061":1}}', { model: { a: 2 } }, '{"mod\\u0065l":{"\\u0061":2}}'],
    ['{"é":1,"\\ud83d\\ude00":1}', { é: 2, '😀': 2 }, '{"é":2,"\\ud83d\\ude00":2}'],
    ['{"":1}', { '': 2, '"\n': 3 }, '{"":2,"\\"\\n":3}'],
    ['{"Model":1}', { model: 2 }, '{"Model":1,"model":2}'],
    ['{"a":1}', { a: undefined, b: 2 }, '{"a":1,"b":2}'],
  ])('%s with %j → %s', (text, members, expected) => {
    expect(merge(text, members)).toBe(expected);
  });

  it.each<[string, Json]>([
    ['{"a" : {"x":1} }', {}],
    ['{"a" : {"x":1} }', { a: {} }],
    ['{"a" : {"x":1,"y":[]} }', { a: { x: 1 } }],
    ['{"a":"b"}', parsed('{"__proto__":{"x":1}}')],
  ])('%s with %j: nothing changes → the same buffer', (text, members) => {
    const bytes = Buffer.from(text);
    expect(mergeMembers(bytes, compileMembers(members))).toBe(bytes);
  });

  it('the same value in another spelling → the spelling of the merged one', () => {
    expect(merge('{"a":1.0,"b":"\\u0078"}', { a: 1, b: 'x' })).toBe('{"a":1,"b":"x"}');
  });

  it.each<[string, Json, string]>([
    ['{"a":1,"a":2}', { a: 3 }, 'a: named twice, again at byte 7'],
    ['{"a":1,"\\u0061":2}', { a: 3 }, 'a: named twice, again at byte 7'],
    ['{"a":{},"b":1,"a":{}}', { a: {} }, 'a: named twice, again at byte 14'],
    ['{"t":{"f":{"x":1,"x":2}}}', { t: { f: { x: 1 } } }, 't.f.x: named twice, again at byte 17'],
    ['{"t":{"a b":1,"a b":2}}', { t: { 'a b': 1 } }, 't."a b": named twice, again at byte 14'],
  ])('%s with %j: a duplicate merged member → refused as %s', (text, members, message) => {
    expect(refusal(text, members)).toBe(message);
  });

  it.each<[string, Json, string]>([
    ['{"b":1,"b":2}', { a: 3 }, '{"b":1,"b":2,"a":3}'],
    ['{"a":{"b":1,"b":2}}', { a: { c: 1 } }, '{"a":{"b":1,"b":2,"c":1}}'],
    ['{"a":{"b":1,"b":2}}', { a: 1 }, '{"a":1}'],
    ['{"x":{"a":1,"a":2}}', { a: 3 }, '{"x":{"a":1,"a":2},"a":3}'],
  ])('%s with %j: another duplicate member → %s', (text, members, expected) => {
    expect(merge(text, members)).toBe(expected);
  });

  it('names that every object inherits → merged as plain members, never matched if not given', () => {
    const body = '{"constructor":{"prototype":1},"__proto__":{"a":1},"toString":1}';
    expect(merge(body, { a: 1 })).toBe(`${body.slice(0, -1)},"a":1}`);
    expect(merge(body, { constructor: { prototype: 2 }, hasOwnProperty: 3 })).toBe(
      '{"constructor":{"prototype":2},"__proto__":{"a":1},"toString":1,"hasOwnProperty":3}',
    );
  });

  it('__proto__ among the members to merge → skipped at every depth, in lists too', () => {
    const members = parsed('{"__proto__":{"a":1},"b":{"__proto__":1,"c":[{"__proto__":1,"d":2}]}}');
    expect(merge('{}', members)).toBe('{"b":{"c":[{"d":2}]}}');
    expect(merge('{"__proto__":7,"b":{"__proto__":8}}', members)).toBe(
      '{"__proto__":7,"b":{"__proto__":8,"c":[{"d":2}]}}',
    );
  });
});

describe('merge: long bodies', () => {
  const BYTES = 20 * 1024 * 1024;
  const fill = (unit: string) => unit.repeat(Math.floor(BYTES / unit.length));
  const members = { instructions: 'x', reasoning: { effort: 'low' }, store: false };

  it.each([
    ['one string', `{"input":"${fill('QUJD')}"}`],
    ['quotes alone', `{"input":"${fill('\\"')}"}`],
    ['far quotes', `{"input":"${fill(`${'x'.repeat(64)}\\"`)}"}`],
    ['backslashes alone', `{"input":"${'x'.repeat(64)}${fill('\\\\')}"}`],
    ['empty lists', `{"input":[${fill('[],')}0]}`],
    ['short members', `{${fill('"a":1,')}"b":1}`],
    ['members almost named', `{${fill('"\\u0073torf":1,')}"b":1}`],
  ])('20 MiB of %s → merged in time that grows with its length, the rest unchanged', (_kind, text) => {
    const bytes = Buffer.from(text);
    const merge = new JsonMerge(bytes, compileMembers(members));
    const merging = mergeScan(bytes, merge);
    // The CPU time of this thread, which excludes waiting on a busy machine.
    const before = process.threadCpuUsage();
    while (!merging.step(1024 * 1024));
    const merged = merge.merged();
    const { user, system } = process.threadCpuUsage(before);
    expect((user + system) / 1000).toBeLessThan(10_000);
    const inserted = ',"instructions":"x","reasoning":{"effort":"low"},"store":false}';
    expect(merged.length).toBe(bytes.length - 1 + inserted.length);
    expect(merged.subarray(0, bytes.length - 1).equals(bytes.subarray(0, -1))).toBe(true);
    expect(merged.toString('utf8', bytes.length - 1)).toBe(inserted);
  });

  it('a body deeper than the accepted depth → no recursion', () => {
    const deep = `{"a":${'['.repeat(1_000_000)}${']'.repeat(1_000_000)}}`;
    expect(merge(deep, { b: 1 })).toBe(`${deep.slice(0, -1)},"b":1}`);
    expect(merge(deep, { a: 1 })).toBe('{"a":1}');
  });
});
