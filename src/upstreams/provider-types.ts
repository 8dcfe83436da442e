/**
 * The form of a provider slug, and of a provider type, which is the default slug of an instance.
 *
 * Source: docs/reference/management-api.md#provider-object.
 */
export const PROVIDER_SLUG = /^[a-z0-9][a-z0-9-]{0,62}$/;

/** Longest name of a model, in characters. */
export const MAX_MODEL_LENGTH = 200;

/** The built-in provider types. Source: docs/reference/application-api.md#provider-types. */
export const BUILT_IN_TYPES = [
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

export type BuiltInType = (typeof BUILT_IN_TYPES)[number];

declare const DEFINED: unique symbol;

/** A type that an extension defined; only `addProviderType` creates one. */
export type DefinedType = string & { readonly [DEFINED]: true };

/** Kind of provider behind an instance; determines address, credential, paths and prices. */
export type ProviderType = BuiltInType | DefinedType;

const types: ProviderType[] = [...BUILT_IN_TYPES];

/**
 * All provider types in display order: built-in types, then those of extensions. Live: DTOs and other holders of this
 * list see types that are registered before the application starts.
 */
export const PROVIDER_TYPES: readonly ProviderType[] = types;

/** True only for the exact, lower-case names in {@link PROVIDER_TYPES}. */
export function isProviderType(value: unknown): value is ProviderType {
  return types.some((type) => type === value);
}

/** Adds the name of a new type. For `defineProviderTypes` only, which registers all parts of a type. */
export function addProviderType(name: string): DefinedType {
  const type = name as DefinedType;
  types.push(type);
  return type;
}

/** Removes the name of a type that {@link addProviderType} added. */
export function removeProviderType(type: DefinedType): void {
  types.splice(types.indexOf(type), 1);
}
