import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { fuzzRuns } from '../../../test/support/jest/fuzz-runs.js';
import { MAX_HELD_BYTES, UsageChunkFilter } from './usage-chunk-filter.js';

const delta = (text: string, rest = '') =>
  `data: {"id":"c","choices":[{"index":0,"delta":{"content":"${text}"}}]${rest}}\n\n`;
const USAGE_CHUNK = 'data: {"id":"c","choices":[],"usage":{"prompt_tokens":1,"completion_tokens":2}}\n\n';
const DONE = 'data: [DONE]\n\n';

function filter(chunks: readonly Buffer[]): string {
  const usageFilter = new UsageChunkFilter();
  const out = chunks.map((chunk) => usageFilter.push(chunk));
  return Buffer.concat([...out, usageFilter.end()].filter((piece) => piece !== undefined)).toString('latin1');
}

function filterText(text: string): string {
  return Buffer.from(filter([Buffer.from(text)]), 'latin1').toString();
}

/** Splits at the given offsets, taken modulo the length; one-byte pieces included. */
function cut(bytes: Buffer, places: readonly number[]): Buffer[] {
  const ends = [...new Set(places.map((place) => place % (bytes.length + 1)))].sort((a, b) => a - b);
  return [...ends, bytes.length].map((end, index) => bytes.subarray(index === 0 ? 0 : ends[index - 1], end));
}

describe('usage chunk filter: what the client sees', () => {
  it('a stream whose usage the gateway requested → the client sees no usage chunk', () => {
    const asked = `${delta('a', ',"usage":null')}${delta('b', ', "usage": null ,"x":1')}${USAGE_CHUNK}${DONE}`;
    expect(filterText(asked)).toBe(`${delta('a')}${delta('b', ' ,"x":1')}${DONE}`);
  });

  it.each([
    ['CRLF lines', USAGE_CHUNK.replaceAll('\n', '\r\n')],
    ['an event name and an id', `event: m\nid: 1\n${USAGE_CHUNK}`],
    ['no space, other order, space inside', 'data:{"usage":{"a":1},"choices":[ ]}\n\n'],
    ['no blank line before the end', USAGE_CHUNK.slice(0, -2)],
  ])('usage-only chunk with %s → removed', (_, event) => {
    expect(filterText(`${delta('a')}${event}`)).toBe(delta('a'));
  });

  it.each([
    ['usage beside a choice', delta('a', ',"usage":{"total_tokens":3}')],
    ['a deeper usage', 'data: {"choices":[{"delta":{"a":1,"usage":null}}],"x":{"usage":{}}}\n\n'],
    ['usage in the text', delta('say \\"usage\\":null,\\"choices\\":[]')],
    ['usage without choices', 'data: {"usage":{"a":1}}\n\n'],
    ['no choices, no usage', 'data: {"choices":[],"prompt_filter_results":[]}\n\n'],
    ['broken JSON', 'data: {"choices":[],"usage":{"a":1}\n\n'],
    ['several data lines', 'data: {"choices":[],\ndata: "usage":{"a":1}}\n\n'],
    ['a comment', ': "usage"\n\n'],
    ['an error document', '{"error":{"message":"usage","usage":null}}'],
    ['nothing', ''],
  ])('%s → forwarded byte for byte', (_, text) => {
    expect(filterText(text)).toBe(text);
  });

  it('usage: null as the first or only member → removed without a stray comma', () => {
    expect(filterText('data: {"usage":null,"choices":[]}\n\ndata: {"usage":null}\n\n')).toBe(
      'data: {"choices":[]}\n\ndata: {}\n\n',
    );
  });
});

describe('usage chunk filter: timing and memory', () => {
  it('whole events without usage → the same buffer, forwarded at once', () => {
    const chunk = Buffer.from(delta('a') + delta('b'));
    expect(new UsageChunkFilter().push(chunk)).toBe(chunk);
  });

  it('chunk that ends inside an event → the complete events at once, the rest with the end of the event', () => {
    const usageFilter = new UsageChunkFilter();
    const next = delta('b');
    expect(usageFilter.push(Buffer.from(delta('a') + next.slice(0, 20)))?.toString()).toBe(delta('a'));
    expect(usageFilter.push(Buffer.from(next.slice(20, 30)))).toBeUndefined();
    expect(usageFilter.push(Buffer.from(next.slice(30)))?.toString()).toBe(next);
    expect(usageFilter.end()).toBeUndefined();
  });

  it('held bytes → a copy: the chunk may be reused', () => {
    const usageFilter = new UsageChunkFilter();
    const chunk = Buffer.from(DONE.slice(0, -1));
    usageFilter.push(chunk);
    chunk.fill(0);
    expect(usageFilter.push(Buffer.from('\n'))?.toString()).toBe(DONE);
  });

  it('event longer than the bound → forwarded as it arrives, and the next one is filtered again', () => {
    const usageFilter = new UsageChunkFilter();
    const half = Buffer.alloc(MAX_HELD_BYTES * 0.6, 'x');
    expect(usageFilter.push(half)).toBeUndefined();
    expect(usageFilter.push(half)?.length).toBe(2 * half.length);
    expect(usageFilter.push(half)?.length).toBe(half.length);
    expect(usageFilter.push(Buffer.from(`"usage"\n\n${USAGE_CHUNK}${DONE}`))?.toString()).toBe(`"usage"\n\n${DONE}`);
  });

  it('lines that end in CR alone → forwarded without waiting', () => {
    const chunk = Buffer.from('data: a\r\rdata: b\r\r');
    expect(new UsageChunkFilter().push(chunk)).toEqual(chunk);
  });
});

const STRINGS_PER_RUN = 500;

describe('usage chunk filter: any chunking', () => {
  const event = fc.constantFrom(
    ...[delta('a'), delta('b', ',"usage":null'), delta('é'), USAGE_CHUNK, DONE, ': ping\n\n', '\n', '\r\n', 'x'],
    ...[USAGE_CHUNK.replaceAll('\n', '\r\n'), 'data: {"usage":null\n\n', `event: e\r\n${delta('c', ',"usage":null')}`],
  );

  it('events split anywhere → the same bytes as unsplit', () => {
    fc.assert(
      fc.property(
        fc.array(event, { maxLength: 8 }),
        fc.array(fc.nat({ max: 2000 }), { maxLength: 30 }),
        (events, places) => {
          const whole = Buffer.from(events.join(''));
          expect(filter(cut(whole, places))).toBe(filter([whole]));
        },
      ),
      { numRuns: fuzzRuns(3000) },
    );
  });

  it('100 000 random byte strings in random chunks → never throws, drops only usage chunks', () => {
    const alphabet = Buffer.from('\n\n\n\r:{}[]",data"usage"\0\xff', 'latin1');
    fc.assert(
      fc.property(
        fc.array(fc.nat(), { minLength: STRINGS_PER_RUN, maxLength: STRINGS_PER_RUN }),
        fc.nat({ max: 60 }),
        (numbers, place) => {
          for (const number of numbers) {
            const bytes = Buffer.from(
              Array.from({ length: number % 61 }, (_, at) => alphabet[(number >>> (at % 27)) % alphabet.length] ?? 0),
            );
            if (filter(cut(bytes, [place, number])) !== bytes.toString('latin1'))
              throw new Error(`changed ${bytes.toString('hex')}`);
          }
        },
      ),
      { numRuns: Math.ceil(fuzzRuns(100_000) / STRINGS_PER_RUN) },
    );
  });
});
