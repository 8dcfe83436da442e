import { type JsonObject } from '../../common/json-object.js';
import { counterIn, objectIn, objectsIn, partOf, textIn } from './json-fields.rules.js';
import { NO_TOKENS, partsAboveZero, type TokenCounts } from './token-counts.js';
import { type KnownCounters, type UnknownMeasure, unreadCountersOf } from './unread-counters.rules.js';

const COUNTERS = [
  ...['promptTokenCount', 'cachedContentTokenCount', 'candidatesTokenCount', 'thoughtsTokenCount'],
  'toolUsePromptTokenCount',
] as const;

const DETAIL: KnownCounters = { tokenCount: true };
/** Counters of this format that are read. Tokens of tool results are billed as text, whatever their kind. */
const KNOWN: KnownCounters = {
  ...{ promptTokenCount: true, cachedContentTokenCount: true, candidatesTokenCount: true, thoughtsTokenCount: true },
  ...{ toolUsePromptTokenCount: true, totalTokenCount: true, toolUsePromptTokensDetails: DETAIL },
  ...{ promptTokensDetails: DETAIL, promptTokenDetails: DETAIL, cacheTokensDetails: DETAIL },
  candidatesTokensDetails: DETAIL,
};

const MAX_MODALITY_LENGTH = 32;

/** Tokens by modality; documents count as images. */
interface Modalities {
  readonly text: number;
  readonly audio: number;
  readonly image: number;
  readonly video: number;
}

/**
 * Token counts of a `generateContent` answer or of one element of its stream.
 *
 * @returns undefined when `usageMetadata` has none of the five counters.
 * Source: docs/reference/accounting.md#tokens-of-an-answer.
 */
export function readGeminiTokens(document: JsonObject): TokenCounts | undefined {
  const usage = objectIn(document, 'usageMetadata');
  const [prompt = 0, cached = 0, candidates = 0, thoughts = 0, toolUse = 0] = COUNTERS.map((name) =>
    counterIn(usage, name),
  );
  if (COUNTERS.every((name) => counterIn(usage, name) === undefined)) return undefined;
  return tokensOfGemini(
    { prompt, cached, candidates, thoughts, toolUse },
    {
      ofCache: modalitiesOf(usage, ['cacheTokensDetails']),
      ofPrompt: modalitiesOf(usage, ['promptTokensDetails', 'promptTokenDetails']),
      ofOutput: modalitiesOf(usage, ['candidatesTokensDetails']),
    },
  );
}

/**
 * Counters of one answer, by Gemini's meaning: cached tokens are part of the prompt, thoughts are beside candidates.
 */
interface GeminiCounts {
  readonly prompt: number;
  readonly cached: number;
  readonly candidates: number;
  readonly thoughts: number;
  readonly toolUse: number;
}

/** Splits of an answer by modality; undefined where it has none. */
interface GeminiSplits {
  readonly ofPrompt: Modalities | undefined;
  readonly ofCache: Modalities | undefined;
  readonly ofOutput: Modalities | undefined;
}

/** Buckets and parts of an answer. Source: docs/reference/accounting.md#tokens-of-an-answer. */
export function tokensOfGemini(
  { prompt, cached, candidates, thoughts, toolUse }: GeminiCounts,
  { ofPrompt, ofCache, ofOutput }: GeminiSplits,
): TokenCounts {
  const input = partOf(prompt, prompt - cached);
  const audioCached = partOf(cached, ofCache?.audio ?? 0);
  const imageCached = partOf(cached - audioCached, ofCache?.image ?? 0);
  const audioInput = uncached(input, ofPrompt?.audio, audioCached);
  const imageInput = uncached(input - audioInput, ofPrompt?.image, imageCached);
  const videoInput = uncached(input - audioInput - imageInput, ofPrompt?.video, ofCache?.video ?? 0);
  const audioOutput = partOf(candidates, ofOutput?.audio ?? 0);
  return {
    ...NO_TOKENS,
    // Tool results are not part of the prompt count; they are billed as text.
    inputTokens: input + toolUse,
    cachedInputTokens: cached,
    outputTokens: candidates + thoughts,
    reasoningTokens: thoughts,
    audioInputTokens: audioInput,
    audioCachedInputTokens: audioCached,
    audioOutputTokens: audioOutput,
    parts: partsAboveZero({
      cached_image_input: imageCached,
      image_input: imageInput,
      video_input: videoInput,
      unknown_input: partOf(input - audioInput - imageInput - videoInput, unexplained(prompt, ofPrompt)),
      // Thoughts are text, whatever the modality of the answer.
      text_output: partOf(candidates - audioOutput, ofOutput?.text ?? 0) + thoughts,
      image_output: partOf(candidates - audioOutput, ofOutput?.image ?? 0),
      video_output: partOf(candidates - audioOutput, ofOutput?.video ?? 0),
      unknown_output: partOf(candidates, unexplained(candidates, ofOutput)),
    }),
  };
}

/**
 * What a document counts beyond the tokens that were read from it: unknown counters.
 *
 * Source: docs/reference/accounting.md#unknown-measures.
 */
export function unreadOfGemini(document: JsonObject): UnknownMeasure | undefined {
  const usage = objectIn(document, 'usageMetadata');
  return usage && unreadCountersOf(usage, KNOWN);
}

/** The total that a document states, whatever it includes. */
export function totalTokensOfGemini(document: JsonObject): number | undefined {
  return counterIn(objectIn(document, 'usageMetadata'), 'totalTokenCount');
}

/** Tokens of a modality that were not read from the cache. */
function uncached(bucket: number, ofKind = 0, ofKindCached = 0): number {
  return partOf(bucket, ofKind === Number.POSITIVE_INFINITY ? ofKind : ofKind - ofKindCached);
}

/** Tokens that a split by modality does not cover; none where there is no split. */
function unexplained(total: number, split: Modalities | undefined): number {
  if (split === undefined || total === Number.POSITIVE_INFINITY) return 0;
  return Math.max(0, total - split.text - split.audio - split.image - split.video);
}

/** Sums of the first list that is present and not empty. */
function modalitiesOf(usage: JsonObject | undefined, lists: readonly string[]): Modalities | undefined {
  const details = lists.map((name) => objectsIn(usage, name)).find((list) => list !== undefined && list.length > 0);
  return splitByModality(details, 'tokenCount');
}

/**
 * Sums of a list of tokens by modality, in either case; undefined without entries.
 *
 * @param counter the member with the tokens of an entry.
 */
export function splitByModality(details: readonly JsonObject[] | undefined, counter: string): Modalities | undefined {
  if (details === undefined || details.length === 0) return undefined;
  const sum = (...names: readonly string[]) =>
    details
      .filter((detail) => names.includes(textIn(detail, 'modality', MAX_MODALITY_LENGTH)?.toUpperCase() ?? ''))
      .reduce((total, detail) => total + (counterIn(detail, counter) ?? 0), 0);
  return { text: sum('TEXT'), audio: sum('AUDIO'), image: sum('IMAGE', 'DOCUMENT'), video: sum('VIDEO') };
}
