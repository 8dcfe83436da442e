import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { type OpeningVerdict, StreamOpening } from './stream-opening.js';

const KIB = 1024;

const data = (value: unknown): string => `data: ${typeof value === 'string' ? value : JSON.stringify(value)}\n\n`;

const CREATED = `event: response.created\n${data({ type: 'response.created', response: { id: 'r', error: null } })}`;
const IN_PROGRESS = data({ type: 'response.in_progress', response: {} });
const DELTA = data({ type: 'response.output_text.delta', delta: 'Hi' });
const ERROR = `event: error\n${data({ type: 'error', code: 'server_error', message: 'No.' })}`;

interface Opened {
  readonly verdict: OpeningVerdict;
  readonly failure: string | undefined;
  readonly kept: string;
}

/** Pushes everything, also what comes after the verdict. */
function open(chunks: readonly (string | Buffer)[]): Opened {
  const opening = new StreamOpening();
  let verdict: OpeningVerdict = 'undecided';
  for (const chunk of chunks) {
    const next = opening.push(Buffer.from(chunk as string));
    // Undecided is not final; everything else is.
    expect([verdict, 'undecided'].includes('undecided') && (verdict === 'undecided' || next === verdict)).toBe(true);
    verdict = next;
  }
  return { verdict, failure: opening.failure, kept: Buffer.concat(opening.release()).toString('latin1') };
}

const verdictOf = (stream: string): OpeningVerdict => open([stream]).verdict;

/** The stream cut at the given places, taken modulo its length. */
function cutAt(stream: Buffer, places: readonly number[]): Buffer[] {
  const sorted = places.map((place) => place % (stream.length + 1)).toSorted((one, other) => one - other);
  const bounds = [0, ...sorted, stream.length];
  return bounds.slice(1).map((end, index) => stream.subarray(bounds[index], end));
}

describe('frames without content (threats 3.4)', () => {
  it.each<[string, string]>([
    ['nothing', ''],
    ['blank lines', '\n\n\r\n\r\r\n'],
    ['a comment', ': OPENROUTER PROCESSING\n\n'],
    ['an id and a retry time', 'id: 7\nretry: 3000\n\n'],
    ['a name without data', 'event: error\n\n'],
    ['empty data', 'data:\n\n'],
    ['response.created', CREATED],
    ['response.queued', data({ type: 'response.queued' })],
    ['response.in_progress', IN_PROGRESS],
    ['a ping', data({ type: 'ping' })],
    ['a ping by name', 'event: ping\ndata: 2026-07-30\n\n'],
    ['a keepalive', `event: keepalive\n${data({ type: 'keepalive', sequence_number: 3 })}`],
    ['a type by name only', `event: response.created\n${data({ response: {} })}`],
    ['an empty message', data({ type: 'response.output_item.added', item: { type: 'message', content: [] } })],
    ['a bare message', data({ type: 'response.output_item.added', item: { type: 'message' } })],
    [
      'reasoning that nobody can read',
      data({
        type: 'response.output_item.added',
        item: { type: 'reasoning', summary: [], content: null, encrypted_content: 'x' },
      }),
    ],
    [
      'an empty text part',
      data({ type: 'response.content_part.added', part: { type: 'output_text', text: '', annotations: [] } }),
    ],
    ['an empty refusal', data({ type: 'response.content_part.added', part: { type: 'refusal', refusal: '' } })],
    [
      'an empty summary part',
      data({ type: 'response.reasoning_summary_part.added', part: { type: 'summary_text', text: '' } }),
    ],
  ])('%s → undecided', (_name, frame) => {
    expect(verdictOf(frame)).toBe('undecided');
    expect(verdictOf(CREATED + frame + IN_PROGRESS)).toBe('undecided');
    expect(verdictOf(CREATED + frame + ERROR)).toBe('failed');
  });
});

