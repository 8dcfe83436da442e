import type { ApiStyle } from '../api-style.rules.js';
import { isProviderId } from './answer-facts.rules.js';
import type { WindowView } from './byte-window.js';
import { type JsonObject, memberOf, objectIn, objectsIn } from './json-fields.rules.js';
import { documentsOfEvent } from './usage-documents.rules.js';

/** Bound on what a hostile answer can make a reader keep. */
const MAX_IDS = 1_000;
/** An event that adds an item holds no content of it yet. */
const MAX_EVENT_BYTES = 64 * 1024;
const ADDED = Buffer.from('output_item.added"');
const SOUND = Buffer.from('"audio"');
/** Objects that paths without a named style create. */
const CREATED: ReadonlySet<unknown> = new Set(['conversation', 'container']);

/**
 * Ids in a document of an answer that name objects which the provider keeps, besides the response itself: output items,
 * containers, conversations, messages, stored completions, sound.
 * Source: docs/adr/0028-references-to-objects-stored-at-providers.md.
 */
export function keptIdsOf(style: ApiStyle, document: JsonObject): string[] {
  const ids = style === 'chat_completions' ? idsOfCompletion(document) : idsOfAnswer(style, document);
  return ids.filter(isProviderId);
}

function idsOfCompletion(document: JsonObject): unknown[] {
  const choices = objectsIn(document, 'choices') ?? [];
  const sounds = choices.flatMap((choice) => [objectIn(choice, 'message'), objectIn(choice, 'delta')]);
  return [memberOf(document, 'id'), ...sounds.map((message) => memberOf(objectIn(message, 'audio'), 'id'))];
}

function idsOfAnswer(style: ApiStyle, document: JsonObject): unknown[] {
  const isCreated = style === 'other' && CREATED.has(memberOf(document, 'object'));
  const isMessage = style === 'anthropic_messages' && memberOf(document, 'type') === 'message';
  const answer = objectIn(document, 'response') ?? objectIn(document, 'message') ?? document;
  const added = objectIn(document, 'item');
  const items = [...(objectsIn(answer, 'output') ?? []), ...(added === undefined ? [] : [added])];
  return [
    isCreated || isMessage ? memberOf(document, 'id') : undefined,
    memberOf(objectIn(document, 'message'), 'id'),
    ...items.flatMap((item) => [memberOf(item, 'id'), memberOf(item, 'container_id')]),
    ...[answer, objectIn(document, 'delta')].flatMap((holder) => [
      memberOf(objectIn(holder, 'container'), 'id'),
      memberOf(objectIn(holder, 'conversation'), 'id'),
    ]),
  ];
}

/** Gathers the ids that single events of a stream name: those of items as they are added, and of sound. */
export class StreamedIds {
  readonly #ids = new Set<string>();
  #marker: Buffer | undefined;

  constructor(private readonly style: ApiStyle) {
    this.#marker = style === 'chat_completions' ? SOUND : style === 'responses' ? ADDED : undefined;
  }

  get ids(): readonly string[] {
    return [...this.#ids];
  }

  /** Whether the bytes may name an object. */
  isMarked(bytes: Buffer): boolean {
    return this.#marker !== undefined && bytes.includes(this.#marker);
  }

  /** Notes the ids in an event. */
  note(event: WindowView): void {
    if (event.tail !== undefined || event.head.length > MAX_EVENT_BYTES || !this.isMarked(event.head)) return;
    for (const document of documentsOfEvent(event)) {
      for (const id of keptIdsOf(this.style, document)) this.#ids.add(id);
    }
    // Each piece of sound follows in an event of its own, all with the id of the first.
    if (this.#ids.size >= MAX_IDS || (this.style === 'chat_completions' && this.#ids.size > 1))
      this.#marker = undefined;
  }
}
