import { type JsonObject } from '../../common/json-object.js';
import type { ApiStyle } from '../api-style.rules.js';
import { mayHaveResponseId, responseIdInEventHead, tierNamedIn } from './answer-facts.rules.js';
import type { AnswerFailure } from './answer-failure.rules.js';
import { copyOfView, type WindowView } from './byte-window.js';
import { StreamedIds } from './kept-ids.js';
import { type SseListener, SseScanner } from './sse-scanner.js';
import { StreamedFailure } from './streamed-failure.js';
import { StreamedItems } from './streamed-items.js';
import { documentsOfEvent } from './usage-documents.rules.js';
import { indexOfDuration, indexOfUsage } from './usage-marker.rules.js';

const RESPONSE = Buffer.from('"response"');
const INTERACTION = Buffer.from('"interaction"');
/** Maximum number of events searched for the id, which is in the first event with a response object. */
const ID_TRIES = 8;
const ID_HEAD_BYTES = 4 * 1024;
/** Counters of calls; `num_s` begins `num_search_queries`, `num_sources_used` and `num_server_side_tools_used`. */
const CALL_COUNTERS = [Buffer.from('"server_tool_use"'), Buffer.from('"num_s')];
const SERVICE_TIER = Buffer.from('"service_tier');
/** Size limit of events retained besides the last one with usage. */
const SIDE_EVENT_BYTES = 64 * 1024;

/**
 * Scans an event stream and retains copies of the events that state usage: the first, the last, the last that counts
 * calls of tools, and the last with a duration. Their parsing happens after the stream has ended. Of events that
 * announce calls of tools, it retains the types.
 */
export class SseUsage implements SseListener {
  private readonly scanner = new SseScanner(this);
  private readonly wantsDuration: boolean;
  private readonly wantsTier: boolean;
  private idTriesLeft: number;
  /** Names the object with the id. */
  private readonly idMarker: Buffer;
  private readonly streamed: StreamedItems;
  private readonly failed = new StreamedFailure();
  private readonly ids: StreamedIds | undefined;
  private firstUsage: WindowView | undefined;
  private lastUsage: WindowView | undefined;
  /** The last event with usage that counts calls of tools, where later ones do not. */
  private lastCalls: WindowView | undefined;
  private lastDuration: WindowView | undefined;
  /** The last chunk with a service tier and without usage. */
  private lastTier: WindowView | undefined;
  /**
   * The event that the end of the stream truncated. Its usage may be truncated too, so it replaces no earlier event.
   */
  private cutEvent: WindowView | undefined;
  private ended = false;
  private id: string | undefined;

  /**
   * @param keeps whether the provider keeps objects that the answer names.
   * @param isTierSelected whether the request selects a service tier that costs other rates. Chunks of Chat Completions
   *   name the one that serves; the first events of other formats repeat the request.
   */
  constructor(style: ApiStyle, keeps = false, isTierSelected = false) {
    this.wantsTier = isTierSelected && style === 'chat_completions';
    this.ids = keeps ? new StreamedIds(style) : undefined;
    this.streamed = new StreamedItems(style);
    this.wantsDuration = style === 'audio_transcription' || style === 'other';
    this.idMarker = style === 'gemini_interactions' ? INTERACTION : RESPONSE;
    this.idTriesLeft = mayHaveResponseId(style) ? ID_TRIES : 0;
  }

  /** Id of the response object, once an event with it has passed. */
  get responseId(): string | undefined {
    return this.id;
  }

  /** Calls of tools that events announced, without their contents. */
  get items(): readonly JsonObject[] {
    return this.streamed.items;
  }

  /** Ids of kept objects that single events named. */
  get keptIds(): readonly string[] {
    return this.ids?.ids ?? [];
  }

  /** Set where an event reports an error. */
  get failure(): AnswerFailure | undefined {
    return this.failed.failure;
  }

  /** The service tier that the last chunk without usage names. */
  get tier(): string | undefined {
    const [document] = this.lastTier === undefined ? [] : documentsOfEvent(this.lastTier);
    return document && tierNamedIn(document);
  }

  push(chunk: Buffer): void {
    this.scanner.push(chunk);
  }

  /** Ends the stream. @returns the retained events as parsed documents, the latest first. */
  finish(): JsonObject[] {
    this.ended = true;
    this.scanner.finish();
    const kept = [this.cutEvent, this.lastUsage, this.lastCalls, this.firstUsage, this.lastDuration];
    return [...new Set(kept)].flatMap((event) => (event === undefined ? [] : documentsOfEvent(event)));
  }

  isInteresting(bytes: Buffer): boolean {
    return (
      indexOfUsage(bytes) !== -1 ||
      this.streamed.isMarked(bytes) ||
      this.failed.isMarked(bytes) ||
      this.ids?.isMarked(bytes) === true ||
      (this.idTriesLeft > 0 && bytes.includes(this.idMarker)) ||
      (this.wantsTier && bytes.includes(SERVICE_TIER)) ||
      (this.wantsDuration && indexOfDuration(bytes) !== -1)
    );
  }

  onEvent(event: WindowView): void {
    if (this.idTriesLeft > 0) this.lookForId(event.head);
    this.streamed.note(event);
    this.failed.note(event);
    this.ids?.note(event);
    if (this.ended) this.cutEvent = copyOfView(event);
    else if (holds(event, indexOfUsage)) this.keepUsage(event);
    else if (this.wantsDuration && isSmall(event) && holds(event, indexOfDuration)) {
      this.lastDuration = copyOfView(event);
    } else if (this.wantsTier && isSmall(event) && event.head.includes(SERVICE_TIER)) this.lastTier = copyOfView(event);
  }

  private keepUsage(event: WindowView): void {
    this.lastUsage = copyOfView(event);
    if (this.firstUsage === undefined && isSmall(event)) this.firstUsage = this.lastUsage;
    if (isSmall(event) && CALL_COUNTERS.some((marker) => event.head.includes(marker))) this.lastCalls = this.lastUsage;
  }

  private lookForId(head: Buffer): void {
    if (!head.includes(this.idMarker)) return;
    this.id = responseIdInEventHead(head.toString('latin1', 0, ID_HEAD_BYTES));
    this.idTriesLeft = this.id === undefined ? this.idTriesLeft - 1 : 0;
  }
}

function isSmall(event: WindowView): boolean {
  return event.tail === undefined && event.head.length <= SIDE_EVENT_BYTES;
}

function holds(event: WindowView, indexOf: (bytes: Buffer) => number): boolean {
  return indexOf(event.head) !== -1 || (event.tail !== undefined && indexOf(event.tail) !== -1);
}