describe('content', () => {
  it.each<[string, string]>([
    ['a delta', DELTA],
    ['a delta of a transcription', data({ type: 'transcript.text.delta', delta: 'Hi' })],
    ['a chunk of the older format', data({ choices: [{ delta: { content: 'Hi' } }] })],
    ['the end', data('[DONE]')],
    ['no JSON', data('hello')],
    ['half JSON', data('{"type":"response.created"')],
    ['a list', data([{ type: 'error' }])],
    ['a number', data('7')],
    ['null', data('null')],
    ['an unknown type', data({ sequence_number: 1, type: 'response.image_generation_call.partial_image' })],
    ['a type that is no text', data({ type: { toString: 1 }, error: {} })],
    ['an inherited type', data('{"__proto__":{"type":"error"}}')],
    ['a complete answer', data({ type: 'response.completed', response: { error: null } })],
    ['an incomplete answer', data({ type: 'response.incomplete' })],
    ['a call of a tool', data({ type: 'response.output_item.added', item: { type: 'function_call', name: 'f' } })],
    ['no item', data({ type: 'response.output_item.added' })],
    [
      'a message that has begun',
      data({
        type: 'response.output_item.added',
        item: { type: 'message', content: [{ type: 'output_text', text: 'H' }] },
      }),
    ],
    [
      'reasoning that has begun',
      data({
        type: 'response.output_item.added',
        item: { type: 'reasoning', summary: [{ type: 'summary_text', text: 'H' }] },
      }),
    ],
    ['a part that has begun', data({ type: 'response.content_part.added', part: { type: 'output_text', text: 'H' } })],
    ['a part of another kind', data({ type: 'response.content_part.added', part: { type: 'output_audio' } })],
    ['no part', data({ type: 'response.content_part.added', part: null })],
    ['a delta that calls itself a ping', `event: ping\n${DELTA}`],
    ['an error that is null', data({ error: null, choices: [] })],
    ['a field in capitals', `DATA: x\nEvent: error\n${DELTA}`],
  ])('%s → decided for good', (_name, frame) => {
    expect(verdictOf(frame)).toBe('content');
    expect(open([CREATED + frame + ERROR])).toMatchObject({ verdict: 'content', failure: undefined });
    expect(open([CREATED, frame, ERROR])).toMatchObject({ verdict: 'content', failure: undefined });
  });
});

describe('failures', () => {
  it.each<[string, string, string]>([
    ['an error event', ERROR, 'server_error'],
    ['an error by name, its data no JSON', 'event: error\ndata: overloaded\n\n', 'error'],
    ['an error by name, its data empty', 'event: error\ndata\n\n', 'error'],
    ['an error by name, its type another', `event: error\n${DELTA}`, 'error'],
    [
      'an error by type',
      data({ type: 'error', error: { type: 'rate_limit_exceeded', code: null } }),
      'rate_limit_exceeded',
    ],
    ['an error whose type comes late', data({ message: 'x', type: 'error', code: 'server_error' }), 'server_error'],
    [
      'response.failed',
      data({ type: 'response.failed', response: { status: 'failed', error: { code: 'server_error', message: 'x' } } }),
      'server_error',
    ],
    ['response.failed without a word', data({ type: 'response.failed' }), 'response.failed'],
    ['an error of the second family', data({ code: 'The service is busy', error: 'busy' }), 'error'],
    ['its error as an object', data({ error: { code: 429, message: 'slow down' } }), '429'],
    ['a type of null beside an error', data({ type: null, error: { type: 'overloaded_error' } }), 'overloaded_error'],
  ])('%s → failed, with its code', (_name, frame, failure) => {
    expect(open([CREATED, frame])).toMatchObject({ verdict: 'failed', failure });
    expect(open([frame + DELTA])).toMatchObject({ verdict: 'failed', failure });
  });

  it.each(['sk-proj-Ab12', 'AIza9', 'Incorrect API key: x', 'x'.repeat(65), 'a\nb', '', 12345, {}, null])(
    'threats 6.5: %j instead of a code → not in the record',
    (code) => {
      expect(open([data({ type: 'error', code, error: { code, type: code } })]).failure).toBe('error');
    },
  );
});

