import { type GatewayError, invalidRequest } from '../errors/gateway-error.js';
import { shownName } from '../errors/shown-text.rules.js';

/** Default maximum number of entries of a list or map. */
export const MAX_ENTRIES = 1000;

const PROTOTYPE_NAMES: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype']);

/**
 * Reads one value at a dotted path.
 *
 * @throws invalid_request with `<path>: <what is wrong>`.
 */
export type Read<T> = (value: unknown, path: string) => T;

interface Bounds {
  readonly min?: number;
  readonly max?: number;
}

interface TextRule extends Bounds {
  /** Tested on the trimmed text. */
  readonly pattern?: RegExp;
  /** The message for text that does not match `pattern`. */
  readonly problem?: string;
}

interface MapRule<T> {
  readonly pattern: RegExp;
  /** The message for a key that does not match `pattern`. */
  readonly keyProblem: string;
  readonly value: Read<T>;
  /** Maximum entries; `MAX_ENTRIES` when absent. */
  readonly max?: number;
}

/** A strict object: it has only the declared members. */
export class ObjectReader<Member extends string> {
  constructor(
    private readonly members: ReadonlyMap<string, unknown>,
    readonly path: string,
  ) {}

  /** The raw value; undefined when absent. */
  raw(member: Member): unknown {
    return this.members.get(member);
  }

  /** @throws invalid_request when the member is absent or `read` refuses it. */
  required<T>(member: Member, read: Read<T>): T {
    const value = this.raw(member);
    if (value === undefined) throw invalidRequest(memberPath(this.path, member), 'is required');
    return read(value, memberPath(this.path, member));
  }

  /** The parsed member, or `fallback` when it is absent. */
  withDefault<T>(member: Member, read: Read<T>, fallback: T): T {
    const value = this.raw(member);
    return value === undefined ? fallback : read(value, memberPath(this.path, member));
  }

  /** An object to spread that holds the parsed member, or nothing when it is absent. */
  optional<M extends Member, T>(member: M, read: Read<T>): { readonly [Name in M]?: T } {
    const value = this.raw(member);
    if (value === undefined) return {};
    const only: { [Name in M]?: T } = {};
    only[member] = read(value, memberPath(this.path, member));
    return only;
  }

  /** Refuses a member that the chosen variant of a union does not have. */
  refuse(member: Member, problem: string): void {
    if (this.raw(member) !== undefined) throw invalidRequest(memberPath(this.path, member), problem);
  }
}

/**
 * Opens an object that may have only `members`.
 *
 * @throws invalid_request for a value that is no object, and for any other member, by its name.
 */
export function openObject<Member extends string>(
  value: unknown,
  path: string,
  members: readonly Member[],
): ObjectReader<Member> {
  const found = new Map(objectEntries(value, path));
  const known = new Set<string>(members);
  for (const key of found.keys()) {
    if (!known.has(key)) throw invalidRequest(memberPath(path, key), 'is not a known field');
  }
  return new ObjectReader(found, path);
}

/** Trimmed text without NUL and lone surrogates; by default at least one character. */
export function text({
  min = 1,
  max,
  pattern,
  problem = 'has characters that are not allowed',
}: TextRule): Read<string> {
  return (value, path) => {
    if (typeof value !== 'string') throw invalidRequest(path, 'must be text');
    requireStorableText(value, path);
    const trimmed = value.trim();
    if (trimmed.length < min)
      throw invalidRequest(path, min === 1 ? 'must not be blank' : `must have ${min} characters`);
    if (max !== undefined && trimmed.length > max) throw invalidRequest(path, `must have at most ${max} characters`);
    if (pattern !== undefined && !pattern.test(trimmed)) throw invalidRequest(path, problem);
    return trimmed;
  };
}

/** A safe integer from `min` to `max`. */
export function integer({ min = Number.MIN_SAFE_INTEGER, max = Number.MAX_SAFE_INTEGER }: Bounds): Read<number> {
  return (value, path) => {
    if (typeof value !== 'number' || !Number.isInteger(value)) throw invalidRequest(path, 'must be an integer');
    return requireWithin(value, path, min, max);
  };
}

