/** The provider types of the gateway itself. Source: docs/reference/application-api.md#provider-types. */
const BUILT_IN_TYPES = [
  'openai',
  'anthropic',
  'xai',
  'gemini',
  'perplexity',
  'deepseek',
  'groq',
  'mistral',
  'together',
  'fireworks',
  'cerebras',
  'moonshot',
  'huggingface',
  'baseten',
  'bytedance',
  'openrouter',
] as const;

/** A type that the gateway itself knows. */
export type BuiltInType = (typeof BUILT_IN_TYPES)[number];

declare const DEFINED: unique symbol;

/** A type that an extension defined; only `addProviderType` makes one. */
export type DefinedType = string & { readonly [DEFINED]: true };

/** The kind of service behind a provider instance: decides address, credential, paths and prices. */
export type ProviderType = BuiltInType | DefinedType;

const types: ProviderType[] = [...BUILT_IN_TYPES];

/**
 * Every provider type of this program, in the order in which lists show them: ours, then those of extensions. Whoever
 * holds this list, as the forms of requests do, sees what is added to it before the service starts.
 */
export const PROVIDER_TYPES: readonly ProviderType[] = types;

/** True for the exact, lower-case names of {@link PROVIDER_TYPES} and nothing else. */
export function isProviderType(value: unknown): value is ProviderType {
  return types.some((type) => type === value);
}

/** Adds the name of a type, which must be new. Only for who defines all of it: see `defineProviderTypes`. */
export function addProviderType(name: string): DefinedType {
  const type = name as DefinedType;
  types.push(type);
  return type;
}
