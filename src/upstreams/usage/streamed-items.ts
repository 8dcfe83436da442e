import { isJsonObject, type JsonObject } from '../../common/json-object.js';
import type { ApiStyle } from '../api-style.rules.js';
import { itemTypeOfStep } from '../hosted-tools.rules.js';
import type { WindowView } from './byte-window.js';
import { memberOf, objectIn, textIn } from './json-fields.rules.js';
import { documentsOfEvent } from './usage-documents.rules.js';

const CALL = Buffer.from('_call');
const BLOCK = Buffer.from('"server_tool_use"');
const QUOTE = 0x22;
const MAX_TEXT_LENGTH = 128;
/** Bound on what a hostile stream can make a reader keep; calls beyond it are not counted. */
const MAX_ITEMS = 1_000;
/** Longer events hold results; their head has the type and the id. */
const MAX_EVENT_BYTES = 64 * 1024;
const ITEM_HEAD = /"(?:item|step)"\s{0,16}:\s{0,16}\{/;
const TYPE_IN_HEAD = /"type"\s{0,16}:\s{0,16}"(\w{1,100}_call)"/;
const ID_IN_HEAD = /"id"\s{0,16}:\s{0,16}"([\x21\x23-\x5b\x5d-\x7e]{1,128})"/;

/**
 * Gathers the tool calls that the events of a stream announce: output items of Responses streams, content blocks of
 * Anthropic streams, steps of interactions. Retains their ids, types and names.
 */
export class StreamedItems {
  readonly #items = new Map<string, JsonObject>();
  readonly #hasCalls: boolean;
  readonly #hasBlocks: boolean;
  readonly #hasSteps: boolean;

  constructor(style: ApiStyle) {
    this.#hasSteps = style === 'gemini_interactions';
    this.#hasCalls = style === 'responses' || style === 'other' || this.#hasSteps;
    this.#hasBlocks = style === 'anthropic_messages' || style === 'other';
  }

  /** The items without their contents. */
  get items(): readonly JsonObject[] {
    return [...this.#items.values()];
  }

  /** Whether the bytes may announce a call. */
  isMarked(bytes: Buffer): boolean {
    return (this.#hasCalls && hasCall(bytes)) || (this.#hasBlocks && bytes.includes(BLOCK));
  }

  /** Notes the call that an event announces, if any. An event that ends the call replaces the one that began it. */
  note(event: WindowView): void {
    if (this.#items.size >= MAX_ITEMS || !this.isMarked(event.head)) return;
    const isLong = event.tail !== undefined || event.head.length > MAX_EVENT_BYTES;
    if (isLong) this.#noteHead(event.head.toString('latin1', 0, MAX_EVENT_BYTES));
    else for (const document of documentsOfEvent(event)) this.#noteDocument(document);
  }

  #noteDocument(document: JsonObject): void {
    const step = objectIn(document, 'step');
    const item = objectIn(document, 'item');
    const block = objectIn(document, 'content_block');
    if (step !== undefined && this.#hasSteps) this.#keep(document, 'index', step);
    else if (item !== undefined) this.#keep(document, 'output_index', item);
    else if (block !== undefined) this.#keep(document, 'index', block);
  }

  #keep(event: JsonObject, position: string, item: JsonObject): void {
    const [sent, name] = [textIn(item, 'type', MAX_TEXT_LENGTH), textIn(item, 'name', MAX_TEXT_LENGTH)];
    const type = this.#typeOf(sent);
    const action = objectIn(item, 'action');
    const environment = objectIn(item, 'environment');
    const key = textIn(item, 'id', MAX_TEXT_LENGTH) ?? `#${String(memberOf(event, position))}`;
    this.#items.set(key, { type, name, ...typed({ action, environment }) });
  }

  #typeOf(type: string | undefined): string | undefined {
    return type !== undefined && this.#hasSteps ? itemTypeOfStep(type) : type;
  }

  #noteHead(head: string): void {
    const item = head.slice(Math.max(0, head.search(ITEM_HEAD)));
    const type = this.#typeOf(TYPE_IN_HEAD.exec(item)?.[1]);
    if (type !== undefined) this.#items.set(ID_IN_HEAD.exec(item)?.[1] ?? `#${this.#items.size}`, { type });
  }
}

/** The types of these members alone. */
function typed(members: Readonly<Record<string, JsonObject | undefined>>): JsonObject {
  return Object.fromEntries(
    Object.entries(members)
      .filter(([, member]) => isJsonObject(member))
      .map(([name, member]) => [name, { type: textIn(member, 'type', MAX_TEXT_LENGTH) }]),
  );
}

/** Whether a text ends in `_call`, as the types of items that are calls do. */
function hasCall(bytes: Buffer): boolean {
  for (let at = bytes.indexOf(CALL); at !== -1; at = bytes.indexOf(CALL, at + CALL.length)) {
    if (bytes[at + CALL.length] === QUOTE) return true;
  }
  return false;
}
