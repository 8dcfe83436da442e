import { displayText } from '../../common/errors/display-text.rules.js';
import { GatewayError, invalidRequest } from '../../common/errors/gateway-error.js';
import { parseStrictJson } from '../../common/http/strict-json.rules.js';
import { isJsonObject } from '../../common/json-object.js';
import { type MaybePromise, whenResolved } from '../../common/maybe-promise.js';
import type { ToolModelBounds, UsageBounds } from '../../pricing/max-cost.rules.js';
import type { CompiledPrice } from '../../pricing/model-price.js';
import type { OutputLimits } from '../../pricing/output-limits.service.js';
import type { PriceBook } from '../../pricing/price-book.js';
import type { ProviderInstance } from '../../providers/provider-instance.js';
import type { ApiStyle } from '../../upstreams/api-style.rules.js';
import { isClientTool } from '../../upstreams/hosted-tools.rules.js';
import { MAX_MODEL_LENGTH, type ProviderType } from '../../upstreams/provider-types.js';
import {
  ANY_MODEL,
  choosesModel,
  defaultModelOf,
  hasOutputLimit,
  isFreeOfModels,
  namesModels,
  TOOL_OUTPUT_LIMIT,
} from '../../upstreams/tool-models.js';
import { CheckedMembers } from '../json/checked-members.js';
import { type JsonEdit, setMember } from '../json/json-edit.js';
import { scanBody } from '../json/json-scan.js';
import { isNamed, type MemberSpan, memberValue, type ScannedBody } from '../json/scanned-body.js';
import { isKeptModel } from './kept-objects.rules.js';

/** A model that a tool or a plugin of a request can run. */
interface ToolModel {
  /** Of the member that names it. */
  readonly path: string;
  /** A name; with a `*`, a pattern of names. */
  readonly model: string;
  /** Its own output limit, if the tool has one. */
  readonly maxTokens: number | undefined;
  /** How often the tool may run it. */
  readonly maxUses: number;
}

/** Which models an application may use, and at what price. */
export interface ToolModelRules {
  readonly type: ProviderType;
  /** Maximum output tokens of the request, if limited. */
  readonly cap: number | undefined;
  /** Names as clients send them; empty = any. */
  readonly allowedModels: ReadonlySet<string>;
  /** Whether the provider reports the cost, so that no price is needed. */
  readonly reportsCost: boolean;
  readonly providerSlug: string;
  priceOf(model: string): CompiledPrice | undefined;
  /** Maximum output of a model, in tokens. */
  outputLimitOf(model: string): number | undefined;
}

/** An entry of `tools`. */
export type Tool = Readonly<Record<string, unknown>>;
type Entry = Tool;

/** The provider of a call, and what it may run there. */
interface ToolModelTarget extends Pick<ToolModelRules, 'allowedModels' | 'cap'> {
  readonly provider: ProviderInstance;
  readonly style: ApiStyle;
  readonly atMs: number;
}

const PLUGINS = 'plugins';
const NO_EDITS: readonly JsonEdit[] = [];
const MAX_DEPTH = 8;
/** Assumed output of a model without any limit, in tokens. */
const UNLIMITED_TOKENS = 131_072;
const MOST_USES = 1_000;

/**
 * The bounds of a request with those of the models that its tools and plugins can run.
 *
 * @param own bounds of the request's own model.
 * @param rulesOf called for a request with tools or plugins only.
 * @throws as `judgeToolModels`; invalid_request tools with models have more than one reading.
 */
export function boundsOfToolModels(
  { bytes, root }: ScannedBody,
  tools: readonly Tool[],
  own: UsageBounds,
  rulesOf: () => ToolModelRules,
): UsageBounds {
  if (tools.length === 0 && !root.members.has(PLUGINS)) return own;
  const rules = rulesOf();
  const member = rules.type === 'openrouter' ? root.members.get(PLUGINS) : undefined;
  const plugins = isNamed(bytes, member) ? memberValue(bytes, member, PLUGINS, bytes.length) : undefined;
  const models = findToolModels(tools, plugins, rules);
  if (models.length === 0) return own;
  for (const name of ['tools', PLUGINS]) requireOneReading(bytes, root.members.get(name), name);
  return { ...own, toolModels: judgeToolModels(models, rules, own) };
}

