import type { Schemas } from '../api/client';

export type ProviderType = Schemas['CreateProviderRequest']['type'];

const LABELS: Readonly<Record<ProviderType, string>> = {
  openai: 'OpenAI',
  anthropic: 'Anthropic',
  gemini: 'Google Gemini',
  xai: 'xAI',
  mistral: 'Mistral',
  deepseek: 'DeepSeek',
  groq: 'Groq',
  perplexity: 'Perplexity',
  together: 'Together',
  fireworks: 'Fireworks',
  cerebras: 'Cerebras',
  moonshot: 'Moonshot',
  huggingface: 'Hugging Face',
  baseten: 'Baseten',
  bytedance: 'ByteDance',
  openrouter: 'OpenRouter',
};

/** The provider types, as options of a form. */
export const PROVIDER_OPTIONS = (Object.keys(LABELS) as ProviderType[]).map((value) => ({
  value,
  label: LABELS[value],
}));

/** The display name of a provider type. */
export function labelOfType(type: ProviderType): string {
  return LABELS[type];
}
