import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { fuzzRuns } from '../../../test/support/jest/fuzz-runs.js';
import { GatewayError } from '../../common/errors/gateway-error.js';
import { CheckedMembers } from './checked-members.js';
import { JsonScan, MAX_DEPTH, scanJson } from './json-scan.js';
import type { ScannedBody } from './scanned-body.js';

const NAMES = new CheckedMembers({
  root: ['model', 'max_tokens', 'n'],
  nested: { generationConfig: ['maxOutputTokens'] },
  deep: ['file_id'],
  media: ['url'],
});

function scan(text: string | Buffer): ScannedBody {
  return scanJson(Buffer.from(text), NAMES);
}

function refusal(text: string | Buffer): string {
  try {
    scan(text);
  } catch (error) {
    if (error instanceof GatewayError && error.code === 'invalid_request') return error.message;
    throw error;
  }
  return 'accepted';
}

function jsonAt(body: ScannedBody, span: { start: number; end: number } | undefined): unknown {
  return span && JSON.parse(body.bytes.toString('utf8', span.start, span.end));
}

/** JSON text of any value, with random white space and escapes. */
function jsonText(value: fc.JsonValue, random: () => number): string {
  const space = () => ['', '', '', ' ', '\n', '\t\r'][Math.floor(random() * 6)] ?? '';
  const key = (plain: string) => {
    if (!/^[a-z_]+$/i.test(plain)) return JSON.stringify(plain);
    return `"${[...plain].map((letter) => (random() < 0.1 ? escapeLetter(letter) : letter)).join('')}"`;
  };
  const write = (part: fc.JsonValue): string => {
    if (typeof part === 'string') return JSON.stringify(part);
    if (Array.isArray(part)) return `[${part.map((entry) => space() + write(entry) + space()).join(',')}]`;
    if (typeof part !== 'object' || part === null) return JSON.stringify(part);
    const members = Object.entries(part).map(
      ([name, entry]) => `${space()}${key(name)}${space()}:${space()}${write(entry ?? null)}`,
    );
    return `{${members.join(`${space()},`)}${space()}}`;
  };
  return space() + write(value) + space();
}

