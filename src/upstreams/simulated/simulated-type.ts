import type { ProviderTypeDefinition } from '../defined-types/provider-type-definition.js';

/** A name that nobody else can have (RFC 2606). It is never resolved: the gateway itself answers. */
export const SIMULATED_HOST = 'simulated.example.com';

/** The provider whose answers the gateway generates, in its own process. */
export const SIMULATED_TYPE: ProviderTypeDefinition = {
  name: 'simulated',
  label: 'Simulated provider',
  baseUrl: `https://${SIMULATED_HOST}/`,
  apiStyles: ['chat_completions', 'responses'],
  endpointPaths: [['responses', 'v1/responses']],
  author: 'simulated',
};
