import { isJsonObject, type JsonObject } from '../../common/json-object.js';
import { memberOf, objectIn, objectsIn, textIn } from './json-fields.rules.js';

/** Where a successful status was followed by an error: before any content of the answer, or after some of it. */
export type AnswerFailure = 'before_content' | 'after_content';

const MAX_TYPE_LENGTH = 64;
const FAILED_TYPES: ReadonlySet<string> = new Set(['error', 'response.failed']);
/** Events before the first content, and events that end an answer. */
const CONTENTLESS_TYPES: ReadonlySet<string> = new Set([
  ...['response.created', 'response.queued', 'response.in_progress', 'response.output_item.added'],
  ...['response.content_part.added', 'response.reasoning_summary_part.added', 'response.failed', 'response.completed'],
  ...['response.incomplete', 'message_start', 'message_delta', 'message_stop', 'content_block_start', 'error'],
  ...['ping', 'keepalive', 'interaction.created', 'interaction.status_update', 'interaction.completed'],
  ...['step.start', 'step.stop'],
]);
const CONTENT_TYPE = /^(?:response\.|transcript\.|content_block_|step\.)/;
const CHOICE_CONTENT = ['content', 'reasoning_content', 'reasoning', 'refusal', 'tool_calls', 'audio', 'text'];

/**
 * Whether a document or stream event says that the call failed although its status was a success: an error event, a
 * failed response, an error instead of an answer.
 * Source: docs/reference/accounting.md#statuses.
 */
export function isFailure(document: JsonObject): boolean {
  const [response, interaction] = [objectIn(document, 'response'), objectIn(document, 'interaction')];
  return (
    FAILED_TYPES.has(typeOf(document)) ||
    [document, response, interaction].some((place) => memberOf(place, 'status') === 'failed' || hasError(place)) ||
    (objectsIn(document, 'choices') ?? []).some(
      (choice) => memberOf(choice, 'finish_reason') === 'error' || hasError(choice),
    )
  );
}

/** The type of a document or event; Interactions name it `event_type`. */
function typeOf(document: JsonObject): string {
  return textIn(document, 'type', MAX_TYPE_LENGTH) ?? textIn(document, 'event_type', MAX_TYPE_LENGTH) ?? '';
}

function hasError(place: JsonObject | undefined): boolean {
  return isFilled(memberOf(place, 'error'));
}

/** Whether a document or stream event has content of an answer, in any format. */
export function hasContent(document: JsonObject): boolean {
  const byType = hasContentByType(typeOf(document));
  if (byType) return true;
  const response = objectIn(document, 'response') ?? document;
  return (
    [memberOf(response, 'output'), memberOf(document, 'content'), memberOf(document, 'text')].some(isFilled) ||
    isFilled(memberOf(document, 'data')) ||
    (objectsIn(document, 'steps') ?? []).some((step) => isFilled(memberOf(step, 'content'))) ||
    (objectsIn(document, 'choices') ?? []).some(hasChoiceContent) ||
    (objectsIn(document, 'candidates') ?? []).some((candidate) =>
      isFilled(memberOf(objectIn(candidate, 'content'), 'parts')),
    )
  );
}

/** The same for an event of which only the type is known; undefined where the type does not decide. */
export function hasContentByType(type: string): boolean | undefined {
  if (CONTENTLESS_TYPES.has(type)) return false;
  return CONTENT_TYPE.test(type) ? true : undefined;
}

/** Whether the type of an event alone says that the call failed. */
export function isFailedType(type: string): boolean {
  return FAILED_TYPES.has(type);
}

function hasChoiceContent(choice: JsonObject): boolean {
  const places = [objectIn(choice, 'delta'), objectIn(choice, 'message'), choice];
  return places.some((place) => CHOICE_CONTENT.some((name) => isFilled(memberOf(place, name))));
}

/** A text, list or object that is not empty. */
function isFilled(value: unknown): boolean {
  if (typeof value === 'string' || Array.isArray(value)) return value.length > 0;
  return isJsonObject(value) && Object.keys(value).length > 0;
}