function escapeLetter(letter: string): string {
  return `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

function randomFrom(seed: number): () => number {
  let state = seed >>> 0 || 1;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 2 ** 32;
  };
}

/** For thousands of refusals: collecting their stacks takes most of the time. */
function withoutStacks(work: () => void): void {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 0;
  try {
    work();
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
  }
}

const plainKey = fc.constantFrom(
  'model',
  'max_tokens',
  'n',
  'generationConfig',
  'maxOutputTokens',
  'file_id',
  'abc',
  'é',
);
const anyObject = fc.dictionary(plainKey, fc.jsonValue({ maxDepth: 3 }), { noNullPrototype: true });
const anyBody = fc.tuple(anyObject, fc.option(anyObject, { nil: undefined }), fc.nat()).map(([root, nested, seed]) => {
  const value = nested === undefined ? root : { ...root, generationConfig: nested };
  return { value: JSON.parse(JSON.stringify(value)) as Record<string, fc.JsonValue>, seed };
});

describe('JSON scan: what it accepts', () => {
  it.each([
    ['', 'empty'],
    ['   ', 'too early'],
    ['[]', 'must be a JSON object'],
    ['"a"', 'must be a JSON object'],
    ['\ufeff{}', 'byte order mark'],
    ['{}x', 'after the object at byte 2'],
    ['{}{}', 'after the object'],
    ['{"a":1,}', 'member name at byte 7'],
    ['{a:1}', 'member name'],
    ['{"a" 1}', 'colon'],
    ['{"a":[1,]}', 'a value'],
    ['{"a":[1 2]}', 'comma or ]'],
    ['{"a":1]', 'comma or }'],
    ['{"a":01}', 'comma or }'],
    ['{"a":1.}', 'a value'],
    ['{"a":.5}', 'a value'],
    ['{"a":+1}', 'a value'],
    ['{"a":1e}', 'a value'],
    ['{"a":-}', 'a value'],
    ['{"a":NaN}', 'a value'],
    ['{"a":tru}', 'a value'],
    ['{"a":"\t"}', 'control character inside a string at byte 6'],
    ['{"a":"\0"}', 'control character'],
    ['{"a":"\\x"}', 'broken escape'],
    ['{"a":"\\u12G4"}', 'broken escape'],
    ['{"a":"\\u12', 'broken escape'],
    ['{"a":"b', 'too early, at byte 7'],
    ['{"a":1', 'too early'],
    [`{"a":${'1'.repeat(1025)}}`, 'a value'],
  ])('%p → refused, naming %p', (text, problem) => {
    expect(refusal(text)).toContain(problem);
  });

  it('bytes that are not UTF-8 → refused', () => {
    expect(refusal(Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]))).toContain('UTF-8');
  });

  it.each(['{}', ' {\n} ', '{"a":"\\ud800"}', '{"a":-0.5E+10}', '{"":null}', '{"a":"\u007f\u2028"}'])(
    '%p → accepted',
    (text) => {
      expect(refusal(text)).toBe('accepted');
    },
  );

  it('depth: the last allowed level → accepted, one more → refused', () => {
    const nested = (levels: number) => `{"a":${'['.repeat(levels - 1)}${']'.repeat(levels - 1)}}`;
    expect(refusal(nested(MAX_DEPTH))).toBe('accepted');
    expect(refusal(nested(MAX_DEPTH + 1))).toContain(`${MAX_DEPTH} levels`);
    expect(refusal('{"a":'.repeat(1_000_000))).toContain('levels');
  });

  it.each([
    ['{"Model":"secret"}', 'model: "Model" at byte 1 differs from this name only by letter case'],
    ['{"max_to\u212aens":1}', 'max_tokens: "max_to\\u212aens" at byte 1 differs from this name only by letter case'],
    ['{"\\u004dodel":1}', 'model: "Model" at byte 1 differs from this name only by letter case'],
    ['{"generationConfig":{"MAXOutputTokens":1}}', 'generationConfig.maxOutputTokens: "MAXOutputTokens" at byte 21'],
  ])('error text: %p → only the name as written, escaped: %p', (text, message) => {
    expect(refusal(text)).toContain(message);
    expect(refusal(text)).toMatch(/^[ -~]*$/);
  });

  it('error text: hostile input → escaped, at most 40 characters of it', () => {
    const message = refusal(`{"a":\u001b\u0000${'é'.repeat(50)}}`);
    expect(message).toMatch(/^[ -~]*$/);
    expect(message.slice(message.indexOf('near ') + 5).length).toBeLessThanOrEqual(40);
  });

  it('any object, in any spelling → accepted, and the spans contain the same values', () => {
    fc.assert(
      fc.property(anyBody, fc.integer({ min: 1, max: 40 }), ({ value, seed }, stepBytes) => {
        const bytes = Buffer.from(jsonText(value, randomFrom(seed)));
        const body = new JsonScan(bytes, { names: NAMES });
        while (!body.step(stepBytes));
        const checked = ['model', 'max_tokens', 'n', 'generationConfig'].filter((name) => name in value);
        expect([...body.root.members.keys()].sort()).toEqual(checked.sort());
        for (const name of checked) expect(jsonAt(body, body.root.members.get(name))).toEqual(value[name]);
        expect(body.root.memberCount).toBe(Object.keys(value).length);
        const config = value.generationConfig;
        const nested = body.root.members.get('generationConfig')?.nested;
        if (typeof config !== 'object' || config === null || Array.isArray(config)) expect(nested).toBeUndefined();
        else expect(jsonAt(body, nested?.members.get('maxOutputTokens'))).toEqual(config.maxOutputTokens);
      }),
      { numRuns: fuzzRuns(500) },
    );
  });

  it('any text close to JSON → accepted if and only if JSON.parse accepts it as an object', () => {
    const pieces = fc.constantFrom(
      '{',
      '}',
      '[',
      ']',
      ',',
      ':',
      '"',
      '\\',
      '\\u00e9',
      '0',
      '-',
      '.',
      'e',
      'null',
      ' ',
      '\n',
      'é',
      '"a"',
      '\0',
    );
    const edit = fc.record({ at: fc.nat(), drop: fc.nat({ max: 2 }), piece: fc.option(pieces, { nil: '' }) });
    withoutStacks(() =>
      fc.assert(
        fc.property(anyBody, fc.array(edit, { maxLength: 2 }), ({ value, seed }, edits) => {
          let text = jsonText(value, randomFrom(seed));
          for (const { at, drop, piece } of edits) {
            const position = at % (text.length + 1);
            text = text.slice(0, position) + piece + text.slice(position + drop);
          }
          const outcome = refusal(text);
          if (/named twice|letter case/.test(outcome)) return;
          expect(outcome === 'accepted').toBe(isObjectText(Buffer.from(text).toString()));
        }),
        { numRuns: fuzzRuns(3000) },
      ),
    );
  });

  it('100 000 random byte strings → the correct decision', () => {
    const alphabet = Buffer.from('{}[]":,\\u0e-.1tn \n\0é');
    const STRINGS_PER_SEED = 500;
    withoutStacks(() =>
      fc.assert(
        fc.property(fc.nat(), (seed) => {
          const random = randomFrom(seed);
          for (let run = 0; run < STRINGS_PER_SEED; run++) {
            const bytes = Buffer.from(
              Array.from({ length: random() * 24 }, () => alphabet[Math.floor(random() * alphabet.length)] ?? 0),
            );
            const text = bytes.toString();
            const valid = Buffer.from(text).equals(bytes) && isObjectText(text);
            if ((refusal(bytes) === 'accepted') !== valid) throw new Error(`wrong about ${JSON.stringify(text)}`);
            if (
              (refusal(Buffer.concat([Buffer.from('{"a":'), bytes])) === 'accepted') !==
              isObjectText(`{"a":${text}`)
            ) {
              if (Buffer.from(text).equals(bytes)) throw new Error(`wrong about {"a":${JSON.stringify(text)}`);
            }
          }
        }),
        { numRuns: Math.ceil(fuzzRuns(100_000) / STRINGS_PER_SEED) },
      ),
    );
  });
});

function isObjectText(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}

describe('JSON scan: validated members', () => {
  it.each([
    ['{"model":"a","model":"b"}', 'model: named twice, again at byte 13'],
    ['{"model":"a","mod\\u0065l":"b"}', 'model: named twice'],
    ['{"n":1,"x":{"n":2},"\\u006e":2}', 'n: named twice'],
    ['{"generationConfig":{"maxOutputTokens":1,"maxOutputTokens":9}}', 'generationConfig.maxOutputTokens: named twice'],
    ['{"generationConfig":{},"generationConfig":{}}', 'generationConfig: named twice'],
    ['{"Max_Tokens":1}', 'max_tokens: "Max_Tokens'],
    ['{"max_to\u212aens":1}', 'letter case'],
    ['{"generationConfig":{"MaxOutputTokens":1}}', 'generationConfig.maxOutputTokens: "MaxOutputTokens"'],
  ])('%s → refused, saying %p', (text, problem) => {
    expect(refusal(text)).toContain(problem);
  });

  it.each([
    '{"x":{"model":1,"model":2}}',
    '{"generationConfig":{"model":1,"model":2}}',
    '{"a":1,"a":2}',
    '{"x":[{"Model":1}]}',
    '{"generationConfig":[{"maxOutputTokens":1,"MaxOutputTokens":1}]}',
    '{"maxOutputTokens":1,"MaxOutputTokens":2}',
  ])('names where they are not validated: %s → accepted', (text) => {
    expect(refusal(text)).toBe('accepted');
  });

  it('deep name: strings and arrays at any depth → listed, other values → not', () => {
    const body = scan(
      '{"file_id":"a","x":[{"file\\u005fid":"b\\n"},{"file_id":{"file_id":["c"]}},{"file_id":null},{"file_id":7}]}',
    );
    expect(body.deep.map(({ name, kind }) => [name, kind])).toEqual([
      ['file_id', 'string'],
      ['file_id', 'string'],
      ['file_id', 'array'],
    ]);
    expect(body.deep.slice(0, 2).map((member) => jsonAt(body, member))).toEqual(['a', 'b\n']);
  });

  it.each([
    ['{"x":[{"y":{"url":"https://a"}}]}', true],
    ['{"x":{"\\u0075rl":["a"]}}', true],
    ['{"x":{"URL":"a"}}', true],
    ['{"url":{"type":"string"},"x":{"url":null},"y":"url"}', false],
  ])('media: %s → text or an array under its name, at any depth, is media: %p', (text, hasMedia) => {
    expect([scan(text).hasMedia, scan(text).deep]).toEqual([hasMedia, []]);
  });

  it('media: the number of texts and arrays, and the bytes of the texts', () => {
    const { mediaParts, mediaBytes } = scan('{"x":[{"url":"abc"},{"url":"\\n","y":"zzz"},{"url":["a"]},{"url":{}}]}');
    expect([mediaParts, mediaBytes]).toEqual([3, 5 + 4]);
  });

  it('deep name: too many → refused', () => {
    expect(refusal(`{"x":[${'{"file_id":""},'.repeat(5000)}0]}`)).toContain('more than');
  });

  it('20 MiB body: read in steps → every step takes a small part of the whole time', () => {
    const body = Buffer.concat([
      Buffer.from('{"x":"'),
      Buffer.alloc(20 * 1024 * 1024, 'QUJD'),
      Buffer.from('","model":"m"}'),
    ]);
    const stepwise = new JsonScan(body, { names: NAMES });
    let steps = 1;
    while (!stepwise.step(1024 * 1024)) steps++;
    expect(steps).toBe(21);
    expect(jsonAt(stepwise, stepwise.root.members.get('model'))).toBe('m');
  });
});
