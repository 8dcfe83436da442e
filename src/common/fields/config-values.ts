import type { Type } from '@nestjs/common';
import { shownName } from '../errors/display-text.rules.js';
import { type GatewayError, invalidRequest } from '../errors/gateway-error.js';

/** Default maximum number of entries of a list or map. */
export const MAX_ENTRIES = 1000;

const PROTOTYPE_NAMES: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype']);

/** A string-keyed table without a prototype, so that indexing reads own members only. */
export type Table<T> = Readonly<Record<string, T>>;

/** An OpenAPI schema. */
export type Schema = Readonly<Record<string, unknown>>;

/** What the operator decides about values. */
export interface ReadContext {
  /**
   * Whether an address of this host may be plain http.
   *
   * @param host as in `URL.host`: with a non-default port, an IPv6 address in brackets.
   */
  allowsHttp(host: string): boolean;
  /**
   * Whether the value was stored before: rules added later, whose violation only keeps it from working, are not
   * applied.
   */
  readonly isStored?: true;
}

/** Braces, also percent-encoded: the remains of a template that was not filled in. */
const BRACE = /[{}]|%7[bd]/i;

/** @throws invalid_request at `path` for text with a placeholder. */
export function requireFilledIn(text: string, path: string): void {
  if (BRACE.test(text))
    throw invalidRequest(path, 'must not have braces: put your own value in place of the placeholder');
}

/** Reads one value at a dotted path, and describes it to OpenAPI. */
export interface Read<T> {
  /**
   * @param context absent: the strictest.
   * @throws invalid_request with `<path>: <what is wrong>`.
   */
  (value: unknown, path: string, context?: ReadContext): T;
  readonly schema?: Schema;
  /** The classes that `schema` refers to. */
  readonly models?: readonly Type[];
}

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

/** A reader with its OpenAPI schema. */
export function described<T>(schema: Schema, read: Read<T>, models: readonly Type[] = read.models ?? []): Read<T> {
  const describedRead: Read<T> = (value, path, context) => read(value, path, context);
  return Object.assign(describedRead, { schema, models });
}

/** Applies a further rule to what `read` returns. The schema stays that of `read`. */
export function refined<T, U>(read: Read<T>, refine: (value: T, path: string, context?: ReadContext) => U): Read<U> {
  const refinedRead: Read<U> = (value, path, context) => refine(read(value, path, context), path, context);
  return Object.assign(refinedRead, { schema: read.schema, models: read.models });
}

/** Trimmed text without NUL and lone surrogates; by default at least one character. */
export function text({
  min = 1,
  max,
  pattern,
  problem = 'has characters that are not allowed',
}: TextRule): Read<string> {
  const schema = {
    type: 'string',
    ...(pattern && { pattern: pattern.source }),
    ...(max !== undefined && { minLength: min, maxLength: max }),
  };
  return described(schema, (value, path) => {
    if (typeof value !== 'string') throw invalidRequest(path, 'must be text');
    requireStorableText(value, path);
    const trimmed = value.trim();
    if (trimmed.length < min)
      throw invalidRequest(path, min === 1 ? 'must not be blank' : `must have ${min} characters`);
    if (max !== undefined && trimmed.length > max) throw invalidRequest(path, `must have at most ${max} characters`);
    if (pattern !== undefined && !pattern.test(trimmed)) throw invalidRequest(path, problem);
    return trimmed;
  });
}

/** A safe integer from `min` to `max`. */
export function integer({ min = Number.MIN_SAFE_INTEGER, max = Number.MAX_SAFE_INTEGER }: Bounds): Read<number> {
  return described({ type: 'integer', minimum: min }, (value, path) => {
    if (typeof value !== 'number' || !Number.isInteger(value)) throw invalidRequest(path, 'must be an integer');
    return requireWithin(value, path, min, max);
  });
}

/** A finite number from `min` to `max`; -0 becomes 0. */
export function number({ min = -Number.MAX_VALUE, max = Number.MAX_VALUE }: Bounds): Read<number> {
  return described({ type: 'number', ...(min > -Number.MAX_VALUE && { minimum: min }) }, (value, path) => {
    if (typeof value !== 'number' || !Number.isFinite(value)) throw invalidRequest(path, 'must be a number');
    return requireWithin(value, path, min, max);
  });
}

