import { isJsonObject, type JsonObject } from '../../common/json-object.js';
import type { WindowView } from './byte-window.js';
import { lastNumber, lastObject, parseJson } from './json-fields.rules.js';

const LINE_END = /\r\n|\n|\r/;
const DATA_FIELD = 'data:';
const DATA_FIELDS = /^data: ?/gm;

/**
 * Parses an answer into JSON objects, the last one first. A list yields its elements. A truncated or damaged answer
 * yields substitutes with the last usage and duration found, first from the tail, then from the head.
 * Source: docs/reference/accounting.md#tokens-of-an-answer.
 */
export function documentsOf(view: WindowView): JsonObject[] {
  return readTexts(view.head.toString(), view.tail?.toString());
}

/** Parses one event of a stream, given in its raw lines. */
export function documentsOfEvent(event: WindowView): JsonObject[] {
  return readTexts(dataOf(event.head.toString()), event.tail?.toString().replaceAll(DATA_FIELDS, ''));
}

function readTexts(head: string, tail: string | undefined): JsonObject[] {
  if (tail !== undefined) return [...salvaged(tail), ...salvaged(head)];
  const value = parseJson(head);
  if (Array.isArray(value)) return value.filter(isJsonObject).reverse();
  return isJsonObject(value) ? [value] : salvaged(head);
}

function salvaged(text: string): JsonObject[] {
  const usage = lastObject(text, 'usage');
  const usageMetadata = lastObject(text, 'usageMetadata');
  const duration = lastNumber(text, 'duration');
  const found = usage !== undefined || usageMetadata !== undefined || duration !== undefined;
  return found ? [{ usage, usageMetadata, duration }] : [];
}

/**
 * The joined `data:` lines; the text itself when it has none, for an answer that is not a stream despite its content
 * type.
 */
function dataOf(event: string): string {
  const lines = event.split(LINE_END).filter((line) => line.startsWith(DATA_FIELD));
  return lines.length === 0 ? event : lines.map((line) => line.slice(DATA_FIELD.length)).join('\n');
}
