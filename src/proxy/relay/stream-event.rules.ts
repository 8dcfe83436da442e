import { isJsonObject, type JsonObject } from '../../common/json-object.js';
import { memberOf, objectIn, parseJson } from '../../upstreams/usage/json-fields.rules.js';

/** Meaning of one event for its stream. `failure` is a code for the record, never provider text. */
export type EventMeaning =
  | { readonly kind: 'contentless' }
  | { readonly kind: 'content' }
  | { readonly kind: 'failed'; readonly failure: string };

const CONTENTLESS: EventMeaning = { kind: 'contentless' };
const CONTENT: EventMeaning = { kind: 'content' };

const FAILED_TYPES = new Set(['error', 'response.failed']);
const CONTENTLESS_TYPES = new Set(['response.created', 'response.queued', 'response.in_progress', 'keepalive', 'ping']);
/** Events that announce a part of the answer and may already contain its start. */
const ANNOUNCEMENTS: ReadonlyMap<string, (event: JsonObject) => boolean> = new Map([
  ['response.output_item.added', (event) => isEmptyItem(objectIn(event, 'item'))],
  ['response.content_part.added', (event) => isEmptyPart(memberOf(event, 'part'))],
  ['response.reasoning_summary_part.added', (event) => isEmptyPart(memberOf(event, 'part'))],
]);
/** Where providers write the type: an event that starts with an irrelevant type is not parsed, whatever its length. */
const LEADING_TYPE = /^\s*\{\s*"type"\s*:\s*"([\w.]{1,100})"/;
/** Codes and statuses; excludes anything that could be a key or personal data. */
const CODE = /^(?:[a-z][a-z_]{0,63}|\d{3})$/i;

/**
 * Classifies one event of a Responses or transcription stream by the type in its data, else by its name. Events that
 * are not known to be without content count as content.
 *
 * @param name of the `event` line, empty without one.
 * @param data the joined `data` lines; undefined without any, in which case it is not an event.
 */
export function meaningOf(name: string, data: string | undefined): EventMeaning {
  if (data === undefined) return CONTENTLESS;
  if (name !== 'error' && beginsWithUnwatchedType(data)) return CONTENT;
  const event = objectOf(data);
  const stated = memberOf(event, 'type') ?? undefined;
  const type = stated === undefined ? name : stated;
  if (name === 'error' || (stated === undefined && hasError(event))) return failed(event, 'error');
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

/** xAI streams have no error events: an xAI object with an error has no type. */
function hasError(event: JsonObject | undefined): boolean {
  return (memberOf(event, 'error') ?? undefined) !== undefined;
}

/** Keep-alive events, whatever their data. */
const isKeepAlive = (type: string): boolean => type === 'keepalive' || type === 'ping';

function isContentless(type: string, event: JsonObject | undefined): boolean {
  if (event === undefined) return isKeepAlive(type);
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

/** Whether a part that consists of text or a refusal is still empty. */
function isEmptyPart(part: unknown): boolean {
  if (!isJsonObject(part)) return false;
  const texts = [memberOf(part, 'text'), memberOf(part, 'refusal')].filter((text) => text !== undefined);
  return texts.length > 0 && texts.every((text) => text === '');
}

/** The most specific code: that of the error, else that of the event. */
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
