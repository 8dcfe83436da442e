import type { ProviderTypeDefinition } from '../../src/upstreams/defined-types/provider-type-definition.js';

/** The company's own models. @param baseUrl of the server in the company's network. */
export function acmeType(baseUrl: string): ProviderTypeDefinition {
  return {
    name: 'acme',
    label: 'Acme models',
    baseUrl,
    credentialHeader: 'x-acme-key',
    extraHeaders: [['x-acme-tenant', 'gateway']],
    apiStyles: ['chat_completions', 'responses'],
    endpointPaths: [['responses', 'v1/responses']],
    probePath: 'v1/models',
    author: 'Acme',
  };
}
