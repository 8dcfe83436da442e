import type { SentUsage, UsageBounds } from '../../pricing/max-cost.rules.js';
import type { FormPart } from '../forms/multipart-form.js';
import type { ScannedBody } from '../json/scanned-body.js';

/** Text of prompts and answers: the usual estimate for English; it tends to overestimate code. */
const TEXT_BYTES_PER_TOKEN = 4;
/** Image, recording or document in a body, or its address: about one high-detail image. */
const MEDIA_TOKENS = 1_000;
/** Recording in a common format: 128 kbit/s. */
const RECORDING_BYTES_PER_SECOND = 16_000;
/** Tokens per second of audio that audio models count. */
const TOKENS_PER_SECOND = 32;
/** Event stream: each event adds names and ids to a few words. */
const STREAM_BYTES_PER_TOKEN = 64;
/** Generated audio and images, compressed. */
const GENERATED_MEDIA_BYTES_PER_TOKEN = 1_000;

const MEDIA_TYPE = /^\s*(?:audio|image|video)\//i;
const EVENT_STREAM = /^\s*text\/event-stream/i;

/**
 * Estimates what a JSON request sends: one token per 4 bytes of the body, and 1 000 per image, recording or document
 * instead of its encoded bytes.
 *
 * @param bounds upper limits of the estimate, for the same request. Source: ADR 0007.
 */
export function sentByJson({ bytes, mediaBytes, mediaParts }: ScannedBody, bounds: UsageBounds): SentUsage {
  const text = Math.ceil((bytes.length - mediaBytes) / TEXT_BYTES_PER_TOKEN);
  const seconds = mediaBytes / RECORDING_BYTES_PER_SECOND;
  return within(bounds, text + mediaParts * MEDIA_TOKENS, seconds);
}

/**
 * Estimates what a form sends: text fields by their bytes, a recording by its length at 128 kbit/s, any other file as
 * media.
 *
 * @param isTranscription whether files are recordings. Source: ADR 0007.
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
 * Estimates the output of an answer without usage from its bytes: one token per 4 bytes of a document, per 64 of an
 * event stream, per 1 000 of audio and images.
 *
 * @param contentType of the answer, empty when absent. Source: ADR 0007.
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
