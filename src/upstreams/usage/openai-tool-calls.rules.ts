import { type JsonObject } from '../../common/json-object.js';
import { itemFeeOf } from '../hosted-tools.rules.js';
import { counterIn, firstCounterIn, objectIn, objectsIn, textIn } from './json-fields.rules.js';
import { partsAboveZero, type UsageParts } from './token-counts.js';
import { openAiUsageOf } from './usage-openai.rules.js';

const MAX_TYPE_LENGTH = 64;
const WEB_ACTIONS_WITHOUT_FEE: ReadonlySet<string> = new Set(['open_page', 'find', 'find_in_page']);

/** Calls of provider-run tools with their own fee. */
export interface ToolCalls {
  /** Number of calls with a fee; undefined when the answer does not state it. */
  readonly paid: number | undefined;
  /** The searches among them, and the context size of the search. */
  readonly parts: UsageParts | undefined;
  /** Whether the number of searches is what the provider bills, and not that of the items in the answer. */
  readonly isBilled: boolean;
}

/**
 * Counts calls from the output items of a Responses answer, else from the provider's counters.
 * Source: docs/reference/accounting.md#tools-of-providers.
 */
export function readOpenAiToolCalls(document: JsonObject): ToolCalls {
  const usage = openAiUsageOf(document);
  const response = objectIn(document, 'response') ?? document;
  const items = objectsIn(response, 'output') ?? objectsIn(document, 'output');
  const billed = counterIn(objectIn(objectIn(response, 'tool_usage'), 'web_search'), 'num_requests');
  if (items === undefined && billed === undefined) {
    const queries = counterIn(usage, 'num_search_queries');
    const paid = firstCounterIn(usage, ['num_server_side_tools_used', 'num_search_queries', 'num_sources_used']);
    const parts = partsAboveZero({ web_search: queries, ...contextOf(usage) });
    return { paid, parts, isBilled: queries !== undefined };
  }
  const calls = paidCallsOf(items ?? []);
  const webSearches = billed ?? calls.webSearches;
  return {
    paid: webSearches + calls.fileSearches + calls.others,
    parts: partsAboveZero({ web_search: webSearches, file_search: calls.fileSearches, ...contextOf(usage) }),
    isBilled: billed !== undefined,
  };
}

/** Numbers of calls with a fee among output items. */
export interface PaidCalls {
  readonly webSearches: number;
  readonly fileSearches: number;
  /** Calls whose fee no price list has. */
  readonly others: number;
}

/** Counts the calls with a fee among output items of a Responses answer. */
export function paidCallsOf(items: Iterable<JsonObject>): PaidCalls {
  const count = { webSearches: 0, fileSearches: 0, others: 0 };
  for (const item of items) {
    const fee = itemFeeOf(textIn(item, 'type', MAX_TYPE_LENGTH) ?? '');
    if (fee === 'web_search' && isWebSearch(item)) count.webSearches += 1;
    else if (fee === 'file_search') count.fileSearches += 1;
    else if (fee === 'unknown' && !isLocal(item)) count.others += 1;
  }
  return count;
}

/** Opening a page and finding text in it cost only tokens. */
function isWebSearch(item: JsonObject): boolean {
  const action = textIn(objectIn(item, 'action'), 'type', MAX_TYPE_LENGTH);
  return action === undefined || !WEB_ACTIONS_WITHOUT_FEE.has(action);
}

/** A `shell_call` may run at the client. */
function isLocal(item: JsonObject): boolean {
  return textIn(objectIn(item, 'environment'), 'type', MAX_TYPE_LENGTH) === 'local';
}

function contextOf(usage: JsonObject | undefined): UsageParts {
  const size = textIn(usage, 'search_context_size', MAX_TYPE_LENGTH);
  if (size === 'low') return { low_context_search: 1 };
  return size === 'medium' ? { medium_context_search: 1 } : {};
}
