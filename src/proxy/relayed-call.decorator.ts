import { applyDecorators } from '@nestjs/common';
import { ApiParam, ApiResponse } from '@nestjs/swagger';
import { Fails } from '../common/http/openapi.decorators.js';

const SERVER_TIMING_HEADER = {
  'Server-Timing': {
    description: 'Milliseconds spent on `auth`, `limiter` and until the provider’s first byte (`provider_ttfb`).',
    schema: { type: 'string' as const },
  },
};

/** Describes a route of an application whose answer is a provider's, and the refusals all such routes share. */
export function RelayedCall(): MethodDecorator {
  return applyDecorators(
    ApiParam({ name: 'app', description: 'Id of the application.', schema: { type: 'string' } }),
    ApiResponse({
      status: 'default',
      description: 'The provider’s answer, with its status.',
      headers: SERVER_TIMING_HEADER,
      content: { '*/*': { schema: {} } },
    }),
    Fails(
      'invalid_request',
      'pricing_not_configured',
      'auth_required@403',
      'max_output_tokens_exceeded',
      'payload_too_large',
      'billing_payment_required',
      'app_rate_limited',
      'app_budget_exhausted',
      'billing_request_quota_exceeded',
      'provider_not_configured',
      'provider_disabled',
      'provider_unavailable',
      'provider_error',
      'provider_error@504',
      'billing_unavailable',
      'service_unavailable',
    ),
  );
}
