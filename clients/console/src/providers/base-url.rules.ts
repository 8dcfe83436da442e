import type { ProviderType } from './provider-types';

/** The start of the paths of most types. */
const VERSION = 'v1';
/** Types whose paths begin otherwise. Source: docs/reference/application-api.md#provider-types. */
const PATHS: Partial<Readonly<Record<string, string>>> = {
  ...{ gemini: 'v1beta', groq: 'openai/v1', fireworks: 'inference/v1', deepseek: '', bytedance: '' },
} satisfies Partial<Record<ProviderType, string>>;

const TRAILING_SLASHES = /\/+$/;

/** What a base URL must leave out, because each path of the type begins with it; empty: nothing. */
function pathBegin(type: string): string {
  return PATHS[type] ?? VERSION;
}

/** What to type as the base URL of a provider of a type. */
export function baseUrlHint(type: string): string {
  const begin = pathBegin(type);
  return begin === ''
    ? 'Of your own mirror or proxy. Empty: the provider’s.'
    : `Of your own mirror or proxy, without /${begin}: the gateway adds it. Empty: the provider’s.`;
}

/**
 * The mistake of a base URL that ends with what the gateway adds: it would call `/v1/v1/models`.
 *
 * @returns what is wrong and what to type instead; undefined for a valid URL.
 */
export function baseUrlProblem(type: string, typed: string): string | undefined {
  const begin = pathBegin(type);
  const address = typed.trim().replace(TRAILING_SLASHES, '');
  if (begin === '' || !address.endsWith(`/${begin}`)) return undefined;
  return `must not end with /${begin}, which the gateway adds: type ${address.slice(0, -begin.length - 1)}`;
}
