import { inspect } from 'node:util';

const MASK = '[secret]';

/**
 * A value that must never be printed: string conversion, JSON, template literals and inspection all give `[secret]`.
 * `reveal()` is the one word to search for. Source: docs/reference/security.md#secrets-in-output.
 */
export class Secret {
  readonly #value: string;

  constructor(value: string) {
    this.#value = value;
  }

  /** The value itself; only where it leaves for the party it was stored for, or is hashed. */
  reveal(): string {
    return this.#value;
  }

  toString(): string {
    return MASK;
  }

  toJSON(): string {
    return MASK;
  }

  [inspect.custom](): string {
    return MASK;
  }
}
