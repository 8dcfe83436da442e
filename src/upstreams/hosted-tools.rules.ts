/**
 * What calls of a tool cost besides tokens: nothing, the rate of a price list for this kind of call, or an amount that
 * no price list has.
 */
export type ToolFee = 'none' | 'web_search' | 'file_search' | 'unknown';

/**
 * Tools by the name that requests, answers and counters share, without the suffix of a version. A tool that is not
 * listed has an unknown fee. Source: docs/reference/accounting.md#tools-of-providers.
 */
const FEES: ReadonlyMap<string, ToolFee> = new Map([
  // Run by the client.
  ...withFee('none', 'function', 'custom', 'custom_tool', 'local_shell', 'apply_patch', 'computer', 'computer_use'),
  ...withFee('none', 'bash', 'text_editor', 'memory', 'functionDeclarations', 'computerUse'),
  // Run by the provider, paid by the tokens they add. The advisor's tokens are iterations of the answer.
  ...withFee('none', 'mcp', 'mcp_toolset', 'mcpServers', 'tool_search', 'tool_search_tool_regex'),
  ...withFee('none', 'tool_search_tool_bm25', 'web_fetch', 'advisor', 'codeExecution', 'urlContext', 'fileSearch'),
  ...withFee('none', 'mcpServer', 'mcpServerTool', 'processing'),
  ...withFee('web_search', 'web_search', 'googleSearch'),
  ...withFee('file_search', 'file_search'),
  ...withFee('unknown', 'code_execution', 'code_interpreter', 'shell', 'image_generation', 'live_search', 'x_search'),
  ...withFee('unknown', 'googleSearchRetrieval', 'googleMaps', 'enterpriseWebSearch', 'retrieval'),
]);

/** Tools that only the client runs. */
const CLIENT_TOOLS: ReadonlySet<string> = new Set([
  ...['function', 'custom', 'local_shell', 'apply_patch', 'computer', 'computer_use'],
  ...['bash', 'text_editor', 'memory', 'functionDeclarations', 'computerUse'],
]);

const CALL = '_call';
/** `_20250305`, `_preview`, `_preview_2025_03_11`. */
const VERSION = /(?:_preview)?(?:_\d{8}|_\d{4}_\d{2}_\d{2})?$/;

/** The fee of calls of a tool, by its type in a request. */
export function toolFeeOf(type: string): ToolFee {
  return FEES.get(type.replace(VERSION, '')) ?? 'unknown';
}

/** Whether the client runs a tool with this type in a request; other tools are run by the provider. */
export function isClientTool(type: string): boolean {
  return CLIENT_TOOLS.has(type.replace(VERSION, ''));
}

/** The name of one of Gemini's tools in this table: `generateContent` takes both spellings, Interactions snake case. */
export function geminiToolName(name: string): string {
  return name.replace(/_([a-z])/g, (_match, letter: string) => letter.toUpperCase());
}

/** The type of an output item for a step `<tool>_call` of an interaction; other steps keep theirs. */
export function itemTypeOfStep(type: string): string {
  return type.endsWith(CALL) ? geminiToolName(type.slice(0, -CALL.length)) + CALL : type;
}

/** The fee of an output item `<tool>_call` of an answer; `none` for items of other types. */
export function itemFeeOf(type: string): ToolFee {
  return type.endsWith(CALL) ? toolFeeOf(type.slice(0, -CALL.length)) : 'none';
}

/** The fee of calls that a counter `<tool>_requests` counts. */
export function counterFeeOf(name: string): ToolFee {
  return toolFeeOf(name.replace(/_requests$/, ''));
}

function withFee(fee: ToolFee, ...names: readonly string[]): [string, ToolFee][] {
  return names.map((name) => [name, fee]);
}
