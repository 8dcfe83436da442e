import { type JsonObject } from '../../common/json-object.js';
import type { ApiStyle } from '../api-style.rules.js';
import type { ProviderType } from '../provider-types.js';
import {
  costReaderOf,
  type ReportedCost,
  responseIdInDocumentHead,
  responseIdOf,
  tierPartOf,
} from './answer-facts.rules.js';
import { type AnswerFailure, hasContent, isFailure } from './answer-failure.rules.js';
import { ByteWindow, type WindowView } from './byte-window.js';
import { objectsIn } from './json-fields.rules.js';
import { keptIdsOf, PassingIds } from './kept-ids.js';
import { SseUsage } from './sse-usage.js';
import { NO_TOKENS, type TierPart, type UsageReading } from './token-counts.js';
import { documentsOf } from './usage-documents.rules.js';
import { toolStepsOf } from './usage-interactions.rules.js';
import {
  isPlausible,
  joinMeasures,
  measureOf,
  otherTierOf,
  type UsageMeasure,
  withItems,
  withUnexplained,
} from './usage-measure.rules.js';

/** Retained bytes of a document that is not a stream. */
const DOCUMENT_HEAD_BYTES = 256 * 1024;
const DOCUMENT_TAIL_BYTES = 1024 * 1024;
const ID_HEAD_BYTES = 4 * 1024;
const NEVER_JSON = /^\s*(?:audio|image|video|font)\//i;

/** Facts about an answer that are available before its body. */
export interface UsageReaderOptions {
  /** Style of the request; it alone determines the format. */
  readonly style: ApiStyle;
  readonly type: ProviderType;
  /** Whether the answer may contain the provider's own cost. */
  readonly reportsCost: boolean;
  /** Whether the provider keeps objects that the answer names, so that their ids are read. Default false. */
  readonly keeps?: boolean;
  /** Content type of the answer as received; empty when absent. */
  readonly contentType: string;
  /** The service tier that the request selects, where its price has rates for it; an answer may not name it. */
  readonly tier?: TierPart | undefined;
}

/** Observes the bytes of one answer and returns its usage at the end. Throws on no input. */
export interface UsageReader {
  /** Processes the next bytes. Retains at most the first chunk of a document, until the next one or the end. */
  push(chunk: Buffer): void;
  /** Ends reading, also of a truncated answer. Undefined: the answer stated nothing. */
  finish(): UsageReading | undefined;
}

/** The reader for free calls: reports zero usage whatever the answer states. */
export const NOTHING_USED: UsageReader = {
  push: () => undefined,
  finish: () => ({ ...NO_TOKENS, usageSeen: true }),
};

/** Collects bytes and returns documents at the end, the latest first. */
interface DocumentSource {
  readonly responseId: string | undefined;
  /** Calls of tools that the source saw outside of these documents. */
  readonly items: readonly JsonObject[];
  /** Set where an event of the source reports an error; undefined for documents, which are evaluated as a whole. */
  readonly failure: AnswerFailure | undefined;
  /** Ids of kept objects that the source saw outside of these documents. */
  readonly keptIds: readonly string[];
  /** The service tier that an event without usage names, where that is read. */
  readonly tier?: string | undefined;
  push(chunk: Buffer): void;
  finish(): JsonObject[];
}

/** Creates a reader for one answer. */
export function createUsageReader(options: UsageReaderOptions): UsageReader {
  const source = sourceFor(options);
  return {
    push: (chunk) => source.push(chunk),
    finish: () => {
      const documents = source.finish();
      return readingOf(options, documents, source);
    },
  };
}

function sourceFor({ contentType, style, keeps, tier }: UsageReaderOptions): DocumentSource {
  if (contentType.toLowerCase().includes('text/event-stream')) return new SseUsage(style, keeps, tier !== undefined);
  return NEVER_JSON.test(contentType) ? NOTHING : new WholeDocument(style, keeps);
}

const NO_ITEMS: readonly JsonObject[] = [];
const NOTHING: DocumentSource = {
  responseId: undefined,
  items: NO_ITEMS,
  failure: undefined,
  keptIds: [],
  push: () => undefined,
  finish: () => [],
};

/**
 * A document that arrives in one chunk, as most do, is read without a copy; only several chunks are copied. Ids of kept
 * objects in one that is longer than the copy are read as its bytes pass.
 */
class WholeDocument implements DocumentSource {
  readonly items = NO_ITEMS;
  readonly failure = undefined;
  private only: Buffer | undefined;
  private window: ByteWindow | undefined;
  private passing: PassingIds | undefined;

  constructor(
    private readonly style: ApiStyle,
    private readonly keeps = false,
  ) {}

  get keptIds(): readonly string[] {
    return this.passing?.ids ?? [];
  }

  get responseId(): string | undefined {
    if (this.passing !== undefined) return this.passing.responseId;
    if (this.style !== 'responses') return undefined;
    return responseIdInDocumentHead(this.view().head.toString('latin1', 0, ID_HEAD_BYTES));
  }

  push(chunk: Buffer): void {
    if (this.window !== undefined) this.append(this.window, chunk);
    else if (this.only === undefined && chunk.length <= DOCUMENT_HEAD_BYTES) this.only = chunk;
    else this.copy(chunk);
  }