function requireOneReading(bytes: Buffer, member: MemberSpan | undefined, name: string): void {
  if (isNamed(bytes, member)) parseStrictJson(bytes.subarray(member.start, member.end), name, { takesAnyNumber: true });
}

/**
 * The edits that set the ceiling where a tool's model has its own output limit and the request does not set it.
 *
 * @param cap maximum output tokens of the request; undefined: no limit.
 * @throws max_output_tokens_exceeded, invalid_request the limit is not a whole number.
 */
export function limitedToolEdits(
  { bytes }: ScannedBody,
  tools: readonly Tool[],
  cap: number | undefined,
): MaybePromise<readonly JsonEdit[]> {
  const isLimited = tools.some(({ type }) => typeof type === 'string' && hasOutputLimit(type));
  if (cap === undefined || !isLimited) return NO_EDITS;
  return whenResolved(scanBody(bytes, { names: LIMITED_TOOLS }), (limited) => toolOutputEdits(limited, cap));
}

/** The rules for calls of one provider. @param atMs an instant of the day of the prices, in milliseconds since 1970. */
export function toolModelRules(
  { provider, style, allowedModels, cap, atMs }: ToolModelTarget,
  { prices, outputLimits }: { readonly prices: PriceBook; readonly outputLimits: OutputLimits },
): ToolModelRules {
  const { type, customPrices, slug, route } = provider;
  return {
    ...{ type, cap, allowedModels, reportsCost: route.reportsCost(style), providerSlug: slug },
    priceOf: (model) => prices.find(type, model, customPrices, atMs),
    outputLimitOf: (model) => outputLimits.find(type, model),
  };
}

/** Scans entries of `tools` that have their own output limit. */
const LIMITED_TOOLS = new CheckedMembers({
  root: [],
  nested: {},
  deep: [],
  media: [],
  objects: new Map([['tools', { members: ['type', TOOL_OUTPUT_LIMIT], place: 'root' }]]),
  ids: ['type'],
});

/**
 * Finds the models that the tools and plugins of a request name or run by default. Tools that the client runs name
 * none.
 *
 * @param tools entries of `tools`, parsed.
 * @param plugins the value of `plugins`, parsed; read for OpenRouter alone.
 * @throws invalid_request a name is not text.
 */
function findToolModels(
  tools: readonly Tool[],
  plugins: unknown,
  { type, cap }: Pick<ToolModelRules, 'type' | 'cap'>,
): ToolModel[] {
  const ofTools = tools.flatMap((tool, index) => modelsOfTool(tool, `tools.${index}`, { type, cap }));
  if (type !== 'openrouter' || plugins === undefined || plugins === null) return ofTools;
  if (!Array.isArray(plugins)) throw invalidRequest('plugins', 'must be an array');
  return [...ofTools, ...plugins.flatMap((plugin, index) => modelsOfPlugin(plugin, `plugins.${index}`))];
}

function modelsOfTool(
  tool: Tool,
  path: string,
  { type: provider, cap }: Pick<ToolModelRules, 'type' | 'cap'>,
): ToolModel[] {
  const { type } = tool;
  if (typeof type === 'string' && isClientTool(type)) return [];
  const named = namedIn(tool, path, 0);
  const standard = typeof type === 'string' ? defaultModelOf(provider, type) : undefined;
  const models = named.length > 0 || standard === undefined ? named : [{ path, model: standard }];
  const isLimited = typeof type === 'string' && hasOutputLimit(type);
  const maxTokens = wholeNumber(tool[TOOL_OUTPUT_LIMIT]) ?? (isLimited ? cap : undefined);
  const maxUses = Math.min(wholeNumber(tool.max_uses) ?? 1, MOST_USES);
  return models.map((model) => ({ ...model, maxTokens, maxUses }));
}

function modelsOfPlugin(plugin: unknown, path: string): ToolModel[] {
  if (!isJsonObject(plugin) || plugin.enabled === false) return [];
  const named = namedIn(plugin, path, 0);
  const models = named.length > 0 || !choosesModel(plugin.id) ? named : [{ path, model: ANY_MODEL }];
  return models.map((model) => ({ ...model, maxTokens: undefined, maxUses: 1 }));
}

