import { applyDecorators } from '@nestjs/common';
import { ApiHeader, ApiParam, ApiResponse, ApiSecurity } from '@nestjs/swagger';
import { headerReference } from '../common/http/answer-headers.js';
import { Fails } from '../common/http/openapi.decorators.js';
import { DIALECT_FACTS } from '../upstreams/dialect-table.js';
import { PASSED_HEADERS } from './request-headers.rules.js';

/** Headers of every answer, of the gateway and of providers. */
const RELAYED_HEADERS = {
  'Server-Timing': headerReference('ServerTiming'),
  'Retry-After': headerReference('RelayedRetryAfter'),
  Location: headerReference('RelayedLocation'),
  'X-Request-Id': headerReference('RelayedRequestId'),
  'X-Gateway-Stream': headerReference('Stream'),
};
const PASSED = 'Sent to the provider unchanged.';
const ABOUT_HEADERS: Readonly<Record<string, string>> = {
  'idempotency-key':
    'With `streams`: 1 to 255 printable ASCII characters; the same key, caller and request is the same call, and gets the same answer. Otherwise sent to the provider unchanged.',
};
const TRACE_HEADER = { name: 'traceparent', description: 'The parent trace of the call.' };
/** Headers that generated clients set themselves, or that OpenAPI describes elsewhere. */
const UNNAMED_HEADERS: ReadonlySet<string> = new Set(['accept', 'content-type', 'user-agent']);

/** Documents an application route whose answer comes from a provider, and the refusals that such routes share. */
export function RelayedCall(): MethodDecorator {
  return applyDecorators(
    ...passedHeaders(),
    ApiParam({ name: 'app', description: 'Id of the application.', schema: { type: 'string' } }),
    ApiResponse({
      status: 'default',
      description:
        'The provider’s answer, with its status and its headers, without cookies, ids of the operator’s account and private addresses.',
      headers: RELAYED_HEADERS,
      content: { '*/*': { schema: {} } },
    }),
    Fails(
      'invalid_request',
      'pricing_not_configured',
      'auth_required@403',
      'max_output_tokens_exceeded',
      'idempotency_stream_ended',
      'idempotency_mismatch',
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

/** Documents the request headers that reach the provider or the trace. */
function passedHeaders(): MethodDecorator[] {
  const passed = [...PASSED_HEADERS].filter((name) => !UNNAMED_HEADERS.has(name));
  const names = [...passed.map((name) => ({ name, description: ABOUT_HEADERS[name] ?? PASSED })), TRACE_HEADER];
  return names.map((header) => ApiHeader({ ...header, required: false }));
}

/** Credential headers of provider SDKs, each with the name of its security scheme. */
export const NATIVE_CREDENTIALS: readonly {
  readonly scheme: string;
  readonly header: string;
  readonly label: string;
}[] = Object.values(DIALECT_FACTS).flatMap(({ label, credentialHeader: header = 'authorization' }) =>
  header === 'authorization' ? [] : [{ scheme: `${label}Header`, header, label }],
);

/** Documents that a provider route accepts the caller's credential in the header of the provider's own SDK. */
export function NativeCredentials(): MethodDecorator {
  return applyDecorators(...NATIVE_CREDENTIALS.map(({ scheme }) => ApiSecurity(scheme)));
}
