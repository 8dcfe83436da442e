import { memberPath } from '../../common/fields/config-reader.js';

/**
 * Never merged, at any depth: some parsers do not treat it as a plain member.
 * Source: docs/reference/application-api.md#endpoint-bodies.
 */
const INERT_NAME = '__proto__';

/** A code unit takes at most six bytes in JSON text (a `\uXXXX` escape). */
const MAX_BYTES_PER_UNIT = 6;
const QUOTE = 0x22;

/** One member to merge, serialised. */
export interface MergeMember {
  /** Name in errors: member names joined by dots. */
  readonly path: string;
  /** The value as JSON text. */
  readonly value: Buffer;
  /** Name and value as JSON text. */
  readonly member: Buffer;
  /** The members inside, when the value is an object. */
  readonly nested: MergeMembers | undefined;
}

/** Compiled members of one object: built once, looked up for every key. Names are compared unescaped. */
export class MergeMembers {
  readonly #byName = new Map<string, MergeMember>();
  /** One bit per name length and per first byte; they exclude most other keys. */
  #lengths = 0;
  #firstBytes = 0;
  #longest = 0;

  /** @param path of the object itself; empty at the root. */
  constructor(members: Readonly<Record<string, unknown>>, path: string) {
    for (const [name, value] of Object.entries(members)) {
      if (name !== INERT_NAME && value !== undefined) this.#add(name, value, path);
    }
  }

  get size(): number {
    return this.#byName.size;
  }

  /** In insertion order. */
  all(): Iterable<MergeMember> {
    return this.#byName.values();
  }

  /**
   * Finds the member of a key.
   *
   * @param start first byte of the key's text, after the quote; `end` is the closing quote.
   * @param escaped whether the text contains a backslash; the escapes must be valid.
   */
  find(bytes: Buffer, start: number, end: number, escaped: boolean): MergeMember | undefined {
    const length = end - start;
    if (length > this.#longest * (escaped ? MAX_BYTES_PER_UNIT : 1)) return undefined;
    if (!escaped) {
      const isPossible = (this.#lengths & bitOf(length)) !== 0 && (this.#firstBytes & firstBit(bytes[start])) !== 0;
      return isPossible ? this.#byName.get(bytes.toString('utf8', start, end)) : undefined;
    }
    const name: unknown = JSON.parse(`"${bytes.toString('utf8', start, end)}"`);
    return typeof name === 'string' ? this.#byName.get(name) : undefined;
  }

  #add(name: string, value: unknown, path: string): void {
    const memberName = JSON.stringify(name);
    const json = JSON.stringify(value, (key, part: unknown) => (key === INERT_NAME ? undefined : part));
    const memberAt = path === '' ? memberPath('', name).slice(1) : memberPath(path, name);
    this.#byName.set(name, {
      path: memberAt,
      value: Buffer.from(json),
      member: Buffer.from(`${memberName}:${json}`),
      nested: isObject(value) ? new MergeMembers(value, memberAt) : undefined,
    });
    const text = Buffer.from(name);
    this.#lengths |= bitOf(text.length);
    this.#firstBytes |= firstBit(text[0]);
    this.#longest = Math.max(this.#longest, text.length);
  }
}

/** Compiles members for {@link mergeMembers}; members named `__proto__` are omitted at every depth. */
export function compileMembers(members: Readonly<Record<string, unknown>>): MergeMembers {
  return new MergeMembers(members, '');
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function bitOf(length: number): number {
  return 1 << (length < 31 ? length : 31);
}

/** Defaults to the closing quote, which follows an empty key. */
function firstBit(byte: number = QUOTE): number {
  return 1 << (byte & 31);
}
