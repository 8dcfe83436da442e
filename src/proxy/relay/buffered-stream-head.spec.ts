import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { fuzzRuns } from '../../../test/support/jest/fuzz-runs.js';
import { StreamHead, type StreamHeadState } from './buffered-stream-head.js';

/** Number of inputs per property; a long run raises it. */
const RUNS = fuzzRuns(1_000);
const TIMEOUT_MS = 30_000 + RUNS * 5;
const KIB = 1024;

const data = (value: unknown): string => `data: ${JSON.stringify(value)}\n\n`;

const CREATED = `event: response.created\n${data({ type: 'response.created', response: { id: 'r' } })}`;
const IN_PROGRESS = data({ type: 'response.in_progress', response: {} });
const DELTA = data({ type: 'response.output_text.delta', delta: 'Hi' });
const ERROR = `event: error\n${data({ type: 'error', code: 'server_error', message: 'No.' })}`;

interface Opened {
  readonly verdict: StreamHeadState;
  readonly failure: string | undefined;
  readonly kept: string;
}

/** Pushes all chunks and asserts that the verdict does not change once it is final. */
function open(chunks: readonly (string | Buffer)[]): Opened {
  const opening = new StreamHead();
  let verdict: StreamHeadState = 'undecided';
  for (const chunk of chunks) {
    const next = opening.push(Buffer.isBuffer(chunk) ? chunk : Buffer.from(chunk));
    if (verdict !== 'undecided') expect(next).toBe(verdict);
    verdict = next;
  }
  return { verdict, failure: opening.failure, kept: Buffer.concat(opening.release()).toString('latin1') };
}

const verdictOf = (stream: string): StreamHeadState => open([stream]).verdict;

const singleBytes = (stream: Buffer): Buffer[] => Array.from(stream, (byte) => Buffer.from([byte]));

/** Splits the stream at the given offsets, taken modulo its length + 1. */
function cutAt(stream: Buffer, places: readonly number[]): Buffer[] {
  const sorted = places.map((place) => place % (stream.length + 1)).toSorted((one, other) => one - other);
  const bounds = [0, ...sorted, stream.length];
  return bounds.slice(1).map((end, index) => stream.subarray(bounds[index], end));
}

describe('the beginning of a stream', () => {
  it.each<[string, string]>([
    ['nothing', ''],
    ['blank lines', '\n\n\r\n\r\r\n'],
    ['a comment', ': still working\n\n'],
    ['an id and a retry time', 'id: 7\nretry: 3000\n\n'],
    ['events without content', CREATED + IN_PROGRESS],
    ['a frame without its blank line', ERROR.slice(0, -1)],
  ])('%s → undecided, and whatever follows decides', (_name, beginning) => {
    expect(verdictOf(beginning)).toBe('undecided');
    expect(verdictOf(`${beginning}\n${ERROR}`)).toBe('failed');
    expect(verdictOf(`: x\n\n${beginning.replaceAll('error', 'ping')}\n${DELTA}`)).toBe('content');
  });

  it('content first → a later error changes nothing, in the same chunk or the next', () => {
    expect(open([CREATED + DELTA + ERROR])).toMatchObject({ verdict: 'content', failure: undefined });
    expect(open([CREATED, DELTA, ERROR])).toMatchObject({ verdict: 'content', failure: undefined });
  });

  it('an error first → failed, with its code; later content changes nothing', () => {
    expect(open([CREATED + ERROR + DELTA])).toMatchObject({ verdict: 'failed', failure: 'server_error' });
    expect(open([CREATED, ERROR, DELTA])).toMatchObject({ verdict: 'failed', failure: 'server_error' });
  });
});

describe('lines and frames, parsed as browsers do', () => {
  it.each([
    ['LF', '\n'],
    ['CRLF', '\r\n'],
    ['CR', '\r'],
  ])('%s → data over several lines is one event, even byte by byte', (_name, end) => {
    const stream = ['event: error', 'data: {"code":', 'data: "server_error"}', '', ''].join(end);
    expect(open([stream])).toMatchObject({ verdict: 'failed', failure: 'server_error' });
    expect(open(singleBytes(Buffer.from(stream)))).toMatchObject({ verdict: 'failed', failure: 'server_error' });
  });

  it('a byte order mark at the start, whole or split → ignored; anywhere else → part of a name', () => {
    const marked = Buffer.from('\ufeffevent: error\ndata: x\n\n');
    expect(open([marked]).verdict).toBe('failed');
    expect(open(singleBytes(marked)).verdict).toBe('failed');
    expect(verdictOf('\n\ufeffevent: error\ndata: x\n\n')).toBe('content');
  });

  it('one space after the colon → not part of the value; further spaces → part of it', () => {
    expect(verdictOf('event:error\ndata:x\n\n')).toBe('failed');
    expect(verdictOf('event:  error\ndata: x\n\n')).toBe('content');
  });

  it('data without a colon → an event with empty data; no data → none', () => {
    expect(verdictOf('event: error\ndata\n\n')).toBe('failed');
    expect(verdictOf('event: error\n\n')).toBe('undecided');
  });

  it('several event names → the last one counts; a name ends with its frame; field names in capitals are ignored', () => {
    expect(verdictOf('event: error\nevent: ping\ndata: x\n\n')).toBe('undecided');
    expect(verdictOf('event: error\n\ndata: x\n\n')).toBe('content');
    expect(verdictOf('Event: error\ndata: x\n\n')).toBe('content');
  });
});

