import { invalidRequest } from '../../common/errors/gateway-error.js';
import type { ApiStyle } from '../../upstreams/api-style.rules.js';
import { type JsonEdit, setMember } from '../json/json-edit.js';
import { isNamed, type MemberSpan, memberValue, type ScannedBody } from '../json/scanned-body.js';

/** Model and streaming options of a JSON body. */
export interface RequestFacts {
  readonly model?: string;
  /** `stream: true` in the body. Styles that select streaming by path do not set it. */
  readonly stream: boolean;
  /** `stream_options.include_usage` as sent; undefined when absent or `null`. */
  readonly includeUsage: boolean | undefined;
  readonly hasStreamOptions: boolean;
}

function readSwitch(bytes: Buffer, member: MemberSpan | undefined, path: string): boolean | undefined {
  if (!isNamed(bytes, member)) return undefined;
  const value = memberValue(bytes, member, path);
  if (typeof value !== 'boolean') throw invalidRequest(path, 'must be true or false');
  return value;
}

function readModel({ bytes, root }: ScannedBody): string | undefined {
  const member = root.members.get('model');
  if (member === undefined) return undefined;
  const model = memberValue(bytes, member, 'model');
  if (typeof model !== 'string' || model === '') throw invalidRequest('model', 'must be a non-empty string');
  return model;
}

/**
 * Reads model and streaming options of a scanned body.
 *
 * @throws invalid_request `model` is present and not a non-empty string (`null` included), `stream` or `include_usage`
 *   is not a boolean, `stream_options` is not an object. `null` counts as absent for all but `model`.
 * Source: docs/reference/application-api.md#models.
 */
export function readRequestFacts(body: ScannedBody): RequestFacts {
  const { bytes, root } = body;
  const options = root.members.get('stream_options');
  if (isNamed(bytes, options) && options.nested === undefined)
    throw invalidRequest('stream_options', 'must be an object');
  const usagePath = 'stream_options.include_usage';
  return {
    model: readModel(body),
    stream: readSwitch(bytes, root.members.get('stream'), 'stream') ?? false,
    includeUsage: readSwitch(bytes, options?.nested?.members.get('include_usage'), usagePath),
    hasStreamOptions: options?.nested !== undefined,
  };
}

/** Edits that make a stream end with its usage, and whether the client must not receive that usage. */
export interface UsageAsk {
  readonly edits: readonly JsonEdit[];
  /** Relay the stream through a `UsageChunkFilter`. */
  readonly withholdUsageChunk: boolean;
}

const NOTHING: UsageAsk = { edits: [], withholdUsageChunk: false };

/**
 * Requests usage for a client that did not: only Chat Completions streams omit it by default. Other stream options keep
 * their bytes; `include_usage: false` and `null` become `true`.
 *
 * @param streamsUsage whether the provider type sends it unasked.
 * Source: docs/reference/accounting.md#tokens-of-an-answer.
 */
export function usageEdits(
  { root }: ScannedBody,
  facts: RequestFacts,
  { style, streamsUsage }: { readonly style: ApiStyle; readonly streamsUsage: boolean },
): UsageAsk {
  if (style !== 'chat_completions' || streamsUsage || !facts.stream || facts.includeUsage === true) return NOTHING;
  const options = root.members.get('stream_options')?.nested;
  const edit =
    options === undefined
      ? setMember(root, 'stream_options', '{"include_usage":true}')
      : setMember(options, 'include_usage', 'true');
  return { edits: [edit], withholdUsageChunk: true };
}
