import { type GatewayError, invalidRequest } from '../../common/errors/gateway-error.js';
import { isJsonObject } from '../../common/json-object.js';
import type { ApiStyle } from '../../upstreams/api-style.rules.js';
import { geminiToolName, isClientTool } from '../../upstreams/hosted-tools.rules.js';
import type { ProviderType } from '../../upstreams/provider-types.js';
import { isFilled, isNamed, memberValue, type ScannedBody } from '../json/scanned-body.js';
import { type AskedTier, readAskedTier } from './service-tier.rules.js';
import type { Tool } from './tool-models.rules.js';

/** Members that make the request asynchronous: the client would fetch the answer and its usage later. */
const DETACHED = ['background', 'deferred'];
/** Members that make the provider send what becomes of a request to addresses of the client. */
const WEBHOOKS = ['webhook_config', 'webhookConfig'];
/** Values of `background` in image generation, on paths without an API style. */
const PICTURE_BACKGROUNDS: ReadonlySet<unknown> = new Set(['transparent', 'opaque', 'auto']);
/** Members that involve models other than the validated and priced one. */
const OTHER_MODELS = ['fallbacks', 'compound_custom', 'svg', 'agent', 'agent_config', 'agentConfig'];
const GENERATION_CONFIGS = ['generationConfig', 'generation_config'];
const MODEL_ROUTING = ['routingConfig', 'routing_config', 'modelSelectionConfig', 'model_selection_config'];
/** Members that select a price other than the list price, with the values that do not. */
const PRICE_MEMBERS: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  ['speed', new Set(['standard'])],
  ['inference_geo', new Set(['global'])],
]);

function refuseDetached({ bytes, root }: ScannedBody, style: ApiStyle): void {
  for (const name of DETACHED) {
    const member = root.members.get(name);
    if (!isNamed(bytes, member)) continue;
    const value = memberValue(bytes, member, name);
    if (value === true) throw invalidRequest(name, 'requests that run in the background are not supported');
    if (style === 'other' && name === 'background' && PICTURE_BACKGROUNDS.has(value)) continue;
    if (value !== false) throw invalidRequest(name, 'must be true or false');
  }
  for (const name of WEBHOOKS) {
    if (isFilled(bytes, root.members.get(name))) throw invalidRequest(name, 'cannot be used through the gateway');
  }
}

function refuseDearerPrices({ bytes, root }: ScannedBody): void {
  for (const [name, allowed] of PRICE_MEMBERS) {
    const member = root.members.get(name);
    if (!isNamed(bytes, member)) continue;
    const value = memberValue(bytes, member, name);
    // Speech requests have a numeric `speed` that does not affect the price.
    if (name === 'speed' && typeof value === 'number') continue;
    if (typeof value === 'string' && allowed.has(value)) continue;
    throw invalidRequest(name, `cannot be priced; allowed are ${[...allowed].join(', ')}`);
  }
}

function refuseOtherModels({ bytes, root }: ScannedBody): void {
  for (const name of OTHER_MODELS) {
    if (isFilled(bytes, root.members.get(name))) throw otherModels(name);
  }
  for (const parent of GENERATION_CONFIGS) {
    const config = root.members.get(parent)?.nested;
    for (const name of MODEL_ROUTING) {
      if (isFilled(bytes, config?.members.get(name))) throw otherModels(`${parent}.${name}`);
    }
  }
}

function otherModels(path: string): GatewayError {
  return invalidRequest(path, 'cannot be used through the gateway: it brings in models that were not priced');
}

/**
 * Refuses requests that cannot be priced: asynchronous work, tiers without a price, and members that involve other
 * models.
 *
 * @returns its tools and its service tier, on which `pricedTier` decides.
 * @throws invalid_request
 * Source: docs/reference/application-api.md#refused-members.
 */
export function validateCostMembers(body: ScannedBody, style: ApiStyle): RequestedWork {
  refuseDetached(body, style);
  refuseDearerPrices(body);
  refuseOtherModels(body);
  const tier = readAskedTier(body);
  const tools = readTools(body);
  return { tools, hosted: listHostedTools(body, tools, style), tier };
}

/** What a request asks for besides an answer of its model. */
export interface RequestedWork {
  /** Entries of `tools`, parsed. */
  readonly tools: readonly Tool[];
  /** Types of those that the provider runs and may charge in addition to tokens, each type once. */
  readonly hosted: readonly string[];
  readonly tier: AskedTier | undefined;
}

/** Root members that enable a provider's own search, with the tool type to report. */
const SEARCH_MEMBERS = new Map([
  ['web_search_options', 'web_search'],
  ['search_parameters', 'live_search'],
]);

function readTools({ bytes, root }: ScannedBody): Tool[] {
  const member = root.members.get('tools');
  if (!isNamed(bytes, member)) return [];
  const tools = memberValue(bytes, member, 'tools', bytes.length);
  if (!Array.isArray(tools)) throw invalidRequest('tools', 'must be an array');
  return tools.filter(isJsonObject);
}

/** `shell` runs in a container of the provider unless its environment is local to the client. */
function isLocalShell(tool: Tool): boolean {
  return tool.type === 'shell' && isJsonObject(tool.environment) && tool.environment.type === 'local';
}

function hostedTypes(tool: Tool, style: ApiStyle): string[] {
  if (style === 'gemini_native') {
    return Object.keys(tool)
      .map(geminiToolName)
      .filter((key) => !isClientTool(key));
  }
  const { type: sent } = tool;
  if (typeof sent !== 'string') return [];
  const type = style === 'gemini_interactions' ? geminiToolName(sent) : sent;
  return isClientTool(type) || isLocalShell(tool) ? [] : [type];
}

function listHostedTools(body: ScannedBody, tools: readonly Tool[], style: ApiStyle): string[] {
  const hosted = new Set<string>();
  for (const tool of tools) {
    for (const type of hostedTypes(tool, style)) hosted.add(type);
  }
  for (const [member, type] of SEARCH_MEMBERS) {
    if (isNamed(body.bytes, body.root.members.get(member))) hosted.add(type);
  }
  return [...hosted];
}

/** Answers in these formats contain usage or a duration. */
const METERED_FORMATS = new Set(['json', 'verbose_json', 'diarized_json']);
/** Types that report a duration in `verbose_json` only. */
const VERBOSE_ONLY: ReadonlySet<ProviderType> = new Set(['groq', 'together']);
/** Types whose answer always contains a duration. */
const ALWAYS_METERED: ReadonlySet<ProviderType> = new Set(['xai']);

/**
 * Determines whether a transcription answer can be priced. `set` is the equivalent format to request when the requested
 * one cannot be priced.
 *
 * @param format the `response_format` field; undefined when the form has none.
 * @throws invalid_request no equivalent format contains usage.
 */
export function validateTranscriptionFormat(type: ProviderType, format: string | undefined): { set?: 'verbose_json' } {
  if (ALWAYS_METERED.has(type)) return {};
  if (VERBOSE_ONLY.has(type)) {
    if (format === 'verbose_json') return {};
    if (format === undefined || format === 'json') return { set: 'verbose_json' };
    throw invalidRequest('response_format', 'cannot be priced; send verbose_json');
  }
  if (format === undefined || METERED_FORMATS.has(format)) return {};
  throw invalidRequest('response_format', `cannot be priced; send ${[...METERED_FORMATS].join(', ')}`);
}