  finish(): JsonObject[] {
    return documentsOf(this.view());
  }

  private copy(chunk: Buffer): void {
    this.window = new ByteWindow(DOCUMENT_HEAD_BYTES, DOCUMENT_TAIL_BYTES);
    if (this.only !== undefined) this.window.append(this.only);
    this.only = undefined;
    this.append(this.window, chunk);
  }

  private append(window: ByteWindow, chunk: Buffer): void {
    if (this.keeps && this.passing === undefined && !window.holdsAlso(chunk)) {
      this.passing = new PassingIds(this.style);
      this.passing.push(window.view().head);
    }
    this.passing?.push(chunk);
    window.append(chunk);
  }

  private view(): WindowView {
    return this.window?.view() ?? { head: this.only ?? NO_BYTES };
  }
}

const NO_BYTES = Buffer.alloc(0);
const NO_COST: ReportedCost = {};

function readingOf(
  options: UsageReaderOptions,
  documents: readonly JsonObject[],
  { responseId: announcedId, items, failure: announcedFailure, keptIds: announcedIds, tier }: DocumentSource,
): UsageReading | undefined {
  const ofUsage = measureOfAll(options, documents, items);
  const measure = ofUsage && { ...ofUsage, tier: ofUsage.tier ?? tier };
  const cost = costOfAll(options, documents);
  const responseId = announcedId ?? firstDefined(documents, (document) => responseIdOf(options.style, document));
  const failure = announcedFailure ?? failureOf(documents);
  const keptIds = options.keeps === true ? keptIdsIn(options.style, documents, announcedIds) : undefined;
  const isSilent = measure === undefined && responseId === undefined && keptIds === undefined;
  if (isSilent && cost === NO_COST && failure === undefined) return undefined;
  if (cost.implausible || (measure !== undefined && !isPlausible(measure))) {
    return { ...NO_TOKENS, usageSeen: true, implausible: true, failure, responseId, keptIds };
  }
  return {
    ...(measure?.tokens ?? NO_TOKENS),
    ...partsOfTier(measure, options),
    usageSeen: measure !== undefined,
    audioSeconds: measure?.audioSeconds,
    hostedToolCalls: measure?.hostedToolCalls,
    isOpening: measure?.isOpening,
    otherTier: measure && otherTierOf(measure),
    unknownMeasure: measure?.unknown,
    failure,
    ...cost,
    responseId,
    keptIds,
  };
}

/** Marks the service tier that answered, for prices with rates for it: the selected one where the answer names none. */
function partsOfTier(
  measure: UsageMeasure | undefined,
  { tier: selected }: UsageReaderOptions,
): Pick<UsageReading, 'parts'> {
  if (measure === undefined) return {};
  const otherTier = otherTierOf(measure);
  const isNamed = measure.tier !== undefined || otherTier !== undefined;
  const part = isNamed ? tierPartOf(otherTier) : selected;
  return part === undefined ? {} : { parts: { ...measure.tokens?.parts, [part]: 1 } };
}

function keptIdsIn(
  style: ApiStyle,
  documents: readonly JsonObject[],
  announced: readonly string[],
): readonly string[] | undefined {
  const ids = new Set([...announced, ...documents.flatMap((document) => keptIdsOf(style, document))]);
  return ids.size === 0 ? undefined : [...ids];
}

function failureOf(documents: readonly JsonObject[]): AnswerFailure | undefined {
  if (!documents.some(isFailure)) return undefined;
  return documents.some(hasContent) ? 'after_content' : 'before_content';
}

function measureOfAll(
  { style, type }: UsageReaderOptions,
  documents: readonly JsonObject[],
  streamed: readonly JsonObject[],
): UsageMeasure | undefined {
  const measure = documents.reduce<UsageMeasure | undefined>((later, document) => {
    const earlier = measureOf(style, document, type);
    return later !== undefined && earlier !== undefined ? joinMeasures(later, earlier) : (later ?? earlier);
  }, undefined);
  if (measure === undefined) return undefined;
  return withUnexplained(withItems(measure, [...streamed, ...documents.flatMap(listedItemsIn(measure))]));
}

/** Finds the tool calls that a whole document lists, besides those that the reader of its format counts. */
function listedItemsIn({ format }: UsageMeasure): (document: JsonObject) => readonly JsonObject[] {
  switch (format) {
    case 'anthropic':
      return (document) => objectsIn(document, 'content') ?? NO_ITEMS;
    case 'interactions':
      return toolStepsOf;
    default:
      return () => NO_ITEMS;
  }
}

function costOfAll({ type, reportsCost }: UsageReaderOptions, documents: readonly JsonObject[]): ReportedCost {
  const read = reportsCost ? costReaderOf(type) : null;
  if (read === null) return NO_COST;
  const said = documents.map(read);
  return (
    said.find((cost) => cost.reportedCostNanoUsd !== undefined || cost.implausible) ??
    said.find((cost) => cost.servedModel !== undefined) ??
    NO_COST
  );
}

function firstDefined<T>(documents: readonly JsonObject[], read: (document: JsonObject) => T | undefined) {
  for (const document of documents) {
    const value = read(document);
    if (value !== undefined) return value;
  }
  return undefined;
}
