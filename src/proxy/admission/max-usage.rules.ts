import { SEARCHES, type UsageBounds } from '../../pricing/max-cost.rules.js';
import { UNLIMITED_OUTPUT_TOKENS } from '../../pricing/output-limits.service.js';
import type { CheckedOutput } from '../body/output-cap.rules.js';
import type { FormPart } from '../forms/multipart-form.js';
import { isNamed, type ScannedBody } from '../json/scanned-body.js';

/** Maximum number of choices that any provider generates; higher requested numbers count as this one. */
const MAX_CHOICES = 128;
const MAX_OUTPUT_TOKENS = MAX_CHOICES * UNLIMITED_OUTPUT_TOKENS;
/** Assumed prompt tokens of content outside the body text: referenced files and pages, images, earlier turns. */
const UNSPELLED_INPUT_TOKENS = 131_072;
/** Assumed length of a recording that the body references. */
const UNSPELLED_SECONDS = 14_400;
/** Lowest bit rate of an intelligible recording, in bytes per second. */
const LEAST_BYTES_PER_SECOND = 1_000;

/** Members that continue from state stored at the provider. */
const STORED_MEMBERS = [
  ...['previous_response_id', 'previous_interaction_id', 'conversation', 'cachedContent', 'cached_content'],
  ...['previousInteractionId', 'continuation_token', 'continuationToken'],
];
const OPEN_OBJECT = 0x7b;
const ADDRESS_MARK = '://';

/** What decides the bounds of a request besides its body. */
export interface PromptFacts {
  /** Tools that the provider runs. */
  readonly hostedTools: readonly string[];
  /** Maximum output of the model for one choice; undefined where it is unknown. */
  readonly modelTokens: number | undefined;
  /** Whether it names objects kept at the provider, whose content is part of the prompt. */
  readonly namesKept: boolean;
}

/**
 * Computes the maximum usage of a JSON request. Each byte of the body counts as one token. Images, documents,
 * references to content, state stored at the provider and provider-run tools add 131 072 tokens once. The output is the
 * applicable limit, but at most the maximum output of the model unless provider-run tools cause several answers.
 * Without either limit it is 131 072 tokens per choice.
 *
 * @param body as validated; members that the gateway adds are not part of the prompt.
 * Source: docs/reference/accounting.md#hard-budgets.
 */
export function boundsOfJson(
  body: ScannedBody,
  { maxTokens, choices }: Omit<CheckedOutput, 'edits'>,
  { hostedTools, modelTokens, namesKept }: PromptFacts,
): UsageBounds {
  const { bytes } = body;
  const isUnspelled = hostedTools.length > 0 || namesKept || hasMore(body);
  const seconds = bytes.length / LEAST_BYTES_PER_SECOND;
  return {
    inputTokens: bytes.length + (isUnspelled ? UNSPELLED_INPUT_TOKENS : 0),
    outputTokens: mostOutput(maxTokens, choices, hostedTools.length > 0 ? undefined : modelTokens),
    audioSeconds: isUnspelled ? seconds + UNSPELLED_SECONDS : seconds,
    searches: hostedTools.length > 0 ? SEARCHES : 0,
  };
}

function mostOutput(asked: number | undefined, choices: number, modelTokens: number | undefined): number {
  if (modelTokens !== undefined)
    return Math.min(asked ?? Number.POSITIVE_INFINITY, modelTokens * Math.min(choices, MAX_CHOICES));
  return Math.min(asked ?? UNLIMITED_OUTPUT_TOKENS * choices, MAX_OUTPUT_TOKENS);
}

/**
 * Computes the maximum usage of a form in the same way; its files may be recordings or images.
 *
 * @param bodyBytes length of the form as the client sent it.
 * @param isTranscription whether files are recordings, of at least 1 000 bytes per second.
 * Source: docs/reference/accounting.md#hard-budgets.
 */
export function boundsOfForm(bodyBytes: number, parts: readonly FormPart[], isTranscription: boolean): UsageBounds {
  const isUnspelled = !isTranscription || parts.some(namesAddress);
  const seconds = bodyBytes / LEAST_BYTES_PER_SECOND;
  return {
    inputTokens: bodyBytes + (isUnspelled ? UNSPELLED_INPUT_TOKENS : 0),
    outputTokens: UNLIMITED_OUTPUT_TOKENS,
    audioSeconds: isUnspelled ? seconds + UNSPELLED_SECONDS : seconds,
  };
}

/**
 * Whether the prompt includes media or objects stored at the provider. An earlier check decided which callers may
 * reference those.
 */
function hasMore({ bytes, root, deep, hasMedia }: ScannedBody): boolean {
  if (hasMedia || deep.length > 0) return true;
  const prompt = root.members.get('prompt');
  // A prompt stored at the provider is an object; a string or array is the prompt itself.
  if (prompt !== undefined && bytes[prompt.start] === OPEN_OBJECT) return true;
  return STORED_MEMBERS.some((name) => isNamed(bytes, root.members.get(name)));
}

function namesAddress({ fileName, content }: FormPart): boolean {
  return fileName === undefined && content.includes(ADDRESS_MARK);
}
