import type { SentUsage } from '../../pricing/estimated-cost.rules.js';
import type { UsageBounds } from '../../pricing/worst-cost.rules.js';
import type { FormPart } from '../forms/multipart-form.js';
import type { ScannedBody } from '../json/json-members.js';

/** Text of prompts and of answers; the usual rule of thumb for English, and too many tokens rather than too few for code. */
const TEXT_BYTES_PER_TOKEN = 4;
/** A picture, a recording or a document within a body, or the address of one: about a picture in high detail. */
const MEDIA_TOKENS = 1_000;
/** A recording in the usual formats: 128 kbit/s. */
const RECORDING_BYTES_PER_SECOND = 16_000;
/** What models that hear count for a second of it. */
const TOKENS_PER_SECOND = 32;
/** An event stream wraps each few words in an event with its names and ids. */
const STREAM_BYTES_PER_TOKEN = 64;
/** Generated sound and pictures, compressed. */
const GENERATED_MEDIA_BYTES_PER_TOKEN = 1_000;

const MEDIA_TYPE = /^\s*(?:audio|image|video)\//i;
const EVENT_STREAM = /^\s*text\/event-stream/i;

/**
 * What a JSON request sends, estimated: a token for every 4 bytes of the body, and 1 000 for each picture, recording or
 * document instead of the bytes that spell it.
 *
 * @param bounds of the same request; nothing is estimated above them. Source: ADR 0042.
 */
export function sentByJson({ bytes, mediaBytes, mediaParts }: ScannedBody, bounds: UsageBounds): SentUsage {
  const text = Math.ceil((bytes.length - mediaBytes) / TEXT_BYTES_PER_TOKEN);
  const seconds = mediaBytes / RECORDING_BYTES_PER_SECOND;
  return within(bounds, text + mediaParts * MEDIA_TOKENS, seconds);
}

/**
 * The same of a form: its texts by their bytes, a recording as long as 128 kbit/s make it, any other file as media.
 *
 * @param isTranscription its files are recordings. Source: ADR 0042.
 */
export function sentByForm(parts: readonly FormPart[], isTranscription: boolean, bounds: UsageBounds): SentUsage {
  let tokens = 0;
  let seconds = 0;
  for (const { fileName, content } of parts) {
    if (fileName === undefined) tokens += Math.ceil(content.length / TEXT_BYTES_PER_TOKEN);
    else if (isTranscription) seconds += content.length / RECORDING_BYTES_PER_SECOND;
    else tokens += MEDIA_TOKENS;
  }
  return within(bounds, tokens + Math.ceil(seconds * TOKENS_PER_SECOND), seconds);
}

/**
 * What an answer that told no usage has generated, by its bytes: a token for every 4 of a document, for every 64 of an
 * event stream, for every 1 000 of sound and pictures.
 *
 * @param contentType of the answer, empty when it had none. Source: ADR 0042.
 */
export function seenOutputTokens(contentType: string, bytes: number): number {
  if (EVENT_STREAM.test(contentType)) return Math.ceil(bytes / STREAM_BYTES_PER_TOKEN);
  if (MEDIA_TYPE.test(contentType)) return Math.ceil(bytes / GENERATED_MEDIA_BYTES_PER_TOKEN);
  return Math.ceil(bytes / TEXT_BYTES_PER_TOKEN);
}

function within(bounds: UsageBounds, inputTokens: number, audioSeconds: number): SentUsage {
  return {
    inputTokens: Math.min(inputTokens, bounds.inputTokens),
    audioSeconds: Math.min(audioSeconds, bounds.audioSeconds),
  };
}
