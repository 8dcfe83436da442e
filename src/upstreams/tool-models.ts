import type { ProviderType } from './provider-types.js';

/**
 * Places in tools and plugins where a provider takes the name of a further model.
 * Source: docs/reference/application-api.md#models-of-tools.
 */

/** Stands for every model of the provider, like any pattern with a `*`. */
export const ANY_MODEL = '*';

/** A member of a tool, or of its parameters, that names models: `model`, `models`, `analysis_models`, `judgeModel`. */
const MODEL_MEMBER = /(?:^|_)models?(?:_(?:names?|ids?))?$|(?:^m|M)odels?$|(?:^m|M)odel(?:Names?|Ids?)$/;

/** Members with the application's data, which name no model of the provider. */
const FREE: ReadonlySet<string> = new Set(['headers', 'filters', 'metadata', 'parameters_schema', 'input_schema']);

/** Whether a member of a tool names models. */
export function namesModels(member: string): boolean {
  return MODEL_MEMBER.test(member);
}

/** Whether a member holds data of the application alone. */
export function isFreeOfModels(member: string): boolean {
  return FREE.has(member);
}

/** The model of OpenAI's `image_generation` where none is named. */
const PICTURES = { type: 'openai', tool: 'image_generation', model: 'gpt-image-2' };

/** Tools of OpenRouter that run no model. */
const WITHOUT_MODEL: ReadonlySet<string> = new Set([
  ...['openrouter:web_search', 'openrouter:web_fetch', 'openrouter:datetime', 'openrouter:mcp', 'openrouter:bash'],
  ...['openrouter:apply_patch', 'openrouter:shell', 'openrouter:files', 'openrouter:search_models'],
]);
const OF_OPENROUTER = 'openrouter:';

/** Plugins of OpenRouter that run no model. */
const PLUGINS_WITHOUT_MODEL: ReadonlySet<unknown> = new Set([
  ...['web', 'response-healing', 'context-compression', 'moderation'],
]);

/** The model that a tool without a name runs: a name, `any` where the provider chooses it, or none. */
export function defaultModelOf(type: ProviderType, tool: string): string | undefined {
  if (type === PICTURES.type && tool === PICTURES.tool) return PICTURES.model;
  return tool.startsWith(OF_OPENROUTER) && !WITHOUT_MODEL.has(tool) ? ANY_MODEL : undefined;
}

/** Whether a plugin runs a model of the provider's choice where it names none. */
export function choosesModel(plugin: unknown): boolean {
  return !PLUGINS_WITHOUT_MODEL.has(plugin);
}

/** Tools whose model has its own output limit. */
const WITH_OUTPUT_LIMIT = /^advisor(?:_|$)/;
/** The member with that limit. */
export const TOOL_OUTPUT_LIMIT = 'max_tokens';

/** Whether a tool takes an output limit for its model. */
export function hasOutputLimit(tool: string): boolean {
  return WITH_OUTPUT_LIMIT.test(tool);
}
