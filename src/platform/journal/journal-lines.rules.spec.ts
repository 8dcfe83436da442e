import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { completeLines, formatLine, parseLine, segmentName, segmentNames } from './journal-lines.rules.js';

describe('journal lines', () => {
  it('line: any event written → reads back as it was', () => {
    fc.assert(
      fc.property(fc.constantFrom('A' as const, 'S' as const), fc.string(), fc.string(), (mark, eventId, text) => {
        const json = JSON.stringify({ event_id: eventId, text });
        const lines = completeLines(formatLine(mark, json) + formatLine(mark, json));
        expect(lines.map(parseLine)).toEqual([
          { mark, eventId, json },
          { mark, eventId, json },
        ]);
      }),
    );
  });

  it('line: any bytes at all → read or refused, never thrown', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.json().map((json) => `A${json}`),
        ),
        (text) => {
          const line = parseLine(text);
          expect(line === undefined || text === line.mark + line.json).toBe(true);
        },
      ),
    );
  });

  it.each([
    ['no mark', '{"event_id":"1"}'],
    ['unknown mark', 'X{"event_id":"1"}'],
    ['cut JSON', 'A{"event_id":"1"'],
    ['no id', 'S{"id":"1"}'],
    ['id is no text', 'S{"event_id":1}'],
    ['no object', 'Anull'],
  ])('line: %s → damaged', (_name, text) => {
    expect(parseLine(text)).toBeUndefined();
  });

  it.each([
    ['cut line at the end', 'A1\nS2\nA{"even', ['A1', 'S2']],
    ['blank lines of a probe', '\n\nA1\n\n', ['A1']],
    ['nothing but a cut line', 'A{"even', []],
    ['empty file', '', []],
  ])('segment: %s → only complete lines', (_name, text, lines) => {
    expect(completeLines(text)).toEqual(lines);
  });

  it('segment names: mixed with other files, past eight digits → by number', () => {
    const names = [segmentName(100_000_000), 'owner', segmentName(2), '00000001.log.tmp', segmentName(10)];
    expect(segmentNames(names)).toEqual(['00000002.log', '00000010.log', '100000000.log']);
  });
});
