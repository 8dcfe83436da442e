import { SecretPatterns } from './secret-patterns.js';

/** Longer than an opened key is served, also while the vault is away. */
const KEPT_MS = 2 * 60 * 60 * 1_000;

/**
 * The keys and tokens of one account that are open in this process, the last ones before a rotation among them. Their
 * clear text lives in private fields only: nothing that prints or serialises this object shows it.
 */
export class OpenSecrets {
  /** When each was last opened, of the monotonic clock. */
  readonly #openedMs = new Map<string, number>();
  #patterns = new SecretPatterns([]);

  /** Finds all of them; another object as soon as there is another one to be found. */
  get patterns(): SecretPatterns {
    return this.#patterns;
  }

  opened(secret: string, nowMs: number): void {
    const isNew = !this.#openedMs.has(secret);
    this.#openedMs.set(secret, nowMs);
    const isOver = this.#forget(nowMs);
    if (isNew || isOver) this.#patterns = new SecretPatterns(this.#openedMs.keys());
  }

  /** The same with one that is being used, whether it is known here or not. */
  patternsWith(secret: string): SecretPatterns {
    return this.#openedMs.has(secret) ? this.#patterns : new SecretPatterns([...this.#openedMs.keys(), secret]);
  }

  #forget(nowMs: number): boolean {
    const before = this.#openedMs.size;
    for (const [secret, openedMs] of this.#openedMs) if (openedMs < nowMs - KEPT_MS) this.#openedMs.delete(secret);
    return this.#openedMs.size < before;
  }
}
