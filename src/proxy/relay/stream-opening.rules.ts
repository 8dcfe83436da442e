import {
  isJsonObject,
  type JsonObject,
  memberOf,
  objectIn,
  parseJson,
} from '../../upstreams/usage/json-fields.rules.js';

/** What one event says of its stream. `failure` is a code for the record, never a sentence of the provider's. */
export type EventMeaning =
  | { readonly kind: 'contentless' }
  | { readonly kind: 'content' }
  | { readonly kind: 'failed'; readonly failure: string };

const CONTENTLESS: EventMeaning = { kind: 'contentless' };
const CONTENT: EventMeaning = { kind: 'content' };

const FAILED_TYPES = new Set(['error', 'response.failed']);
const CONTENTLESS_TYPES = new Set(['response.created', 'response.queued', 'response.in_progress', 'keepalive', 'ping']);
/** Events that announce a piece of the answer and may already hold the beginning of it. */
const ANNOUNCEMENTS: ReadonlyMap<string, (event: JsonObject) => boolean> = new Map([
  ['response.output_item.added', (event) => isEmptyItem(objectIn(event, 'item'))],
  ['response.content_part.added', (event) => isEmptyPart(memberOf(event, 'part'))],
  ['response.reasoning_summary_part.added', (event) => isEmptyPart(memberOf(event, 'part'))],
]);
/** Where providers write the type: an event that begins with one of no interest is not parsed, however long it is. */
const LEADING_TYPE = /^\s*\{\s*"type"\s*:\s*"([\w.]{1,100})"/;
/** Codes and statuses, and nothing that could be a key or name a person. */
const CODE = /^(?:[a-z][a-z_]{0,63}|\d{3})$/i;

/**
 * Judges one event of a Responses or transcription stream, by the type that its data tells, else by its name. What is
 * not known to be without content is content.
 *
 * @param name of the `event` line, empty without one.
 * @param data the joined `data` lines, undefined without any: then it is no event at all.
 */
export function meaningOf(name: string, data: string | undefined): EventMeaning {
  if (data === undefined) return CONTENTLESS;
  if (name !== 'error' && beginsWithUnwatchedType(data)) return CONTENT;
  const event = objectOf(data);
  const told = memberOf(event, 'type') ?? undefined;
  const type = told === undefined ? name : told;
  if (name === 'error' || (told === undefined && hasError(event))) return failed(event, 'error');
  if (typeof type !== 'string') return CONTENT;
  if (FAILED_TYPES.has(type)) return failed(event, type);
  return data === '' || isContentless(type, event) ? CONTENTLESS : CONTENT;
}

function objectOf(data: string): JsonObject | undefined {
  const value = parseJson(data);
  return isJsonObject(value) ? value : undefined;
}

function beginsWithUnwatchedType(data: string): boolean {
  const type = LEADING_TYPE.exec(data)?.[1];
  return type !== undefined && !FAILED_TYPES.has(type) && !CONTENTLESS_TYPES.has(type) && !ANNOUNCEMENTS.has(type);
}

/** The second family has no error events: an object of it that tells an error has no type. */
function hasError(event: JsonObject | undefined): boolean {
  return (memberOf(event, 'error') ?? undefined) !== undefined;
}

/** Keeps a stream going, whatever its data. */
const isSignOfLife = (type: string): boolean => type === 'keepalive' || type === 'ping';

function isContentless(type: string, event: JsonObject | undefined): boolean {
  if (event === undefined) return isSignOfLife(type);
  return CONTENTLESS_TYPES.has(type) || ANNOUNCEMENTS.get(type)?.(event) === true;
}

function isEmptyItem(item: JsonObject | undefined): boolean {
  const type = memberOf(item, 'type');
  return (
    (type === 'message' || type === 'reasoning') &&
    isEmptyList(memberOf(item, 'content')) &&
    isEmptyList(memberOf(item, 'summary'))
  );
}

function isEmptyList(parts: unknown): boolean {
  return (parts ?? undefined) === undefined || (Array.isArray(parts) && parts.every(isEmptyPart));
}

/** A part of a kind that consists of its text, or of its refusal, while there is none of it. */
function isEmptyPart(part: unknown): boolean {
  if (!isJsonObject(part)) return false;
  const texts = [memberOf(part, 'text'), memberOf(part, 'refusal')].filter((text) => text !== undefined);
  return texts.length > 0 && texts.every((text) => text === '');
}

/** The most telling code: of the error, where the stream has one, else of the event. */
function failed(event: JsonObject | undefined, otherwise: string): EventMeaning {
  const error = objectIn(event, 'error') ?? objectIn(objectIn(event, 'response'), 'error');
  const candidates = [memberOf(error, 'code'), memberOf(error, 'type'), memberOf(event, 'code')];
  const failure = candidates.map(codeOf).find((code) => code !== undefined) ?? otherwise;
  return { kind: 'failed', failure };
}

function codeOf(value: unknown): string | undefined {
  const text = typeof value === 'number' ? `${value}` : value;
  return typeof text === 'string' && CODE.test(text) ? text : undefined;
}
