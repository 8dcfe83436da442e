import { describe, expect, it } from '@jest/globals';
import type { UsageReading } from './token-counts.js';
import { createUsageReader } from './usage-reader.js';

const CHUNK_BYTES = 16 * 1024;
/** Exceeds both windows of a document, so that its middle is dropped. */
const LONG_ANSWER_WORDS = 40_000;

type Answer = readonly [type: 'openai' | 'xai', contentType: string, text: string];

const json = (type: Answer[0], document: object): Answer => [type, 'application/json', JSON.stringify(document)];
const stream = (...events: object[]): Answer => [
  'openai',
  'text/event-stream',
  events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(''),
];

/** Reads a transcription answer in chunks. */
function read([type, contentType, text]: Answer): UsageReading | undefined {
  const reader = createUsageReader({ style: 'audio_transcription', type, reportsCost: false, contentType });
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += CHUNK_BYTES) reader.push(bytes.subarray(at, at + CHUNK_BYTES));
  return reader.finish();
}

const tokens = {
  type: 'tokens',
  input_tokens: 14,
  input_token_details: { text_tokens: 0, audio_tokens: 14 },
  output_tokens: 45,
  total_tokens: 59,
};
const word = (at: number) => ({ text: 'spoken', start: at / 2, end: at / 2 + 0.4, confidence: 0.99, speaker: at % 2 });
const segment = { id: 0, seek: 0, start: 0, end: 8.46, text: ' The beach', tokens: [50364], temperature: 0 };

describe('transcriptions of the first family', () => {
  it.each<[string, Answer, Partial<UsageReading>]>([
    ['json with tokens', json('openai', { text: 'a', usage: tokens }), { inputTokens: 14, outputTokens: 45 }],
    [
      'json with a duration as usage',
      json('openai', { text: 'a', usage: { type: 'duration', seconds: 9 } }),
      { audioSeconds: 9, inputTokens: 0, outputTokens: 0 },
    ],
    [
      'verbose_json, duration of the recording and rounded usage → the usage counts',
      json('openai', {
        ...{ task: 'transcribe', language: 'english', duration: 8.470000267028809, text: 'a' },
        ...{ segments: [segment], usage: { type: 'duration', seconds: 9 } },
      }),
      { audioSeconds: 9 },
    ],
    [
      'verbose_json without usage → the duration of the recording',
      json('openai', { task: 'transcribe', duration: 8.470000267028809, text: 'a', segments: [segment] }),
      { audioSeconds: 8.470000267028809 },
    ],
    [
      'diarized_json, tokens and a duration → both, and the price says which one counts',
      json('openai', {
        task: 'transcribe',
        duration: 27.4,
        segments: [{ type: 'transcript.text.segment' }],
        usage: tokens,
      }),
      { inputTokens: 14, audioInputTokens: 14, outputTokens: 45, audioSeconds: 27.4 },
    ],
    [
      'stream that ends with tokens',
      stream(
        { type: 'transcript.text.delta', delta: 'spoken "usage":{"input_tokens":999}' },
        { type: 'transcript.text.segment', id: 's1', start: 0, end: 3, text: 'spoken', speaker: 'A' },
        { type: 'transcript.text.done', text: 'spoken "duration": 999', usage: tokens },
      ),
      { inputTokens: 14, audioInputTokens: 14, outputTokens: 45, audioSeconds: undefined },
    ],
    [
      'stream that ends with a duration',
      stream(
        { type: 'transcript.text.delta', delta: 'spoken' },
        { type: 'transcript.text.done', text: 'spoken', usage: { type: 'duration', seconds: 3 } },
      ),
      { audioSeconds: 3, inputTokens: 0, outputTokens: 0 },
    ],
  ])('%s', (_, answer, expected) => {
    expect(read(answer)).toMatchObject({ usageSeen: true, ...expected });
  });

  it.each<[string, Answer]>([
    ['stream cut before its last event', stream({ type: 'transcript.text.delta', delta: 'spoken' })],
    ['json without usage', json('openai', { text: 'a' })],
    ['duration that is text', json('openai', { text: 'a', duration: '8.47' })],
    ['subtitles', ['openai', 'text/plain', '1\n00:00:00,000 --> 00:00:08,000\n"duration" 8\n']],
  ])('%s → unknown, not zero', (_, answer) => {
    expect(read(answer)).toBeUndefined();
  });
});

describe('transcriptions of the second family', () => {
  it.each<[string, object]>([
    ['without words', { text: 'a', language: '', duration: 3.45 }],
    ['with words', { text: 'a', language: 'en', duration: 3.45, words: [word(0), word(1)] }],
    ['by channels', { text: 'a', duration: 3.45, channels: [{ index: 0, text: 'a', words: [word(0)] }] }],
  ])('answer %s → its duration', (_, document) => {
    expect(read(json('xai', document))).toMatchObject({ usageSeen: true, audioSeconds: 3.45, inputTokens: 0 });
  });

  it('audio of length zero → zero seconds, which is a known value', () => {
    expect(read(json('xai', { text: '', duration: 0 }))).toMatchObject({ usageSeen: true, audioSeconds: 0 });
  });

  const words = Array.from({ length: LONG_ANSWER_WORDS }, (_, at) => word(at));
  it.each<[string, object]>([
    ['in front of the words', { text: 'a', duration: 20_000.25, words }],
    ['behind the words', { words, text: 'a', duration: 20_000.25 }],
  ])('a transcript of several hours, duration %s → found', (_, document) => {
    expect(read(json('xai', document))?.audioSeconds).toBe(20_000.25);
  });
});
