/**
 * Every provider type, in the order in which lists show them.
 * Source: contract-app 6.12.
 */
export const PROVIDER_TYPES = [
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

/** The kind of service behind a provider instance: decides address, credential, paths and prices. */
export type ProviderType = (typeof PROVIDER_TYPES)[number];

const KNOWN: ReadonlySet<unknown> = new Set(PROVIDER_TYPES);

/** True for the exact, lower-case names of {@link PROVIDER_TYPES} and nothing else. */
export function isProviderType(value: unknown): value is ProviderType {
  return KNOWN.has(value);
}
