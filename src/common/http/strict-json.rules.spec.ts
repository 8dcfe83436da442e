import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { fastestMs } from '../../../test/support/fastest-ms.js';
import { fuzzRuns } from '../../../test/support/jest/fuzz-runs.js';
import { shownName } from '../errors/display-text.rules.js';
import { GatewayError } from '../errors/gateway-error.js';
import { isKeptAsDouble, parseStrictJson } from './strict-json.rules.js';

const UNSTORABLE = 'must not have NUL or broken characters';
const parse = (text: string) => parseStrictJson(Buffer.from(text));

function refusal(bytes: Buffer): GatewayError {
  try {
    parseStrictJson(bytes);
  } catch (error) {
    if (error instanceof GatewayError) return error;
    throw error;
  }
  throw new Error('a refusal was expected');
}

/** An independent implementation of the rules, without a character scan. */
function verdict(text: string): { value: unknown } | 'refused' {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return 'refused';
  }
  return depthOf(value) > 64 || holdsUnstorable(value) ? 'refused' : { value };
}

function depthOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  return 1 + Math.max(0, ...Object.values(value).map(depthOf));
}

function holdsUnstorable(value: unknown): boolean {
  if (typeof value === 'string') return value.includes('\u0000') || !value.isWellFormed();
  return (
    typeof value === 'object' && value !== null && Object.entries(value).some((entry) => entry.some(holdsUnstorable))
  );
}

describe('strict JSON', () => {
  it('any value with any whitespace → the same value, or refused only for depth and what Postgres cannot store', () => {
    fc.assert(
      fc.property(
        fc.jsonValue({ stringUnit: 'binary', maxDepth: 8 }),
        fc.constantFrom('', ' ', '\t\n'),
        (json, blank) => {
          const text = JSON.stringify(json, null, blank);
          const expected = verdict(text);
          if (expected === 'refused') expect(() => parse(text)).toThrow(GatewayError);
          else expect(parse(text)).toEqual(expected.value);
        },
      ),
    );
  });

  it('any text close to JSON without repeated names → accepted if and only if JSON.parse accepts it', () => {
    const piece = fc.constantFrom(
      '[',
      ']',
      ',',
      '"',
      '\\',
      '\\u0000',
      '\\\\u0000',
      '\\ud83d',
      '\\ude00',
      'a',
      '1',
      'null',
      ' ',
      '\n',
      '\f',
      '-',
      'é',
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
        const text = pieces.join('');
        const expected = verdict(text);
        if (expected === 'refused') expect(() => parse(text)).toThrow(GatewayError);
        else expect(parse(text)).toEqual(expected.value);
      }),
      { numRuns: fuzzRuns(2_000) },
    );
  });

  it('any bytes → a value or a refusal, never another error', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 40 }), (bytes) => {
        try {
          parseStrictJson(Buffer.from(bytes));
        } catch (error) {
          expect(error).toBeInstanceOf(GatewayError);
        }
      }),
    );
  });

  it('any name given twice in one object, with any escapes → refused and named', () => {
    const escaped = (name: string) =>
      `"${[...name].map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`).join('')}"`;
    fc.assert(
      fc.property(fc.stringMatching(/^[ -~]{1,20}$/), fc.jsonValue(), (name, between) => {
        const text = `{${JSON.stringify(name)}: 1, "${name.length}-other": ${JSON.stringify(between)}, ${escaped(name)}: 2}`;
        const error = refusal(Buffer.from(text));
        expect(error.message).toBe(`${shownName(name)}: is given twice`);
        expect(error.reason).toBe('json_member_twice');
      }),
    );
  });

  it.each([
    '{"a":1,"b":{"a":1},"c":[{"a":1},{"a":1}]}',
    '{"a":"a","b":"a"}',
    '["a","a",{"a":"\\"a\\":1"}]',
    '{"a":1,"A":1,"a ":1}',
  ])('%s: the same word in different places → not a repetition', (text) => {
    expect(parse(text)).toEqual(JSON.parse(text));
  });

  it.each(['{"":1,"":2}', '{"a":{"b":[{"c":1,"c" \n:1}]}}', '{"__proto__":1,"__proto__":2}'])('%s → refused', (text) =>
    expect(refusal(Buffer.from(text)).reason).toBe('json_member_twice'),
  );

  it('a member named __proto__ → an own member, no prototype', () => {
    const value = parse('{"__proto__":{"admin":true}}');
    expect(Object.keys(value as object)).toEqual(['__proto__']);
    expect(Reflect.get(value as object, 'admin')).toBeUndefined();
  });

  it.each([
    [64, true],
    [65, false],
  ])('%i levels → accepted: %s', (levels, accepted) => {
    for (const [open, close] of [
      ['[', ']'],
      ['{"a":', '}'],
    ]) {
      const text = `${open?.repeat(levels)}1${close?.repeat(levels)}`;
      if (accepted) expect(parse(text)).toBeDefined();
      else expect(() => parse(text)).toThrow('body: is nested deeper than 64 levels');
    }
  });

  it.each([
    ['entries', (count: number) => `[${Array(count).fill('0').join(',')}]`],
    [
      'lists in a list',
      (count: number) =>
        `[${Array(count / 2)
          .fill('[]')
          .join(',')}]`,
    ],
  ])('%s: 20 000 parts → accepted, two more → refused before they are parsed', (_name, textOf) => {
    expect(parse(textOf(20_000))).toBeDefined();
    for (const end of ['', ' and no JSON']) {
      expect(() => parse(textOf(20_002) + end)).toThrow('body: has more than 20000 members and entries');
    }
  });

  it('members of one object: 2 000 → accepted, one more → refused before they are parsed', () => {
    const object = (count: number) => `{${Array.from({ length: count }, (_, at) => `"${at}":[0,0]`).join(',')}}`;
    expect(parse(`[${object(2_000)},${object(2_000)}]`)).toHaveLength(2);
    for (const text of [object(2_001), `{"a":[{"b":${object(2_001)}}]}`, `${object(2_001)} and no JSON`]) {
      expect(() => parse(text)).toThrow('body: has an object with more than 2000 members');
    }
  });

  it('commas and brackets within text, however escaped → not counted as parts', () => {
    const value = [`,[{"\\\\"${',[{'.repeat(20_000)}`, '\\', ',"'.repeat(20_000)];
    expect(parse(JSON.stringify(value))).toEqual(value);
  });

  it('brackets within text → not counted as nesting', () => {
    expect(parse(JSON.stringify('['.repeat(100)))).toBe('['.repeat(100));
  });

  it.each([
    ['a byte order mark', Buffer.from('\ufeff{}'), 'body: is not valid JSON'],
    ['a broken UTF-8 sequence', Buffer.from([0x22, 0xc3, 0x28, 0x22]), 'body: is not valid UTF-8'],
    ['an overlong quote', Buffer.from([0x22, 0xc0, 0xa2, 0x22]), 'body: is not valid UTF-8'],
    ['a surrogate in UTF-8', Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22]), 'body: is not valid UTF-8'],
    ['UTF-16', Buffer.from('{}', 'utf16le'), 'body: is not valid JSON'],
    ['an escaped NUL alone', Buffer.from('"\\u0000"'), `body: ${UNSTORABLE}`],
    ['an escaped NUL in a value', Buffer.from('{"a":"\\u0000"}'), `a: ${UNSTORABLE}`],
    ['an escaped NUL in a name', Buffer.from('{"a\\u0000":1}'), `"a\\u0000": ${UNSTORABLE}`],
    ['half a surrogate pair', Buffer.from('{"b":[{}],"a":"\\ud83d "}'), `a: ${UNSTORABLE}`],
    ['its other half in a list', Buffer.from('{"a":[1,[0,",",["\\ude00"]]]}'), `a.1.2.0: ${UNSTORABLE}`],
    ['one after members and lists', Buffer.from('{"a":{"b":[1,{"c":2}],"d":"\\ude00"}}'), `a.d: ${UNSTORABLE}`],
    ['nothing', Buffer.alloc(0), 'body: is not valid JSON'],
    ['two values', Buffer.from('{}{}'), 'body: is not valid JSON'],
    ['a comment', Buffer.from('{}//'), 'body: is not valid JSON'],
    ['NaN', Buffer.from('NaN'), 'body: is not valid JSON'],
  ])('%s → 400 invalid_request', (_name, bytes, message) => {
    expect(refusal(bytes)).toMatchObject({ code: 'invalid_request', status: 400, message });
  });

  it('a text that is not a body → places in it are named from its root', () => {
    const parseFile = () => parseStrictJson(Buffer.from('{"plans":{"free":{"name":"\\u0000"}}}'), 'file');
    expect(parseFile).toThrow(`file.plans.free.name: ${UNSTORABLE}`);
  });

  it('a long repeated name → truncated in the message', () => {
    const name = 'n'.repeat(5_000);
    expect(refusal(Buffer.from(`{"${name}":1,"${name}":2}`)).message).toBe(`"${'n'.repeat(64)}": is given twice`);
  });
});