describe('lines and frames as browsers read them', () => {
  const frame = (end: string) => ['event: error', 'data: {"code":', 'data: "server_error"}', '', ''].join(end);

  it.each([
    ['LF', '\n'],
    ['CRLF', '\r\n'],
    ['CR', '\r'],
  ])('%s → data over several lines is one event', (_name, end) => {
    expect(open([frame(end)])).toMatchObject({ verdict: 'failed', failure: 'server_error' });
    expect(open(Array.from(frame(end)))).toMatchObject({ verdict: 'failed', failure: 'server_error' });
  });

  it('a frame without its blank line → still undecided', () => {
    expect(verdictOf(ERROR.slice(0, -1))).toBe('undecided');
    expect(verdictOf('data: hello')).toBe('undecided');
  });

  it('a byte order mark at the start, whole or cut → ignored; anywhere else → part of the name', () => {
    const marked = Buffer.from(`\ufeffevent: error\ndata: x\n\n`);
    expect(open([marked]).verdict).toBe('failed');
    expect(open(Array.from(marked, (byte) => Buffer.from([byte]))).verdict).toBe('failed');
    expect(verdictOf(`\n\ufeffevent: error\ndata: x\n\n`)).toBe('content');
  });

  it('one blank after the colon → not part of the value; more → part of it', () => {
    expect(verdictOf('event:error\ndata:x\n\n')).toBe('failed');
    expect(verdictOf('event:  error\ndata: x\n\n')).toBe('content');
  });

  it('several names → the last one counts; a name does not outlive its frame', () => {
    expect(verdictOf('event: error\nevent: ping\ndata: x\n\n')).toBe('undecided');
    expect(verdictOf('event: error\n\ndata: x\n\n')).toBe('content');
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

  it('60 KiB in single bytes → few pieces, every byte', () => {
    const opening = new StreamOpening();
    const stream = Buffer.from(`data: ${'x'.repeat(60 * KIB)}`);
    for (const byte of stream) opening.push(Buffer.from([byte]));
    const kept = opening.release();
    expect(kept.length).toBeLessThanOrEqual(64);
    expect(Buffer.concat(kept).equals(stream)).toBe(true);
    expect(opening.release()).toEqual([]);
  });

  it('JSON as deep as the bounds allow → content, without a throw', () => {
    expect(verdictOf(data(`${'['.repeat(60_000)}`))).toBe('content');
    expect(verdictOf(data(`{"error":${'[{"a":'.repeat(5_000)}1${'}]'.repeat(5_000)}}`))).toBe('failed');
  });
});

const contentless = fc.constantFrom(CREATED, IN_PROGRESS, ': hi\r\n\r\n', 'event: ping\rdata: ü\r\r', '\n', 'id\n\n');
const content = fc.constantFrom(
  DELTA,
  'data: hello\r\n\r\n',
  'data:[DONE]\r\r',
  data({ type: 'transcript.text.done' }),
);
const failure = fc.constantFrom(ERROR, data({ error: 'busy' }), ERROR.replaceAll('\n', '\r'));
const fragment = fc.constantFrom(
  ...[
    '\n',
    '\r',
    '\r\n',
    '\n\n',
    ': c',
    'data:',
    'data: ',
    'event: error',
    'event:',
    '{"error":1}',
    '{}',
    '\ufeff',
    'x',
  ],
);

describe('any stream', () => {
  it('in any chunks → the same verdict, the same code and, released, the same bytes', () => {
    const piece = fc.oneof(contentless, content, failure, fragment, fc.string({ maxLength: 8 }));
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), fc.array(fc.nat(), { maxLength: 30 }), (pieces, places) => {
        const stream = Buffer.from(pieces.join(''));
        const whole = open([stream]);
        expect(whole.kept).toBe(stream.toString('latin1'));
        expect(open(cutAt(stream, places))).toEqual(whole);
      }),
      { numRuns: 3000 },
    );
  });

  it('around the bounds, in any chunks → the same verdict', () => {
    const filler = fc.constantFrom(
      `:${'x'.repeat(32_700)}\n\n`,
      ': x\n\n'.repeat(127),
      'id: 1\r\n\r\n',
      `:${'y'.repeat(60)}\n`,
    );
    fc.assert(
      fc.property(fc.array(fc.oneof(filler, failure), { maxLength: 8 }), fc.array(fc.nat()), (pieces, places) => {
        const stream = Buffer.from(pieces.join(''));
        expect(open(cutAt(stream, places))).toEqual(open([stream]));
      }),
      { numRuns: 300 },
    );
  });

  it('of whole frames → failed exactly when a failure comes before any content', () => {
    const kinds = fc.oneof(
      contentless.map((bytes) => ({ kind: 'contentless', bytes })),
      content.map((bytes) => ({ kind: 'content', bytes })),
      failure.map((bytes) => ({ kind: 'failed', bytes })),
    );
    fc.assert(
      fc.property(fc.array(kinds, { maxLength: 20 }), (frames) => {
        const first = frames.find(({ kind }) => kind !== 'contentless')?.kind ?? 'undecided';
        expect(verdictOf(frames.map(({ bytes }) => bytes).join(''))).toBe(first);
      }),
      { numRuns: 1000 },
    );
  });

  it('of random bytes → never a throw, every byte kept', () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 300 }), { maxLength: 8 }), (chunks) => {
        const buffers = chunks.map((chunk) => Buffer.from(chunk));
        expect(open(buffers).kept).toBe(Buffer.concat(buffers).toString('latin1'));
      }),
      { numRuns: 1000 },
    );
  });

  it('of random JSON → never a throw, and the same verdict twice', () => {
    fc.assert(
      fc.property(
        fc.json(),
        fc.constantFrom('', 'event: ping\n', 'event: response.content_part.added\n'),
        (json, name) => {
          const frame = name + data(json);
          expect(verdictOf(frame)).toBe(verdictOf(frame));
        },
      ),
      { numRuns: 1000 },
    );
  });
});
