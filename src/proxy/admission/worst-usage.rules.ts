import { UNLIMITED_OUTPUT_TOKENS } from '../../pricing/output-limits.service.js';
import { SEARCHES, type UsageBounds } from '../../pricing/worst-cost.rules.js';
import type { JudgedOutput } from '../body/output-cap.rules.js';
import type { FormPart } from '../forms/multipart-form.js';
import { isNamed, type ScannedBody } from '../json/json-members.js';

/** No provider makes more choices of one request; whatever is asked for, no more than these are held for. */
const MAX_CHOICES = 128;
const MAX_OUTPUT_TOKENS = MAX_CHOICES * UNLIMITED_OUTPUT_TOKENS;
/** Prompt tokens of what a body does not spell out: files and pages it names, pictures, what came before. */
const UNSPELLED_INPUT_TOKENS = 131_072;
/** A recording the body only names. */
const UNSPELLED_SECONDS = 14_400;
/** A recording of fewer bytes for each second could not be understood. */
const LEAST_BYTES_PER_SECOND = 1_000;

/** Members by which a prompt goes on from what is kept at the provider. */
const STORED_MEMBERS = ['previous_response_id', 'conversation', 'cachedContent', 'cached_content'];
const OPEN_OBJECT = 0x7b;
const ADDRESS_MARK = '://';

/**
 * The most a JSON request can use. A token is at least one byte of the body. Where the body holds pictures or
 * documents, only says where they are, goes on from what is kept at the provider, or lets tools of the provider bring
 * something in, that counts as 131 072 tokens more. The output is what the limit in force allows, and no more than the
 * model can generate, unless tools of the provider make it answer several times; where neither is known, 131 072 tokens a
 * choice.
 *
 * @param body as judged; what we write into it ourselves is no prompt.
 * @param hostedTools tools the provider runs itself.
 * @param modelTokens the longest answer of the model, for one choice; undefined where it is not known.
 * Source: docs/reference/accounting.md#hard-budgets.
 */
export function boundsOfJson(
  body: ScannedBody,
  { mostTokens, choices }: Omit<JudgedOutput, 'edits'>,
  hostedTools: readonly string[],
  modelTokens: number | undefined,
): UsageBounds {
  const { bytes } = body;
  const isUnspelled = hostedTools.length > 0 || hasMore(body);
  const seconds = bytes.length / LEAST_BYTES_PER_SECOND;
  return {
    inputTokens: bytes.length + (isUnspelled ? UNSPELLED_INPUT_TOKENS : 0),
    outputTokens: mostOutput(mostTokens, choices, hostedTools.length > 0 ? undefined : modelTokens),
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
 * The most a form can use, in the same way: its files may be recordings, or pictures.
 *
 * @param bodyBytes of the form as the client sent it.
 * @param isTranscription its files are recordings, of at least 1 000 bytes a second.
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

/** Media, and objects kept at the provider; who may name those was judged before. */
function hasMore({ bytes, root, deep, hasMedia }: ScannedBody): boolean {
  if (hasMedia || deep.length > 0) return true;
  const prompt = root.members.get('prompt');
  // A prompt kept at the provider is an object; text and arrays are spelled out.
  if (prompt !== undefined && bytes[prompt.start] === OPEN_OBJECT) return true;
  return STORED_MEMBERS.some((name) => isNamed(bytes, root.members.get(name)));
}

function namesAddress({ fileName, content }: FormPart): boolean {
  return fileName === undefined && content.includes(ADDRESS_MARK);
}