describe('numbers that are kept in double precision (RFC 7493, 2.2)', () => {
  it.each([
    ...['0', '-0', '0.000', '0e999999', '1.0', '1E2', '100e-2', '-1e-7', '9007199254740992', '1e23', '5e-324'],
    ...['1.7976931348623157e308', '0.1', '0.30000000000000004', '0.10000000000000001', '100000000000000000000000'],
  ])('%s → kept', (literal) => expect(isKeptAsDouble(literal)).toBe(true));

  it.each([
    ...['9007199254740993', '-12345678901234567890', '1e400', '-1e400', '1e-400', '3.14159265358979323846'],
    ...['9007199254740993.0', '90071992547409930e-1', '123456789012345678e5', '0.1000000000000000055511151231257827'],
  ])('%s → not kept', (literal) => expect(isKeptAsDouble(literal)).toBe(false));

  it('any double, as JSON writes it → kept', () => {
    fc.assert(
      fc.property(fc.double({ noDefaultInfinity: true, noNaN: true }), (value) => {
        expect(isKeptAsDouble(JSON.stringify(value))).toBe(true);
      }),
      { numRuns: fuzzRuns(1_000) },
    );
  });

  it('any whole number → kept if and only if it is serialised unchanged', () => {
    const most = 10n ** 21n - 1n;
    fc.assert(
      fc.property(fc.bigInt({ min: -most, max: most }), (value) => {
        expect(isKeptAsDouble(String(value))).toBe(String(Number(value)) === String(value));
      }),
      { numRuns: fuzzRuns(1_000) },
    );
  });

  it('a million digits → decided quickly', () => {
    const run = () => {
      expect(isKeptAsDouble(`0.${'0'.repeat(1_000_000)}1`)).toBe(false);
      expect(isKeptAsDouble(`1${'0'.repeat(300)}.${'0'.repeat(1_000_000)}`)).toBe(true);
    };
    expect(fastestMs(run)).toBeLessThan(1_000);
  });
});
