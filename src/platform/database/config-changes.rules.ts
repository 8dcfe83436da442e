/** Something stored that instances keep in memory has changed. */
export interface ConfigChange {
  /** Which kind of configuration, in the words of the room that publishes it. */
  readonly topic: string;
  /** Which one of that kind; {@link EVERYTHING} means that any of them may have changed. */
  readonly key: string;
}

/** The key that stands for every key of a topic. */
export const EVERYTHING = '*';

/** Postgres refuses a notification of 8,000 bytes or more, and the transaction with it. */
const MAX_PAYLOAD_BYTES = 7_999;

/** The text that travels in a notification. A key too long for one becomes {@link EVERYTHING}, which is always true. */
export function encodeChange(change: ConfigChange): string {
  const payload = JSON.stringify([change.topic, change.key]);
  if (Buffer.byteLength(payload) <= MAX_PAYLOAD_BYTES) return payload;
  return JSON.stringify([change.topic, EVERYTHING]);
}

/**
 * Reads {@link encodeChange}'s text.
 *
 * @returns `undefined` for any other text, for example from a newer version running beside this one.
 */
export function parseChange(payload: string | undefined): ConfigChange | undefined {
  const parsed = parseJson(payload ?? '');
  if (!Array.isArray(parsed) || parsed.length !== 2) return undefined;
  const [topic, key]: unknown[] = parsed;
  if (typeof topic !== 'string' || typeof key !== 'string') return undefined;
  return { topic, key };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
