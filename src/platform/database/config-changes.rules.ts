/** A change of stored configuration that instances cache. */
export interface ConfigChange {
  /** The kind of configuration, named by the module that publishes it. */
  readonly topic: string;
  /** The changed key; {@link EVERYTHING} when any key may have changed. */
  readonly key: string;
}

/** Stands for every key of a topic. */
export const EVERYTHING = '*';

/** Postgres rejects a notification of 8,000 bytes or more together with its transaction. */
const MAX_PAYLOAD_BYTES = 7_999;

/** The payload of a notification. A key that is too long becomes {@link EVERYTHING}, which is always correct. */
export function encodeChange(change: ConfigChange): string {
  const payload = JSON.stringify([change.topic, change.key]);
  if (Buffer.byteLength(payload) <= MAX_PAYLOAD_BYTES) return payload;
  return JSON.stringify([change.topic, EVERYTHING]);
}

/**
 * Parses the payload of {@link encodeChange}.
 *
 * @returns `undefined` for any other text, such as one from a newer version.
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
