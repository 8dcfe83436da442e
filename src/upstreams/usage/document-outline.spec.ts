import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { DocumentOutline } from './document-outline.js';

const NAMES = new Set(['id', 'output', 'message']);

/** @param cuts where the text is divided, in bytes. */
function outlineOf(text: string, cuts: readonly number[] = []) {
  const bytes = Buffer.from(text);
  const outline = new DocumentOutline(NAMES);
  const ends = [...cuts.map((cut) => cut % (bytes.length + 1)), bytes.length].toSorted((a, b) => a - b);
  let from = 0;
  for (const end of ends) {
    outline.push(bytes.subarray(from, end));
    from = end;
  }
  return outline.documents;
}

/** The outline of a value, computed from the parsed document. */
function expected(value: unknown): unknown {
  if (typeof value === 'string') return Buffer.byteLength(JSON.stringify(value)) - 2 <= 1536 ? value : undefined;
  if (Array.isArray(value)) {
    return value.filter((entry) => typeof entry === 'object' && entry !== null && !Array.isArray(entry)).map(expected);
  }
  if (typeof value !== 'object' || value === null) return undefined;
  const kept = Object.entries(value)
    .filter(([name]) => NAMES.has(name))
    .map(([name, member]) => [name, expected(member)])
    .filter(([, member]) => member !== undefined);
  return Object.fromEntries(kept);
}

const names = fc.constantFrom('id', 'output', 'message', 'other', 'i', 'id"', '\\id', '');
const texts = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.constantFrom('\\"', '\\', '{"id":"x"}', `${'\\"'.repeat(40)}`),
);
const { document } = fc.letrec((tie) => ({
  value: fc.oneof(texts, fc.integer(), fc.constant(null), tie('document'), fc.array(tie('value'), { maxLength: 4 })),
  document: fc.dictionary(names, tie('value'), { maxKeys: 5 }),
}));

describe('an outline', () => {
  it('any document in any pieces → the same outline as that of the parsed document', () => {
    fc.assert(
      fc.property(document, fc.array(fc.nat()), fc.constantFrom(undefined, 1), (value, cuts, indent) => {
        expect(outlineOf(JSON.stringify(value, undefined, indent), cuts)).toEqual([expected(value)]);
      }),
    );
  });

  it('a list of documents → each of them', () => {
    expect(outlineOf('[{"id":"a"},7,"id",[{"id":"b"}],{"id":"c"}]')).toEqual([{ id: 'a' }, { id: 'c' }]);
  });

  it('the end is missing → the outline of what came before it', () => {
    expect(outlineOf('{"id":"a","output":[{"id":"b"},{"id":"c')).toEqual([{ id: 'a', output: [{ id: 'b' }, {}] }]);
  });

  it.each(['', '"id"', '7', ']', 'not json', '}{"id":"a"}', '{"id":"a"}{"id":"b"}', '{"id":"\\q"}'])(
    'not a document: %p → only what its beginning says',
    (text) => {
      const [first] = outlineOf(text);
      expect(['{"id":"a"}', '{}', undefined]).toContain(first && JSON.stringify(first));
    },
  );

  it.each([
    ['long strings', () => `{"output":[${`{"id":"${'x'.repeat(250)}"},`.repeat(200)}{}]}`],
    ['empty objects', () => `{"output":[${'{},'.repeat(1_000)}{}]}`],
    ['nesting', () => '{"output":'.repeat(1_000)],
    ['nesting of lists', () => '{"other":'.repeat(500) + '['.repeat(500)],
    ['one string without an end', () => 'x'.repeat(50_000)],
  ])('a hostile document, %s → at most 256 KiB are kept', (_name, piece) => {
    const outline = new DocumentOutline(NAMES);
    const bytes = Buffer.from(piece());
    for (let at = 0; at < 100; at++) outline.push(bytes);
    let size = 0;
    for (const rest = [...outline.documents] as object[]; rest.length > 0; ) {
      const members = Object.values(rest.pop() ?? {});
      size += members.length;
      rest.push(...members.flat().filter((member) => typeof member === 'object' && member !== null));
    }
    expect(size).toBeLessThan(10_000);
  });
});
