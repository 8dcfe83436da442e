const ASTERISK = 0x2a;
/** A shorter secret would also be found in text that only looks like it. */
const MIN_SECRET_BYTES = 8;

/**
 * Overwrites exact occurrences of one secret in a passing body with asterisks of the same length, also where chunks
 * cut it (decision 3.10). Chunks without a trace of it pass as they are; only an end of a chunk that could be the
 * secret's beginning waits for the next one.
 */
export class SecretMask {
  readonly #secret: Buffer;
  #held: Buffer | undefined;

  constructor(secret: Buffer) {
    this.#secret = secret;
  }

  /** The bytes that may go on; `undefined` when all of them must wait. The chunk itself is never written to. */
  push(chunk: Buffer): Buffer | undefined {
    const secret = this.#secret;
    if (secret.length < MIN_SECRET_BYTES) return chunk;
    const bytes = this.#held ? Buffer.concat([this.#held, chunk]) : chunk;
    this.#held = undefined;
    const masked = bytes.indexOf(secret) < 0 ? bytes : overwrite(bytes, secret);
    const kept = beginningAtEnd(masked, secret);
    if (kept === 0) return masked;
    this.#held = Buffer.from(masked.subarray(masked.length - kept));
    return kept === masked.length ? undefined : masked.subarray(0, masked.length - kept);
  }

  /** What still waits when the body has ended. */
  end(): Buffer | undefined {
    const held = this.#held;
    this.#held = undefined;
    return held;
  }
}

/** Masks a header value. */
export function maskText(text: string, secret: string): string {
  return secret.length >= MIN_SECRET_BYTES && text.includes(secret)
    ? text.replaceAll(secret, '*'.repeat(secret.length))
    : text;
}

function overwrite(bytes: Buffer, secret: Buffer): Buffer {
  const copy = Buffer.from(bytes);
  for (let at = copy.indexOf(secret); at >= 0; at = copy.indexOf(secret, at + secret.length)) {
    copy.fill(ASTERISK, at, at + secret.length);
  }
  return copy;
}

/** Length of the longest end of `bytes` that is a beginning of the secret. */
function beginningAtEnd(bytes: Buffer, secret: Buffer): number {
  const first = secret[0];
  if (first === undefined) return 0;
  let at = bytes.indexOf(first, Math.max(0, bytes.length - secret.length + 1));
  while (at >= 0) {
    const length = bytes.length - at;
    if (bytes.compare(secret, 0, length, at) === 0) return length;
    at = bytes.indexOf(first, at + 1);
  }
  return 0;
}
