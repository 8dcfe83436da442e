import type { OpenSecrets, SecretPatterns } from '../../providers/secret-patterns.js';
import type { UsageChunkFilter } from '../body/usage-chunk-filter.js';

const ASTERISK = 0x2a;

/**
 * Replaces exact occurrences of an account's decrypted secrets in a streamed body with asterisks of the same length,
 * also across chunk boundaries. Other chunks pass unchanged; only the end of a chunk that may start a secret waits for
 * the next chunk.
 */
export class SecretMask {
  readonly #own: string;
  readonly #account: OpenSecrets;
  #known: SecretPatterns;
  #patterns: SecretPatterns;
  #state = 0;
  /** The pending bytes: the prefix of a secret that the state has matched. */
  #held: Buffer | undefined;

  /** @param own the secret of this call. */
  constructor(own: string, account: OpenSecrets) {
    this.#own = own;
    this.#account = account;
    this.#known = account.patterns;
    this.#patterns = account.patternsWith(own);
  }

  /** The bytes that may be sent; `undefined` when all of them must wait. Never writes to the chunk itself. */
  push(chunk: Buffer): Buffer | undefined {
    if (this.#held !== undefined) return this.#hold(this.#mask(chunk, this.#held));
    if (this.#known !== this.#account.patterns) this.#renew();
    if (this.#patterns.isEmpty) return chunk;
    if (this.#patterns.mayHold(chunk)) return this.#hold(this.#mask(chunk, Buffer.alloc(0)));
    this.#state = this.#patterns.stateAtEnd(chunk);
    return this.#hold(chunk);
  }

  /** The bytes still held when the body has ended. */
  end(): Buffer | undefined {
    const held = this.#held;
    this.#held = undefined;
    this.#state = 0;
    return held;
  }

  /** Reloads the patterns after a secret of the account was decrypted or has expired. */
  #renew(): void {
    this.#known = this.#account.patterns;
    this.#patterns = this.#account.patternsWith(this.#own);
  }

  #mask(chunk: Buffer, held: Buffer): Buffer {
    const masked = Buffer.concat([held, chunk]);
    for (let at = 0; at < chunk.length; at++) {
      this.#state = this.#patterns.step(this.#state, chunk[at] ?? 0);
      const length = this.#patterns.matchOf(this.#state);
      const end = held.length + at + 1;
      if (length > 0) masked.fill(ASTERISK, end - length, end);
    }
    return masked;
  }

  #hold(bytes: Buffer): Buffer | undefined {
    const kept = this.#patterns.depthOf(this.#state);
    this.#held = kept === 0 ? undefined : Buffer.from(bytes.subarray(bytes.length - kept));
    if (kept === 0) return bytes;
    return kept === bytes.length ? undefined : bytes.subarray(0, bytes.length - kept);
  }
}

/** Masks a header value or other latin1 text. */
export function maskText(text: string, patterns: SecretPatterns): string {
  if (patterns.isEmpty || !patterns.mayHoldText(text)) return text;
  const bytes = Buffer.from(text, 'latin1');
  let state = 0;
  for (const [at, byte] of Buffer.from(bytes).entries()) {
    state = patterns.step(state, byte);
    const length = patterns.matchOf(state);
    if (length > 0) bytes.fill(ASTERISK, at + 1 - length, at + 1);
  }
  return bytes.toString('latin1');
}

/** Transforms a provider's body for the client: masks secrets and withholds usage that only the gateway requested. */
export class AnswerBody {
  readonly #mask: SecretMask;
  #filter: UsageChunkFilter | undefined;

  /** @param credential the provider key in plain text. @param account other decrypted secrets of its account. */
  constructor(credential: string, account: OpenSecrets) {
    this.#mask = new SecretMask(credential, account);
  }

  /** Whether the client may receive fewer bytes than the provider sends. */
  get isFiltered(): boolean {
    return this.#filter !== undefined;
  }

  withhold(filter: UsageChunkFilter): void {
    this.#filter = filter;
  }

  /** The bytes that may be sent now; `undefined` when all of them must wait. */
  push(chunk: Buffer): Buffer | undefined {
    const masked = this.#mask.push(chunk);
    return masked && this.#filter ? this.#filter.push(masked) : masked;
  }

  /** The bytes still held when the body has ended, in order. */
  end(): Buffer[] {
    const rest = this.#mask.end();
    const filtered = rest && this.#filter ? this.#filter.push(rest) : rest;
    const held = this.#filter?.end();
    return [filtered, held].filter((bytes) => bytes !== undefined);
  }
}
