import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { fuzzRuns } from '../../../test/support/jest/fuzz-runs.js';
import { GatewayError } from '../../common/errors/gateway-error.js';
import { CheckedMembers } from './checked-members.js';
import { compileMembers, JsonMerge } from './json-merge.js';
import { mergeMembers, mergeScan, scanJson } from './json-scan.js';

type Json = Record<string, unknown>;

/** A value as a client may write it: JSON text that the merge skips, or an object with its exact spelling. */
type Part = string | { readonly members: readonly Member[]; readonly space: string };

interface Member {
  readonly name: string;
  readonly spelling: string;
  readonly spaces: readonly [string, string, string, string];
  readonly part: Part;
}

const NAMES = ['a', 'b', 'model', 'text', 'format', 'é', '', 'constructor', '__proto__', 'toString', 'a"\\'];

const space = fc.constantFrom('', '', '', ' ', '\n', '\t\r');
const name = fc.oneof({ weight: 4, arbitrary: fc.constantFrom(...NAMES) }, fc.string({ unit: 'binary', maxLength: 4 }));

/** A JSON name with some letters escaped. */
const spelled = (plain: string): fc.Arbitrary<string> =>
  fc.array(fc.boolean(), { minLength: 4, maxLength: 4 }).map((escapes) => {
    const letters = [...plain].map((letter, at) =>
      escapes[at % 4] ? escaped(letter) : JSON.stringify(letter).slice(1, -1),
    );
    return `"${letters.join('')}"`;
  });

function escaped(letter: string): string {
  return letter
    .split('')
    .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .join('');
}

const rawValue = fc.oneof(
  fc.constantFrom('1.0', '1e5', '-0', '12345678901234567890', '0.1E-7', 'null', 'true', 'false'),
  fc.constantFrom('"\\u0061\\n"', '"\\\\"', '"\\"}"', '"é😀"', '[]', '[ 1.0,{"a" : [ "]" ],"a":2} ]', '["\\\\","\\""]'),
  fc.string({ unit: 'binary' }).map((text) => JSON.stringify(text)),
  fc.string({ minLength: 60, maxLength: 140 }).map((text) => JSON.stringify(text)),
  fc.jsonValue({ maxDepth: 2 }).map((value) => JSON.stringify([value])),
);

type Body = Exclude<Part, string>;

const member = (levels: number): fc.Arbitrary<Member> =>
  name.chain((plain) =>
    fc.record({
      name: fc.constant(plain),
      spelling: spelled(plain),
      spaces: fc.tuple(space, space, space, space),
      part: levels === 0 ? rawValue : fc.oneof(rawValue, bodyOf(levels - 1)),
    }),
  );

const bodyOf = (levels: number): fc.Arbitrary<Body> =>
  fc.record({ members: fc.uniqueArray(member(levels), { selector: (one) => one.name, maxLength: 5 }), space });

const membersOf = (levels: number): fc.Arbitrary<Json> => {
  const plain = fc.oneof(fc.jsonValue({ maxDepth: 2 }), fc.constantFrom(1, null, {}));
  const value: fc.Arbitrary<unknown> = levels === 0 ? plain : fc.oneof(plain, membersOf(levels - 1));
  return fc.array(fc.tuple(name, value), { maxLength: 4 }).map((entries) => Object.fromEntries(entries));
};

const body = bodyOf(3);
const anyMembers = membersOf(3);

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function inert(value: unknown): string {
  return JSON.stringify(value, (key, part: unknown) => (key === '__proto__' ? undefined : part));
}

function ownEntries(members: Json): [string, unknown][] {
  return Object.entries(members).filter(([key]) => key !== '__proto__');
}

function memberText({ spelling, spaces: [a, b, c, d] }: Member, value: string): string {
  return `${a}${spelling}${b}:${c}${value}${d}`;
}

/** The text of a body, with `members` merged by a straightforward algorithm. */
function textOf(part: Part, members: Json = {}): string {
  if (typeof part === 'string') return part;
  const merging = new Map(ownEntries(members));
  const written = part.members.map((member) => {
    const value = merging.get(member.name);
    const isMerged = merging.has(member.name);
    if (!isMerged) return memberText(member, textOf(member.part));
    const isDeep = typeof member.part !== 'string' && isObject(value);
    return memberText(member, isDeep ? textOf(member.part, value) : inert(value));
  });
  const present = new Set(part.members.map((member) => member.name));
  const missing = [...merging].filter(([key]) => !present.has(key));
  const inserted = missing.map(([key, value]) => `${JSON.stringify(key)}:${inert(value)}`).join();
  const separator = written.length > 0 && missing.length > 0 ? ',' : '';
  return `{${written.join()}${written.length === 0 ? part.space : ''}${separator}${inserted}}`;
}

/** The deep merge of two parsed values. */
function deepMerged(client: unknown, server: unknown): unknown {
  if (!isObject(client) || !isObject(server)) return JSON.parse(inert(server));
  const merged = new Map(Object.entries(client));
  for (const [key, value] of ownEntries(server)) {
    merged.set(key, merged.has(key) ? deepMerged(merged.get(key), value) : JSON.parse(inert(value)));
  }
  return Object.fromEntries(merged);
}

