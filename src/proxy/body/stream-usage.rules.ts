import type { ApiStyle } from '../../upstreams/api-style.rules.js';
import { type JsonEdit, setMember } from '../json/json-edit.js';
import type { ScannedBody } from '../json/json-members.js';
import type { RequestFacts } from './request-facts.rules.js';

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
 * Source: docs/reference/accounting.md#tokens-of-an-answer.
 */
export function usageEdits({ root }: ScannedBody, facts: RequestFacts, style: ApiStyle): UsageAsk {
  if (style !== 'chat_completions' || !facts.stream || facts.includeUsage === true) return NOTHING;
  const options = root.members.get('stream_options')?.nested;
  const edit =
    options === undefined
      ? setMember(root, 'stream_options', '{"include_usage":true}')
      : setMember(options, 'include_usage', 'true');
  return { edits: [edit], withholdUsageChunk: true };
}
