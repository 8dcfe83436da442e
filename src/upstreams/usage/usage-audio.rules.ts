import { type JsonObject, measureIn, objectIn } from './json-fields.rules.js';

/**
 * Seconds of audio in a transcription answer: the figure in `usage`, else the duration of the recording.
 * Source: docs/reference/accounting.md#tokens-of-an-answer.
 */
export function readAudioSeconds(document: JsonObject): number | undefined {
  return measureIn(objectIn(document, 'usage'), 'seconds') ?? measureIn(document, 'duration');
}