/** JSON text with a fixed order of members. */
function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`;
  if (!isObject(value)) return JSON.stringify(value);
  const keys = Object.keys(value).sort();
  const found = new Map(Object.entries(value));
  return `{${keys.map((key) => `${JSON.stringify(key)}:${canonical(found.get(key))}`).join()}}`;
}

function expectServerValues(result: unknown, members: Json): void {
  if (!isObject(result)) throw new Error('the result is an object');
  const found = new Map(Object.entries(result));
  for (const [key, value] of ownEntries(members)) {
    if (isObject(value)) expectServerValues(found.get(key), value);
    else expect(canonical(found.get(key))).toBe(canonical(JSON.parse(inert(value))));
  }
}

function outcome(part: Body, members: Json): string {
  try {
    return mergeMembers(Buffer.from(textOf(part)), compileMembers(members)).toString();
  } catch (error) {
    if (error instanceof GatewayError && error.code === 'invalid_request') return error.message;
    throw error;
  }
}

const NOTHING_JUDGED = new CheckedMembers({ root: [], nested: {}, deep: [], media: [] });
const RUNS = { numRuns: fuzzRuns(1000) };

describe('merge: any body and any members', () => {
  const atStart = Object.getOwnPropertyNames(Object.prototype).sort();

  it('→ the deep merge of both, every other byte unchanged, the members at the end, and Object.prototype unchanged', () => {
    fc.assert(
      fc.property(body, anyMembers, (part, members) => {
        const text = textOf(part);
        const bytes = Buffer.from(text);
        const merged = mergeMembers(bytes, compileMembers(members));
        expect(merged.toString()).toBe(textOf(part, members));
        expect(canonical(JSON.parse(merged.toString()))).toBe(canonical(deepMerged(JSON.parse(text), members)));
        expectServerValues(JSON.parse(merged.toString()), members);
        expect(scanJson(merged, NOTHING_JUDGED).root.close).toBe(merged.length - 1);
        expect(merged === bytes).toBe(merged.equals(bytes));
        expect(bytes.toString()).toBe(text);
        expect(Object.getOwnPropertyNames(Object.prototype).sort()).toEqual(atStart);
      }),
      RUNS,
    );
  });

  it('in steps of any length → the same', () => {
    fc.assert(
      fc.property(body, anyMembers, fc.integer({ min: 1, max: 30 }), (part, members, stepBytes) => {
        const bytes = Buffer.from(textOf(part));
        const compiled = compileMembers(members);
        const merge = new JsonMerge(bytes, compiled);
        const stepwise = mergeScan(bytes, merge);
        while (!stepwise.step(stepBytes));
        expect(merge.merged().toString()).toBe(mergeMembers(bytes, compiled).toString());
      }),
      RUNS,
    );
  });

  it('merging again → the same buffer', () => {
    fc.assert(
      fc.property(body, anyMembers, (part, members) => {
        const compiled = compileMembers(members);
        const once = mergeMembers(Buffer.from(textOf(part)), compiled);
        expect(mergeMembers(once, compiled)).toBe(once);
      }),
      RUNS,
    );
  });

  it('duplicate root member → refused if and only if it is merged', () => {
    const withTwin = body
      .filter((part) => part.members.length > 0)
      .chain((part) =>
        fc.nat({ max: part.members.length - 1 }).chain((at) => {
          const { name: twin = '' } = part.members[at] ?? {};
          return fc.tuple(fc.constant(part), fc.constant(twin), spelled(twin), fc.nat({ max: part.members.length }));
        }),
      );
    fc.assert(
      fc.property(withTwin, anyMembers, fc.boolean(), ([part, twin, spelling, at], members, merged) => {
        const second: Member = { name: twin, spelling, spaces: ['', '', '', ''], part: '1' };
        const doubled = { ...part, members: part.members.toSpliced(at, 0, second) };
        const all = merged ? { ...members, [twin]: 1 } : members;
        const isMerged = twin !== '__proto__' && Object.hasOwn(all, twin);
        if (isMerged) expect(outcome(doubled, all)).toContain('named twice, again at byte');
        else expect(outcome(doubled, all)).toBe(textOf(doubled, all));
      }),
      RUNS,
    );
  });

  it('a truncated or corrupted body → a refusal or some text, never a hang', () => {
    fc.assert(
      fc.property(body, anyMembers, fc.nat(), fc.uint8Array({ maxLength: 3 }), (part, members, at, noise) => {
        const bytes = Buffer.from(textOf(part));
        const place = at % bytes.length;
        const compiled = compileMembers(members);
        if (compiled.size > 0) expect(() => mergeMembers(bytes.subarray(0, place), compiled)).toThrow(GatewayError);
        const exchanged = Buffer.concat([bytes.subarray(0, place), noise, bytes.subarray(place + noise.length)]);
        try {
          expect(mergeMembers(exchanged, compiled)).toBeInstanceOf(Buffer);
        } catch (error) {
          expect(error).toBeInstanceOf(Error);
        }
      }),
      RUNS,
    );
  });
});
