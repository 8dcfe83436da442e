import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  completeLines,
  eventKind,
  formatLine,
  type JournalLine,
  parseSegment,
  segmentName,
  segmentNames,
} from './journal-lines.rules.js';

const parseLine = (line: string): JournalLine | string | undefined => parseSegment(`${line}\n`, new Map())[0];

/** The line of a kind, by an earlier version. */
const kindLine = ({ json }: { readonly json: string }) => `K${json}\n`;

/** The line of an event that names its kind, likewise. */
const lineOf = (head: string, { end }: { readonly end: Buffer }) => formatLine('S', head + end);

describe('journal lines', () => {
  it('line: any event written → survives a round trip', () => {
    fc.assert(
      fc.property(fc.constantFrom('A' as const, 'S' as const), fc.string(), fc.string(), (mark, eventId, text) => {
        const json = JSON.stringify({ event_id: eventId, text });
        const lines = formatLine(mark, json) + formatLine(mark, json);
        expect(parseSegment(lines, new Map())).toEqual([
          { mark, eventId, json },
          { mark, eventId, json },
        ]);
      }),
    );
  });

  it('line: events of any kinds, by an earlier version → complete, even in a later file than the one that has the kind', () => {
    const members = fc.array(fc.record({ number: fc.nat(), text: fc.string() }), { minLength: 1 });
    fc.assert(
      fc.property(members, fc.string(), (of, eventId) => {
        const kinds = new Map(of.map(({ number, text }) => [number, { number, text }]));
        const tails = new Map<number, string>();
        const head = `{"event_id":${JSON.stringify(eventId)}`;
        for (const { number, text } of kinds.values()) {
          const kind = eventKind(number, `,"text":${JSON.stringify(text)}}`);
          const json = JSON.stringify({ event_id: eventId, text });
          const expected = [{ mark: 'S', eventId, json }];
          expect(parseSegment(kindLine(kind) + lineOf(head, kind), tails)).toEqual(expected);
          expect(parseSegment(lineOf(head, kind), tails)).toEqual(expected);
        }
      }),
    );
  });

  it('line: of a kind whose own line is missing or damaged → both lines are damaged', () => {
    const kind = eventKind(7, ',"app_id":"a"}');
    const line = lineOf('{"event_id":"e"', kind);
    const cut = `${kindLine(kind).slice(0, -4)}\n`;
    const other = kindLine(eventKind(8, ',"app_id":"b"}'));
    expect(parseSegment(line, new Map())).toEqual([line.trimEnd()]);
    expect(parseSegment(cut + line, new Map())).toEqual([cut.trimEnd(), line.trimEnd()]);
    expect(parseSegment(other + line, new Map())).toEqual([line.trimEnd()]);
    expect(parseLine('S{"event_id":"e","kind":"7"}')).toBe('S{"event_id":"e","kind":"7"}');
  });

  it('line: any bytes at all → read or refused, never thrown', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.json().map((json) => `A${json}`),
        ),
        (text) => {
          for (const line of parseSegment(`${text}\n`, new Map()))
            expect(text).toContain(typeof line === 'string' ? line : line.mark + line.json);
        },
      ),
    );
  });

  it.each([
    ['no mark', '{"event_id":"1"}'],
    ['unknown mark', 'X{"event_id":"1"}'],
    ['cut JSON', 'A{"event_id":"1"'],
    ['no id', 'S{"id":"1"}'],
    ['id is not text', 'S{"event_id":1}'],
    ['no object', 'Anull'],
    ['a kind without a number', 'K{"app_id":"a"}'],
    ['a kind that is cut', 'K{"kind":1,"app_id"'],
  ])('line: %s → damaged', (_name, text) => {
    expect(parseLine(text)).toBe(text);
  });

  it.each([
    ['cut line at the end', 'A1\nS2\nA{"even', ['A1', 'S2']],
    ['blank lines of a probe', '\n\nA1\n\n', ['A1']],
    ['nothing but a cut line', 'A{"even', []],
    ['empty file', '', []],
  ])('segment: %s → only complete lines', (_name, text, lines) => {
    expect(completeLines(text)).toEqual(lines);
  });

  it('segment names: mixed with other files, past eight digits → sorted by number', () => {
    const names = [segmentName(100_000_000), 'owner', segmentName(2), '00000001.log.tmp', segmentName(10)];
    expect(segmentNames(names)).toEqual(['00000002.log', '00000010.log', '100000000.log']);
  });
});