describe('bounds', () => {
  const comment = (bytes: number) => `:${'x'.repeat(bytes - 3)}\n\n`;

  it('64 KiB without content → undecided; one byte more → content', () => {
    expect(verdictOf(comment(64 * KIB))).toBe('undecided');
    expect(verdictOf(`${comment(64 * KIB)}\n`)).toBe('content');
    expect(verdictOf(`data: ${'x'.repeat(64 * KIB)}`)).toBe('content');
  });

  it('an error that ends with the 64 KiB → failed; one byte later → content', () => {
    expect(verdictOf(comment(64 * KIB - ERROR.length) + ERROR)).toBe('failed');
    expect(verdictOf(comment(64 * KIB - ERROR.length + 1) + ERROR)).toBe('content');
  });

  it('256 frames → undecided, or failed with the last; the next one → content', () => {
    expect(verdictOf(': x\n\n'.repeat(256))).toBe('undecided');
    expect(verdictOf(': x\n\n'.repeat(255) + ERROR)).toBe('failed');
    expect(verdictOf(': x\n\n'.repeat(256) + ERROR)).toBe('content');
  });

  it('60 KiB in single bytes → few pieces, every byte, once', () => {
    const opening = new StreamHead();
    const stream = Buffer.from(`data: ${'x'.repeat(60 * KIB)}`);
    for (const byte of singleBytes(stream)) opening.push(byte);
    const kept = opening.release();
    expect(kept.length).toBeLessThanOrEqual(64);
    expect(Buffer.concat(kept).equals(stream)).toBe(true);
    expect(opening.release()).toEqual([]);
  });

  it('JSON nested as deeply as the bounds allow → judged, without an exception', () => {
    expect(verdictOf(`data: ${'['.repeat(60_000)}\n\n`)).toBe('content');
    expect(verdictOf(`data: {"error":${'[{"a":'.repeat(5_000)}1${'}]'.repeat(5_000)}}\n\n`)).toBe('failed');
  });
});

describe('any stream', () => {
  const contentless = fc.constantFrom(CREATED, IN_PROGRESS, ': hi\r\n\r\n', 'event: ping\rdata: ü\r\r', '\n', 'id\n\n');
  const content = fc.constantFrom(
    DELTA,
    'data: hello\r\n\r\n',
    'data:[DONE]\r\r',
    data({ type: 'transcript.text.done' }),
  );
  const failure = fc.constantFrom(ERROR, data({ error: 'busy' }), ERROR.replaceAll('\n', '\r'));
  const fragment = fc.constantFrom(
    ...['\n', '\r', '\r\n', '\n\n', ': c', 'data:', 'data: ', 'event: error', 'event:', '{"error":1}', '{}', '\ufeff'],
  );
  const filler = fc.constantFrom(
    `:${'x'.repeat(32_700)}\n\n`,
    ': x\n\n'.repeat(127),
    'id: 1\r\n\r\n',
    `:${'y'.repeat(60)}\n`,
  );

  it.each([
    ['frames and parts of them', fc.oneof(contentless, content, failure, fragment, fc.string({ maxLength: 8 })), RUNS],
    ['frames around the bounds', fc.oneof(filler, failure), Math.ceil(RUNS / 10)],
  ])(
    'of %s, in any chunks → the same verdict, the same code and, released, the same bytes',
    (_name, piece, numRuns) => {
      fc.assert(
        fc.property(fc.array(piece, { maxLength: 12 }), fc.array(fc.nat(), { maxLength: 30 }), (pieces, places) => {
          const stream = Buffer.from(pieces.join(''));
          const whole = open([stream]);
          expect(whole.kept).toBe(stream.toString('latin1'));
          expect(open(cutAt(stream, places))).toEqual(whole);
        }),
        { numRuns },
      );
    },
    TIMEOUT_MS,
  );

  it(
    'of whole frames → failed exactly when a failure comes before any content',
    () => {
      const frame = fc.oneof(
        contentless.map((bytes) => ({ kind: 'contentless', bytes })),
        content.map((bytes) => ({ kind: 'content', bytes })),
        failure.map((bytes) => ({ kind: 'failed', bytes })),
      );
      fc.assert(
        fc.property(fc.array(frame, { maxLength: 20 }), (frames) => {
          const first = frames.find(({ kind }) => kind !== 'contentless')?.kind ?? 'undecided';
          expect(verdictOf(frames.map(({ bytes }) => bytes).join(''))).toBe(first);
        }),
        { numRuns: RUNS },
      );
    },
    TIMEOUT_MS,
  );

  it(
    'of random bytes or random JSON → no exception, and every byte is kept',
    () => {
      const bytes = fc.array(
        fc.uint8Array({ maxLength: 200 }).map((chunk) => Buffer.from(chunk)),
        { maxLength: 6 },
      );
      const json = fc.json().map((text) => [Buffer.from(`event: response.content_part.added\ndata: ${text}\n\n`)]);
      fc.assert(
        fc.property(fc.oneof(bytes, json), (chunks) => {
          expect(open(chunks).kept).toBe(Buffer.concat(chunks).toString('latin1'));
        }),
        { numRuns: RUNS },
      );
    },
    TIMEOUT_MS,
  );
});
