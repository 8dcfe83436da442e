import type { Schemas } from '../api/client';

export type Endpoint = Schemas['AppResponsesEndpoint'] | Schemas['AppTranscriptionEndpoint'];

const NAME = /^[a-z0-9-]{1,64}$/;

export const STYLES = [
  { value: 'responses', label: 'Text (Responses)' },
  { value: 'transcription', label: 'Transcription' },
] as const satisfies readonly { readonly value: Endpoint['api_style']; readonly label: string }[];

/** Why an endpoint cannot have a name now. */
export function problemOfName(name: string, taken: readonly string[]): string | undefined {
  if (name === '') return 'Name it first.';
  if (taken.includes(name)) return 'An endpoint with this name already exists.';
  return NAME.test(name) ? undefined : 'Use 1 to 64 lower-case letters, digits and dashes.';
}

/** An endpoint with another style: members of only the previous style are removed. */
export function withStyle({ provider, model, fallback, streams }: Endpoint, style: Endpoint['api_style']): Endpoint {
  const targets = {
    provider,
    model,
    ...(fallback === undefined ? {} : { fallback }),
    ...(streams === undefined ? {} : { streams }),
  };
  return style === 'responses' ? { ...targets, api_style: style } : { ...targets, api_style: style };
}
