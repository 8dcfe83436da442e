import { isJsonObject, type JsonObject } from '../../common/json-object.js';
import { counterIn, memberOf } from './json-fields.rules.js';

/**
 * What an answer counts and no reader knows. Tokens are whole numbers of at least 0; the sides of most of them follow
 * from their names.
 * Source: docs/reference/accounting.md#unknown-measures.
 */
export interface UnknownMeasure {
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Tokens of either side. */
  readonly tokens: number;
  /** Whether a counter of another unit was not read. */
  readonly hasOtherUnit: boolean;
}

/** Counters that a reader knows. True: the member with all that it holds; an object: these members of it. */
export interface KnownCounters {
  readonly [name: string]: true | KnownCounters;
}

/** Bounds on the work for hostile answers; what is beyond them counts as unread. */
const MAX_DEPTH = 6;
const MAX_MEMBERS = 512;

const TOKENS = /token/i;
const OF_INPUT = /input|prompt|cache/i;
const OF_OUTPUT = /output|completion|candidate|thought|thinking|reasoning|response/i;

/** What is known to be used, without anything unread. */
const NOTHING_UNREAD: UnknownMeasure = { inputTokens: 0, outputTokens: 0, tokens: 0, hasOtherUnit: false };

/**
 * Numbers of a usage object that are neither zero nor known.
 *
 * @returns undefined without any, as for almost every answer.
 */
export function unreadCountersOf(usage: JsonObject, known: KnownCounters): UnknownMeasure | undefined {
  const walk = new UnreadCounters();
  walk.visit(usage, known, '', 0);
  return walk.found;
}

/** Generated tokens outside of the output that was read. */
export function unreadOutput(outputTokens: number): UnknownMeasure {
  return { ...NOTHING_UNREAD, outputTokens };
}

/** Adds tokens of either side, without those that {@link unreadCountersOf} found already. */
export function withExcess(unread: UnknownMeasure | undefined, excessTokens: number): UnknownMeasure | undefined {
  const { inputTokens, outputTokens, tokens, hasOtherUnit } = unread ?? NOTHING_UNREAD;
  const explained = inputTokens + outputTokens + tokens;
  if (!(excessTokens > explained)) return unread;
  return { inputTokens, outputTokens, tokens: tokens + excessTokens - explained, hasOtherUnit };
}

/** Adds up what two parts of an answer leave unread. */
export function sumOfUnread(
  one: UnknownMeasure | undefined,
  other: UnknownMeasure | undefined,
): UnknownMeasure | undefined {
  return combined(one, other, (left, right) => left + right);
}

/** Merges what two events of one stream leave unread: the larger one of each count. */
export function largestUnread(
  one: UnknownMeasure | undefined,
  other: UnknownMeasure | undefined,
): UnknownMeasure | undefined {
  return combined(one, other, Math.max);
}

function combined(
  one: UnknownMeasure | undefined,
  other: UnknownMeasure | undefined,
  combine: (one: number, other: number) => number,
): UnknownMeasure | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  return {
    inputTokens: combine(one.inputTokens, other.inputTokens),
    outputTokens: combine(one.outputTokens, other.outputTokens),
    tokens: combine(one.tokens, other.tokens),
    hasOtherUnit: one.hasOtherUnit || other.hasOtherUnit,
  };
}

class UnreadCounters {
  #found: UnknownMeasure | undefined;
  #members = 0;

  get found(): UnknownMeasure | undefined {
    return this.#found;
  }

  visit(parent: JsonObject, known: KnownCounters | undefined, path: string, depth: number): void {
    for (const name of Object.keys(parent)) {
      const knownHere = known !== undefined && Object.hasOwn(known, name) ? known[name] : undefined;
      if (knownHere === true) continue;
      this.#members += 1;
      const value = memberOf(parent, name);
      if (depth > MAX_DEPTH || this.#members > MAX_MEMBERS) {
        this.#add({ hasOtherUnit: true });
        return;
      }
      if (typeof value === 'number') this.#count(parent, name, path);
      else if (Array.isArray(value)) {
        for (const entry of value) this.#visitEntry(entry, knownHere, `${path}${name}.`, depth + 1);
      } else if (isJsonObject(value)) this.visit(value, knownHere, `${path}${name}.`, depth + 1);
    }
  }

  #visitEntry(entry: unknown, known: KnownCounters | undefined, path: string, depth: number): void {
    if (isJsonObject(entry)) this.visit(entry, known, path, depth);
    else if (typeof entry === 'number' && entry !== 0) this.#add({ hasOtherUnit: true });
  }

  #count(parent: JsonObject, name: string, path: string): void {
    if (memberOf(parent, name) === 0) return;
    const count = counterIn(parent, name);
    if (count === undefined || !TOKENS.test(name)) this.#add({ hasOtherUnit: true });
    else if (OF_OUTPUT.test(path + name)) this.#add({ outputTokens: count });
    else this.#add(OF_INPUT.test(path + name) ? { inputTokens: count } : { tokens: count });
  }

  #add(more: Partial<UnknownMeasure>): void {
    this.#found = sumOfUnread(this.#found ?? NOTHING_UNREAD, { ...NOTHING_UNREAD, ...more });
  }
}
