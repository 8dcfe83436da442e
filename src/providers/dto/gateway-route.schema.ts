import type { ApiPropertyOptions } from '@nestjs/swagger';

/**
 * Gateway options in requests and responses; `parseGatewayRoute` validates them.
 *
 * Source: docs/reference/management-api.md#provider-gateways.
 */
export const GATEWAY_ROUTE = {
  type: 'object',
  properties: {
    modelPrefix: {
      type: 'string',
      minLength: 1,
      maxLength: 100,
      pattern: '/$',
      description: 'Stands before model names instead of the namespace of the type. Ends with a slash.',
    },
    providerOnly: {
      type: 'array',
      items: { type: 'string', minLength: 1, maxLength: 100 },
      minItems: 1,
      maxItems: 20,
      description: 'The only providers that may serve behind the gateway.',
    },
  },
  additionalProperties: false,
} satisfies ApiPropertyOptions;