function namedIn(holder: Entry, path: string, depth: number): Pick<ToolModel, 'path' | 'model'>[] {
  if (depth > MAX_DEPTH) throw invalidRequest(path, `has more than ${MAX_DEPTH} levels`);
  return Object.entries(holder).flatMap(([name, value]) => {
    const at = `${path}.${name}`;
    if (value === null || isFreeOfModels(name)) return [];
    if (namesModels(name)) return namesIn(value, at, depth);
    return nestedIn(value).flatMap((nested) => namedIn(nested, at, depth + 1));
  });
}

function namesIn(value: unknown, path: string, depth: number): Pick<ToolModel, 'path' | 'model'>[] {
  if (typeof value === 'string' && value !== '') return [{ path, model: value }];
  if (Array.isArray(value)) return value.flatMap((entry, index) => namesIn(entry, `${path}.${index}`, depth + 1));
  if (isJsonObject(value)) return namedIn(value, path, depth + 1);
  throw invalidRequest(path, 'must be the name of a model');
}

function nestedIn(value: unknown): readonly Entry[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : isJsonObject(value) ? [value] : [];
}

function wholeNumber(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isSafeInteger(value) && value > 0 ? value : undefined;
}

/**
 * Checks the models of tools like `model`: allowed, and priced unless the provider reports the cost. A pattern passes
 * only where every model is allowed and the provider reports the cost.
 *
 * @param bounds of the request.
 * @returns what they can cost in addition to the model of the request.
 * @throws model_not_allowed, pricing_not_configured, invalid_request the name is of something kept at the provider.
 */
function judgeToolModels(models: readonly ToolModel[], rules: ToolModelRules, bounds: UsageBounds): ToolModelBounds[] {
  return models.map(({ path, model, maxTokens, maxUses }) => {
    requireAllowed(path, model, rules.allowedModels);
    const price = rules.priceOf(model);
    if (price === undefined && !rules.reportsCost) throw unpriced(path, model, rules.providerSlug);
    const outputTokens = maxTokens ?? rules.outputLimitOf(model) ?? UNLIMITED_TOKENS;
    // Each use reads at most what the request has and what was generated so far.
    const inputTokens = bounds.inputTokens + bounds.outputTokens;
    return {
      price,
      bounds: { inputTokens: inputTokens * maxUses, outputTokens: outputTokens * maxUses, audioSeconds: 0 },
    };
  });
}

function requireAllowed(path: string, model: string, allowedModels: ReadonlySet<string>): void {
  if (model.length > MAX_MODEL_LENGTH) throw invalidRequest(path, `has more than ${MAX_MODEL_LENGTH} characters`);
  if (allowedModels.has(model)) return;
  if (isKeptModel(model)) {
    throw invalidRequest(path, 'is an object stored at the provider; the application must allow it', 'kept_object');
  }
  if (allowedModels.size === 0) return;
  const what = model.includes(ANY_MODEL) ? 'every model that' : `the model ${displayText(model)}, which`;
  throw new GatewayError('model_not_allowed', {
    message: `The application does not allow ${what} ${path} can run.`,
  });
}

function unpriced(path: string, model: string, providerSlug: string): GatewayError {
  return new GatewayError('pricing_not_configured', {
    message: `The model ${displayText(model)} of ${path} has no price. Add custom pricing for it on the provider "${providerSlug}".`,
  });
}

/** @param scan with `LIMITED_TOOLS`. */
function toolOutputEdits({ bytes, named }: ScannedBody, cap: number): JsonEdit[] {
  return named.flatMap((tool): JsonEdit[] => {
    const type = tool.members.get('type');
    if (!isNamed(bytes, type)) return [];
    const path = `tools.${tool.index}.${TOOL_OUTPUT_LIMIT}`;
    const name = memberValue(bytes, type, `tools.${tool.index}.type`);
    if (typeof name !== 'string' || !hasOutputLimit(name)) return [];
    const limit = tool.members.get(TOOL_OUTPUT_LIMIT);
    if (!isNamed(bytes, limit)) return [setMember(tool, TOOL_OUTPUT_LIMIT, String(cap))];
    const value = wholeNumber(memberValue(bytes, limit, path));
    if (value === undefined) throw invalidRequest(path, 'must be a whole number of at least 1');
    if (value <= cap) return [];
    throw new GatewayError('max_output_tokens_exceeded', {
      message: `${path}: ${value} is above the ${cap} output tokens allowed for one request.`,
    });
  });
}