/** True or false. */
export function flag(): Read<boolean> {
  return described({ type: 'boolean' }, (value, path) => {
    if (typeof value !== 'boolean') throw invalidRequest(path, 'must be true or false');
    return value;
  });
}

export function oneOf<const T extends string>(words: readonly T[]): Read<T> {
  const problem = `must be ${words.map((word) => `"${word}"`).join(' or ')}`;
  return described({ type: 'string', enum: [...words] }, (value, path) => {
    const word = words.find((candidate) => candidate === value);
    if (word === undefined) throw invalidRequest(path, problem);
    return word;
  });
}

/** Null, or a value that `read` accepts. */
export function orNull<T>(read: Read<T>): Read<T | null> {
  return described(
    { ...read.schema, nullable: true },
    (value, path, context) => (value === null ? null : read(value, path, context)),
    read.models,
  );
}

/** A list of `min` (0) to `max` (`MAX_ENTRIES`) entries. */
export function listOf<T>(read: Read<T>, { min = 0, max = MAX_ENTRIES }: Bounds = {}): Read<readonly T[]> {
  const readList: Read<readonly T[]> = (value, path, context) => {
    if (!Array.isArray(value)) throw invalidRequest(path, 'must be a list');
    if (value.length < min) throw invalidRequest(path, `must have at least ${min} ${min === 1 ? 'entry' : 'entries'}`);
    if (value.length > max) throw invalidRequest(path, `must have at most ${max} entries`);
    return Array.from(value, (entry: unknown, index) => read(entry, memberPath(path, String(index)), context));
  };
  const schema = { type: 'array', ...(min > 0 && { minItems: min }), maxItems: max, items: read.schema };
  return described(schema, readList, read.models);
}

/** A list without repeated entries. @param problem the message for a repeated entry. */
export function distinct<T extends string>(list: Read<readonly T[]>, problem: string): Read<readonly T[]> {
  const read = refined(list, (listed, path) => {
    if (new Set(listed).size < listed.length) throw invalidRequest(path, problem);
    return listed;
  });
  return described({ ...list.schema, uniqueItems: true }, read);
}

/**
 * A non-empty list of different words.
 *
 * @param problem the message for a repeated word.
 */
export function distinctWords<const T extends string>(words: readonly T[], problem: string, max = MAX_ENTRIES) {
  const word = oneOf(words);
  const read = distinct(listOf(word, { min: 1, max }), problem);
  return described({ type: 'array', minItems: 1, uniqueItems: true, items: word.schema }, read);
}

/** One value, or a non-empty list of at most `max` values. */
export function oneOrList<T>(read: Read<T>, max = MAX_ENTRIES): Read<T | readonly T[]> {
  const list = listOf(read, { min: 1, max });
  return described(
    { oneOf: [read.schema, list.schema] },
    (value, path, context) => (Array.isArray(value) ? list : read)(value, path, context),
    read.models,
  );
}

/** One value or a non-empty list of them, normalized to a list. */
export function oneOrMore<T>(read: Read<T>): Read<readonly T[]> {
  const list = listOf(read, { min: 1 });
  return described(
    { oneOf: [read.schema, list.schema] },
    (value, path, context) => (Array.isArray(value) ? list(value, path, context) : [read(value, path, context)]),
    read.models,
  );
}

/** A map with unchanged keys; the result has no prototype. */
export function tableOf<T>({ pattern, keyProblem, value: read, max = MAX_ENTRIES }: MapRule<T>): Read<Table<T>> {
  const readTable: Read<Table<T>> = (value, path, context) => {
    const entries = objectEntries(value, path);
    if (entries.length > max) throw invalidRequest(path, `must have at most ${max} entries`);
    const table: Record<string, T> = Object.create(null);
    for (const [key, entry] of entries) {
      const entryPath = memberPath(path, key);
      requireSafeKey(key, entryPath);
      if (!pattern.test(key)) throw invalidRequest(entryPath, keyProblem);
      table[key] = read(entry, entryPath, context);
    }
    return table;
  };
  return described({ type: 'object', additionalProperties: read.schema }, readTable, read.models);
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
