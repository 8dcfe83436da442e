import { invalidRequest } from '../../common/errors/gateway-error.js';
import type { ApiStyle } from '../../upstreams/api-style.rules.js';
import { isNamed, memberValue, type ScannedBody } from '../json/json-members.js';

/** Maximum size of the `tools` member; a longer one is refused unread. */
export const TOOLS_MAX_BYTES = 256 * 1024;

type Tool = Readonly<Record<string, unknown>>;

/** Tools that the client runs; they cost tokens only. */
const LOCAL_TYPES = new Set(['function', 'custom', 'local_shell', 'apply_patch', 'computer', 'computer_use_preview']);
/** Prefixes of client-run tool types with a version suffix. */
const LOCAL_PREFIXES = ['bash_', 'text_editor_', 'computer_', 'memory_'];
const GEMINI_LOCAL_KEYS = new Set(['functionDeclarations', 'function_declarations']);
/** Root members that enable a provider's own search, with the tool type to report. */
const SEARCH_MEMBERS = new Map([
  ['web_search_options', 'web_search'],
  ['search_parameters', 'live_search'],
]);

function isTool(entry: unknown): entry is Tool {
  return typeof entry === 'object' && entry !== null && !Array.isArray(entry);
}

function readTools({ bytes, root }: ScannedBody): Tool[] {
  const member = root.members.get('tools');
  if (!isNamed(bytes, member)) return [];
  const tools = memberValue(bytes, member, 'tools', TOOLS_MAX_BYTES);
  if (!Array.isArray(tools)) throw invalidRequest('tools', 'must be an array');
  return tools.filter(isTool);
}

/** `shell` runs in a container of the provider unless its environment is local to the client. */
function isLocalShell(tool: Tool): boolean {
  return tool.type === 'shell' && isTool(tool.environment) && tool.environment.type === 'local';
}

function hostedTypes(tool: Tool, style: ApiStyle): string[] {
  if (style === 'gemini_native') return Object.keys(tool).filter((key) => !GEMINI_LOCAL_KEYS.has(key));
  const { type } = tool;
  if (typeof type !== 'string' || LOCAL_TYPES.has(type) || isLocalShell(tool)) return [];
  return LOCAL_PREFIXES.some((prefix) => type.startsWith(prefix)) ? [] : [type];
}

/**
 * Lists the tools that the provider runs and may charge in addition to tokens, each type once.
 *
 * @throws invalid_request `tools` is no array, or is longer than `TOOLS_MAX_BYTES`.
 * Source: docs/reference/application-api.md#refused-members.
 */
export function listHostedTools(body: ScannedBody, style: ApiStyle): string[] {
  const hosted = new Set<string>();
  for (const tool of readTools(body)) {
    for (const type of hostedTypes(tool, style)) hosted.add(type);
  }
  for (const [member, type] of SEARCH_MEMBERS) {
    if (isNamed(body.bytes, body.root.members.get(member))) hosted.add(type);
  }
  return [...hosted];
}