/** A finite number from `min` to `max`; -0 becomes 0. */
export function number({ min = -Number.MAX_VALUE, max = Number.MAX_VALUE }: Bounds): Read<number> {
  return (value, path) => {
    if (typeof value !== 'number' || !Number.isFinite(value)) throw invalidRequest(path, 'must be a number');
    return requireWithin(value, path, min, max);
  };
}

export function oneOf<const T extends string>(words: readonly T[]): Read<T> {
  const problem = `must be ${words.map((word) => `"${word}"`).join(' or ')}`;
  return (value, path) => {
    const word = words.find((candidate) => candidate === value);
    if (word === undefined) throw invalidRequest(path, problem);
    return word;
  };
}

/** Null, or a value that `read` accepts. */
export function orNull<T>(read: Read<T>): Read<T | null> {
  return (value, path) => (value === null ? null : read(value, path));
}

/** A list of `min` (0) to `max` (`MAX_ENTRIES`) entries. */
export function listOf<T>(read: Read<T>, { min = 0, max = MAX_ENTRIES }: Bounds = {}): Read<readonly T[]> {
  return (value, path) => {
    if (!Array.isArray(value)) throw invalidRequest(path, 'must be a list');
    if (value.length < min) throw invalidRequest(path, `must have at least ${min} ${min === 1 ? 'entry' : 'entries'}`);
    if (value.length > max) throw invalidRequest(path, `must have at most ${max} entries`);
    return Array.from(value, (entry: unknown, index) => read(entry, memberPath(path, String(index))));
  };
}

/** One value or a non-empty list of them, normalized to a list. */
export function oneOrMore<T>(read: Read<T>): Read<readonly T[]> {
  const list = listOf(read, { min: 1 });
  return (value, path) => (Array.isArray(value) ? list(value, path) : [read(value, path)]);
}

/** A map with unchanged keys; the result has no prototype. */
export function tableOf<T>({
  pattern,
  keyProblem,
  value: read,
  max = MAX_ENTRIES,
}: MapRule<T>): Read<Readonly<Record<string, T>>> {
  return (value, path) => {
    const entries = objectEntries(value, path);
    if (entries.length > max) throw invalidRequest(path, `must have at most ${max} entries`);
    const table: Record<string, T> = Object.create(null);
    for (const [key, entry] of entries) {
      const entryPath = memberPath(path, key);
      requireSafeKey(key, entryPath);
      if (!pattern.test(key)) throw invalidRequest(entryPath, keyProblem);
      table[key] = read(entry, entryPath);
    }
    return table;
  };
}

/**
 * The members of an object, in order.
 *
 * @throws invalid_request for anything else, including lists and null.
 */
export function objectEntries(value: unknown, path: string): [string, unknown][] {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw invalidRequest(path, 'must be an object');
  }
  return Object.entries(value);
}

function requireWithin(value: number, path: string, min: number, max: number): number {
  if (value < min) throw invalidRequest(path, `must be at least ${min}`);
  if (value > max) throw invalidRequest(path, `must be at most ${max}`);
  return value === 0 ? 0 : value;
}

/** True for text that Postgres can store, also in JSON: without NUL and lone surrogates. */
export function isStorableText(value: string): boolean {
  return !value.includes('\u0000') && value.isWellFormed();
}

/** The error for text that cannot be stored. */
export function unstorableText(path: string): GatewayError {
  return invalidRequest(path, 'must not have NUL or broken characters');
}

/** @throws invalid_request unless the text can be stored. */
export function requireStorableText(value: string, path: string): void {
  if (!isStorableText(value)) throw unstorableText(path);
}

/**
 * Refuses a client-chosen key that is a prototype name or cannot be stored.
 *
 * @throws invalid_request
 */
function requireSafeKey(key: string, path: string): void {
  if (PROTOTYPE_NAMES.has(key)) throw invalidRequest(path, 'is a reserved name');
  requireStorableText(key, path);
}

/** Appends a member to a dotted path; an unusual key is quoted and truncated, so that it cannot garble the message. */
export function memberPath(path: string, key: string): string {
  return `${path}.${shownName(key)}`;
}
