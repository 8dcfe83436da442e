import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { fuzzRuns } from '../../../test/support/jest/fuzz-runs.js';
import { API_STYLES, type ApiStyle } from '../api-style.rules.js';
import type { UsageReading } from './token-counts.js';
import { createUsageReader } from './usage-reader.js';

const MIB = 1024 * 1024;

/** Reads chunks from one buffer that is wiped after each of them: no view may be retained. */
function readChunks(style: ApiStyle, chunks: readonly Uint8Array[]): UsageReading | undefined {
  const reader = createUsageReader({
    style,
    type: 'openai',
    reportsCost: false,
    contentType: 'text/event-stream; charset=utf-8',
  });
  const slab = Buffer.alloc(Math.max(0, ...chunks.map((chunk) => chunk.length)));
  for (const chunk of chunks) {
    slab.set(chunk);
    reader.push(slab.subarray(0, chunk.length));
    slab.fill(0x22);
  }
  return reader.finish();
}

const read = (style: ApiStyle, text: string) => readChunks(style, [Buffer.from(text)]);
const event = (data: object, end = '\n') => `data: ${JSON.stringify(data)}${end}${end}`;

const chat =
  event({ choices: [{ delta: { content: 'hé' } }], usage: null }) +
  ': comment\n\n' +
  event({ choices: [], usage: { prompt_tokens: 9, completion_tokens: 4 } }) +
  'data: [DONE]\n\n';
const anthropic =
  `event: message_start\r\n${event({ type: 'message_start', message: { usage: { input_tokens: 7, cache_read_input_tokens: 3, output_tokens: 1 } } }, '\r\n')}` +
  event({ type: 'content_block_delta', delta: { text: '"usage":{"output_tokens":99}' } }, '\r\n') +
  event({ type: 'message_delta', usage: { output_tokens: 15 } }, '\r\n') +
  event({ type: 'message_stop' }, '\r\n');
const responses =
  event({ type: 'response.created', response: { id: 'resp_42', usage: null } }) +
  event({ type: 'response.output_text.delta', delta: 'x' }) +
  event({
    type: 'response.completed',
    response: { id: 'resp_42', output: [], usage: { input_tokens: 5, output_tokens: 6 } },
  });
const gemini = [1, 2, 3]
  .map((n) => event({ usageMetadata: { promptTokenCount: 4, candidatesTokenCount: n } }, '\r\n'))
  .join('');
const audio = event({ type: 'segment', duration: 4 }) + event({ type: 'done', usage: { input_tokens: 3 } });

const streams: readonly (readonly [ApiStyle, string, Partial<UsageReading>])[] = [
  ['chat_completions', chat, { inputTokens: 9, outputTokens: 4 }],
  ['anthropic_messages', anthropic, { inputTokens: 7, cachedInputTokens: 3, outputTokens: 15 }],
  ['other', anthropic, { inputTokens: 7, cachedInputTokens: 3, outputTokens: 15 }],
  ['responses', responses, { inputTokens: 5, outputTokens: 6, responseId: 'resp_42', hostedToolCalls: 0 }],
  ['other', responses, { inputTokens: 5, responseId: 'resp_42' }],
  ['gemini_native', gemini, { inputTokens: 4, outputTokens: 3 }],
  ['audio_transcription', audio, { inputTokens: 3, audioSeconds: 4 }],
];

describe('event stream', () => {
  it.each(streams)('%s → the usage of its events', (style, stream, expected) => {
    expect(read(style, stream)).toMatchObject({ usageSeen: true, ...expected });
  });

  it.each(streams)('%s split into any chunks → the same reading as in one piece', (style, stream) => {
    const bytes = Buffer.from(stream);
    const whole = readChunks(style, [bytes]);
    const cuts = fc.array(fc.nat(bytes.length), { maxLength: 40 });
    fc.assert(
      fc.property(cuts, (unsorted) => {
        const places = [0, ...unsorted.toSorted((one, other) => one - other), bytes.length];
        const chunks = places.slice(1).map((place, index) => bytes.subarray(places[index], place));
        expect(readChunks(style, chunks)).toEqual(whole);
      }),
    );
    expect(
      readChunks(
        style,
        [...bytes].map((byte) => Uint8Array.of(byte)),
      ),
    ).toEqual(whole);
  });

  it('stream truncated anywhere → never more than the whole stream reports', () => {
    for (let length = 0; length <= anthropic.length; length += 1) {
      const reading = read('anthropic_messages', anthropic.slice(0, length));
      expect([undefined, 1, 15]).toContain(reading?.outputTokens);
    }
  });

  it('stream truncated after the usage object → its usage is still read', () => {
    const cut = responses.slice(0, responses.indexOf('"output_tokens":6}') + '"output_tokens":6}'.length);
    expect(read('responses', cut)).toMatchObject({ outputTokens: 6, responseId: 'resp_42' });
  });

  it('stream truncated before its usage → only the response id, usage not seen', () => {
    expect(read('responses', responses.slice(0, 60))).toMatchObject({ usageSeen: false, responseId: 'resp_42' });
  });

  it('data in several lines → joined', () => {
    expect(read('chat_completions', 'data: {"usage":\ndata: {"prompt_tokens":\ndata:2}}\n\n')?.inputTokens).toBe(2);
  });

  it('JSON error labelled as a stream → read as JSON', () => {
    expect(read('chat_completions', '{"usage":{"prompt_tokens":2}}')?.inputTokens).toBe(2);
  });

  it.each([1, 64 * 1024, 3 * MIB])('completed event of 2 MiB in chunks of %i → usage from its tail', (size) => {
    const length = size === 1 ? 20_000 : 2 * MIB;
    const completed = event({ response: { id: 'resp_7', output: 'x'.repeat(length), usage: { input_tokens: 8 } } });
    const bytes = Buffer.from(completed);
    const count = Math.ceil(bytes.length / size);
    const chunks = Array.from({ length: count }, (_, at) => bytes.subarray(at * size, (at + 1) * size));
    expect(readChunks('responses', chunks)).toMatchObject({ inputTokens: 8, responseId: 'resp_7' });
  });

  it('any bytes → no exception', () => {
    const styles = fc.constantFrom(...API_STYLES);
    const piece = fc.oneof(
      fc.uint8Array({ maxLength: 20 }),
      fc
        .constantFrom(
          'data: ',
          '{"usage":',
          '{"usageMetadata":{',
          '"duration":',
          '1',
          '}',
          '\n\n',
          '\r\n',
          '\r',
          '\\',
          '"',
        )
        .map((text) => Buffer.from(text)),
      fc.constantFrom('[', '{"response":{"id":"x"', '"usage', '\ufeff', '__proto__').map((text) => Buffer.from(text)),
    );
    fc.assert(
      fc.property(styles, fc.boolean(), fc.array(piece, { maxLength: 30 }), (style, asStream, chunks) => {
        const contentType = asStream ? 'text/event-stream' : '';
        const reader = createUsageReader({ style, type: 'openrouter', reportsCost: true, contentType });
        for (const chunk of chunks) reader.push(Buffer.from(chunk));
        const reading = reader.finish();
        for (const count of Object.values(reading ?? {})) expect(count).not.toBe(Number.NaN);
      }),
      { numRuns: fuzzRuns(2000) },
    );
  });

  it('deeply nested JSON → no stack overflow', () => {
    const nested = `data: {"usage":{"input_tokens":1},"x":${'['.repeat(500_000)}\n\n`;
    expect(read('responses', nested)?.inputTokens).toBe(1);
  });
});
