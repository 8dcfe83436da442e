import { type JsonObject } from '../../common/json-object.js';
import type { ApiStyle } from '../api-style.rules.js';
import { isProviderId, responseIdOf } from './answer-facts.rules.js';
import type { WindowView } from './byte-window.js';
import { DocumentOutline } from './document-outline.js';
import { memberOf, objectIn, objectsIn } from './json-fields.rules.js';
import { documentsOfEvent } from './usage-documents.rules.js';

/** Bound on what a hostile answer can make a reader keep. */
const MAX_IDS = 1_000;
/** An event that adds an item holds no content of it yet. */
const MAX_EVENT_BYTES = 64 * 1024;
const ADDED = Buffer.from('output_item.added"');
const SOUND = Buffer.from('"audio"');
const MARKERS: ReadonlyMap<ApiStyle, Buffer> = new Map([
  ['chat_completions', SOUND],
  ['responses', ADDED],
  ['other', ADDED],
]);
/**
 * What paths without a named style create and requests name by its id: the `object` or, at Anthropic, the `type` of the
 * answer. What only paths name, such as a batch, is not listed: an application cannot choose paths.
 */
const CREATED: ReadonlySet<unknown> = new Set([
  ...['conversation', 'container', 'file', 'upload', 'vector_store', 'skill'],
]);
/** The same of Gemini, by name. */
const CREATED_NAME = /^(?:cachedContents|fileSearchStores)\/[^/]+$/;

/**
 * Ids in a document of an answer that name objects which the provider keeps, besides the response itself: output items,
 * containers, conversations, messages, stored completions, sound; on paths without an API style, what they create.
 * Source: docs/adr/0028-references-to-objects-stored-at-providers.md.
 */
export function keptIdsOf(style: ApiStyle, document: JsonObject): string[] {
  const ids = style === 'chat_completions' ? idsOfCompletion(document) : idsOfAnswer(style, document);
  const created = style === 'other' ? idsOfCreated(document) : [];
  return [...created, ...ids].filter(isProviderId);
}

function idsOfCreated(document: JsonObject): unknown[] {
  const isCreated = CREATED.has(memberOf(document, 'object')) || CREATED.has(memberOf(document, 'type'));
  if (isCreated) return [memberOf(document, 'id'), memberOf(objectIn(document, 'file'), 'id')];
  const name = memberOf(document, 'name');
  return typeof name === 'string' && CREATED_NAME.test(name) ? [name] : [];
}

function idsOfCompletion(document: JsonObject): unknown[] {
  const choices = objectsIn(document, 'choices') ?? [];
  const sounds = choices.flatMap((choice) => [objectIn(choice, 'message'), objectIn(choice, 'delta')]);
  return [memberOf(document, 'id'), ...sounds.map((message) => memberOf(objectIn(message, 'audio'), 'id'))];
}

function idsOfAnswer(style: ApiStyle, document: JsonObject): unknown[] {
  // The interaction itself is found like a response; its steps cannot be named.
  if (style === 'gemini_interactions') return [];
  const isMessage = style === 'anthropic_messages' && memberOf(document, 'type') === 'message';
  const answer = objectIn(document, 'response') ?? objectIn(document, 'message') ?? document;
  const added = objectIn(document, 'item');
  const items = [...(objectsIn(answer, 'output') ?? []), ...(added === undefined ? [] : [added])];
  return [
    isMessage ? memberOf(document, 'id') : undefined,
    memberOf(objectIn(document, 'message'), 'id'),
    ...items.flatMap((item) => [memberOf(item, 'id'), memberOf(item, 'container_id')]),
    ...[answer, objectIn(document, 'delta')].flatMap((holder) => [
      memberOf(objectIn(holder, 'container'), 'id'),
      memberOf(objectIn(holder, 'conversation'), 'id'),
    ]),
  ];
}

/** Every member that `keptIdsOf` and `responseIdOf` read. */
const READ_MEMBERS: ReadonlySet<string> = new Set([
  ...['id', 'type', 'object', 'response', 'message', 'output', 'item', 'container_id', 'container', 'conversation'],
  ...['delta', 'choices', 'audio', 'file', 'name', 'interaction', 'event_type'],
]);

/** Reads the ids in a document that is too long to be kept, while its bytes pass. */
export class PassingIds {
  readonly #outline = new DocumentOutline(READ_MEMBERS);

  constructor(private readonly style: ApiStyle) {}

  push(chunk: Buffer): void {
    this.#outline.push(chunk);
  }

  get ids(): readonly string[] {
    return this.#outline.documents.flatMap((document) => keptIdsOf(this.style, document));
  }

  get responseId(): string | undefined {
    const [document] = this.#outline.documents;
    return document && responseIdOf(this.style, document);
  }
}

/** Gathers the ids that single events of a stream name: those of items as they are added, and of sound. */
export class StreamedIds {
  readonly #ids = new Set<string>();
  #marker: Buffer | undefined;

  constructor(private readonly style: ApiStyle) {
    this.#marker = MARKERS.get(style);
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
    // Each piece of sound follows in a separate event, all with the id of the first.
    if (this.#ids.size >= MAX_IDS || (this.style === 'chat_completions' && this.#ids.size > 1))
      this.#marker = undefined;
  }
}
