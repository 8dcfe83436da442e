import { inspect } from 'node:util';

const MASK = '[secret]';

/**
 * A value that is never printed: string conversion, JSON, template literals and inspection give `[secret]`. Every use
 * of the value calls `reveal()`. Source: docs/reference/security.md#secrets-in-output.
 */
export class Secret {
  readonly #value: string;

  constructor(value: string) {
    this.#value = value;
  }

  /** The value; only to send it to its recipient, or to hash it. */
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
