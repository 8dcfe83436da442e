import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { fuzzRuns } from '../../../test/support/jest/fuzz-runs.js';
import { SseScanner } from './sse-scanner.js';

/**
 * Scans chunks with a listener that treats every event with an `!` as interesting; `asked` counts `isInteresting`
 * calls.
 */
function scan(chunks: readonly string[]) {
  const events: string[] = [];
  let asked = 0;
  const scanner = new SseScanner({
    isInteresting: (bytes) => {
      asked += 1;
      return bytes.includes('!');
    },
    onEvent: ({ head, tail }) => events.push(`${head}${tail ?? ''}`.trim()),
  });
  for (const chunk of chunks) scanner.push(Buffer.from(chunk));
  const before = events.length;
  scanner.finish();
  return { events, cut: events.slice(before), asked };
}

describe('SseScanner', () => {
  it('several events in a chunk → only the relevant ones are passed on, one by one', () => {
    expect(scan(['data: a\n\ndata: b!\n\n: c\n\ndata: d!\n\n']).events).toEqual(['data: b!', 'data: d!']);
  });

  it('a chunk of complete but irrelevant events → one check and nothing more', () => {
    expect(scan(['data: a\n\ndata: b\r\n\r\n'])).toEqual({ events: [], cut: [], asked: 1 });
  });

  it.each([
    ['LF', ['data: a!\n', '\ndata: b!\n\n']],
    ['CRLF after the first CR', ['data: a!\r', '\n\r\ndata: b!\n\n']],
    ['CRLF after the first LF', ['data: a!\r\n', '\r\ndata: b!\n\n']],
    ['CRLF after the second CR', ['data: a!\r\n\r', '\ndata: b!\n\n']],
    ['CRLF byte by byte', ['data: a!', '\r', '\n', '\r', '\n', 'data: b!\r\n\r\n']],
    ['an empty chunk between', ['data: a!\r\n\r', '', '\ndata: b!\n\n']],
    ['mixed ends', ['data: a!\n\r', '\n', 'data: b!\r\n\n']],
  ])('a blank line split in two (%s) → still ends the event', (_how, chunks) => {
    expect(scan(chunks)).toMatchObject({ events: ['data: a!', 'data: b!'], cut: [] });
  });

  it('a truncated last event → passed on at the end', () => {
    expect(scan(['data: a!\n\nda', 'ta: b!'])).toMatchObject({ events: ['data: a!', 'data: b!'], cut: ['data: b!'] });
    expect(scan(['data: a'])).toMatchObject({ events: [] });
    expect(scan([])).toEqual({ events: [], cut: [], asked: 0 });
  });

  it('an endless event → only its first and last bytes are kept', () => {
    const part = 'x'.repeat(300_000);
    const { events } = scan([`start${part}`, part, part, part, part, `${part}!end`]);
    expect(events[0]?.length).toBe(4 * 1024 + 1024 * 1024);
    expect(events[0]?.startsWith('startx') && events[0].endsWith('x!end')).toBe(true);
  });

  it('any stream in any chunks → the events of the whole stream', () => {
    const piece = fc.constantFrom('a', '!', '\n', '\r\n', '\n\n', '\r\n\r\n', '\r', 'data: x!\n\n');
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 20 }), fc.array(fc.nat(60)), (pieces, unsorted) => {
        const stream = pieces.join('');
        const places = [0, ...unsorted.toSorted((one, other) => one - other), stream.length];
        const chunks = places.slice(1).map((place, index) => stream.slice(places[index], place));
        expect(scan(chunks).events).toEqual(scan([stream]).events);
      }),
      { numRuns: fuzzRuns(1000) },
    );
  });
});
