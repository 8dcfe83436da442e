import { SecretPatterns } from './secret-patterns.js';

/** Longer than an opened key is used, including while the vault is unavailable. */
const KEPT_MS = 2 * 60 * 60 * 1_000;

/**
 * The opened keys and tokens of one account in this process, including those from before a rotation. The plaintext is
 * in private fields only, so that printing or serialising this object does not reveal it.
 */
export class OpenSecrets {
  /** Time of the last opening by secret, on the monotonic clock. */
  readonly #openedMs = new Map<string, number>();
  #patterns = new SecretPatterns([]);

  /** Matches all opened secrets; a new object whenever the set changes. */
  get patterns(): SecretPatterns {
    return this.#patterns;
  }

  opened(secret: string, nowMs: number): void {
    const isNew = !this.#openedMs.has(secret);
    this.#openedMs.set(secret, nowMs);
    const isOver = this.#forget(nowMs);
    if (isNew || isOver) this.#patterns = new SecretPatterns(this.#openedMs.keys());
  }

  /** The same with one secret that is in use, whether or not it is in the set. */
  patternsWith(secret: string): SecretPatterns {
    return this.#openedMs.has(secret) ? this.#patterns : new SecretPatterns([...this.#openedMs.keys(), secret]);
  }

  #forget(nowMs: number): boolean {
    const before = this.#openedMs.size;
    for (const [secret, openedMs] of this.#openedMs) if (openedMs < nowMs - KEPT_MS) this.#openedMs.delete(secret);
    return this.#openedMs.size < before;
  }
}
