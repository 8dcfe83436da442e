import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { endOfLastEvent, SseEventEnds } from './sse-events.js';

/** The ends of all events of a stream that arrives in chunks of these sizes. */
function endsOf(stream: Buffer, sizes: readonly number[]): number[] {
  const ends = new SseEventEnds();
  const found: number[] = [];
  let at = 0;
  for (const size of [...sizes, stream.length]) {
    const chunk = stream.subarray(at, at + size);
    for (let end = ends.next(chunk, 0); end !== -1; end = ends.next(chunk, end)) found.push(at + end);
    at += chunk.length;
  }
  return found;
}

/** The same by definition: the ends of lines that are empty or a single CR. */
function endsByDefinition(stream: Buffer): number[] {
  let at = 0;
  return stream
    .toString('latin1')
    .split(/(?<=\n)/)
    .flatMap((line) => {
      at += line.length;
      return line === '\n' || line === '\r\n' ? [at] : [];
    });
}

describe('ends of events', () => {
  it.each([
    ['LF', 'data: a\n\ndata: b\n\n', [9, 18]],
    ['CRLF', 'data: a\r\n\r\ndata: b\r\n\r\n', [11, 22]],
    ['mixed line ends', 'data: a\r\n\nid: 1\n\r\n', [10, 18]],
    ['blank lines at the start', '\n\r\ndata: a\n\n', [1, 3, 12]],
    ['CR alone', 'data: a\r\rdata: b\r\r', []],
    ['two CRs and LF', 'data: a\n\r\r\n', []],
    ['an unfinished event', 'data: a\n', []],
  ])('%s → the offsets after blank lines', (_name, text, ends) => {
    const stream = Buffer.from(text);
    expect(endsOf(stream, [])).toEqual(ends);
    expect(endsOf(stream, Array(stream.length).fill(1))).toEqual(ends);
    expect(endOfLastEvent(stream)).toBe(ends.at(-1) ?? 0);
  });

  it('any stream, split anywhere, even within CRLF or within a character → the same ends', () => {
    const piece = fc.constantFrom('\n', '\r', '\r\n', 'data: ä€', ':', '');
    fc.assert(
      fc.property(
        fc.array(piece, { maxLength: 30 }),
        fc.array(fc.nat({ max: 5 }), { maxLength: 30 }),
        (pieces, sizes) => {
          const stream = Buffer.from(pieces.join(''));
          const ends = endsByDefinition(stream);
          expect(endsOf(stream, sizes)).toEqual(ends);
          expect(endOfLastEvent(stream)).toBe(ends.at(-1) ?? 0);
        },
      ),
    );
  });
});
