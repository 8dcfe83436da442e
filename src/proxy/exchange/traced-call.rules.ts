import type { ServerResponse } from 'node:http';
import type { SpanAttributes, TracedAnswer, TracedCall, TracedRequest } from '../../platform/traces/span.js';
import type { ApiStyle } from '../../upstreams/api-style.rules.js';
import type { ProviderType } from '../../upstreams/provider-types.js';
import type { UsageReading } from '../../upstreams/usage/usage-reading.js';
import type { ProviderCall } from './provider-call.js';

/** Well-known values of `gen_ai.operation.name`, and our own where there is none. */
const OPERATIONS: Readonly<Record<ApiStyle, string>> = {
  responses: 'chat',
  chat_completions: 'chat',
  anthropic_messages: 'chat',
  gemini_native: 'generate_content',
  audio_transcription: 'transcription',
  other: 'other',
};

/** Well-known values of `gen_ai.provider.name` that are not what we call the type. */
const PROVIDER_NAMES: Partial<Record<ProviderType, string>> = {
  gemini: 'gcp.gemini',
  mistral: 'mistral_ai',
  moonshot: 'moonshot_ai',
  xai: 'x_ai',
};

/** How a call to a provider ended, as far as its trace tells it. */
export interface CallEnd {
  /** Of the monotonic clock. */
  readonly startedMs: number;
  /** 0 when none came. */
  readonly status: number;
  readonly error: string | null;
  /** What the answer said of itself, if anything. */
  readonly reading: UsageReading | undefined;
}

/** What the trace of a request says of the request itself: which application's it is, and its event. */
export function tracedRequest({ request, admission }: ProviderCall): TracedRequest {
  const { traceparent } = request.headers;
  const { appId, endpointSlug, eventId, createdAtMs } = admission;
  return {
    traceparent: Array.isArray(traceparent) ? undefined : traceparent,
    method: request.method,
    route: endpointSlug === null ? '/v1/apps/{app}/proxy/{provider}/{path}' : '/v1/apps/{app}/endpoints/{slug}',
    receivedMs: createdAtMs,
    attributes: { 'gateway.app.id': appId, 'gateway.event.id': eventId, 'gateway.endpoint.slug': endpointSlug },
  };
}

/**
 * What it says of one call, by the semantic conventions for generative AI. Nothing of what was asked or answered, and no
 * credential.
 */
export function tracedCall(call: ProviderCall, { startedMs, status, error, reading }: CallEnd): TracedCall {
  const { appId, providerType, providerSlug, model } = call.admission;
  const { hostname, port, protocol } = new URL(call.pool.origin);
  return {
    operation: OPERATIONS[call.style],
    model,
    startedMs,
    status,
    error,
    attributes: {
      'gen_ai.provider.name': PROVIDER_NAMES[providerType] ?? providerType,
      'server.address': hostname.replace(/^\[|\]$/g, ''),
      'server.port': Number(port) || (protocol === 'https:' ? 443 : 80),
      'gateway.app.id': appId,
      'gateway.provider.slug': providerSlug,
      ...answerAttributes(reading),
    },
  };
}

/** How the request ended for its client. */
export function tracedAnswer(
  { headersSent, statusCode }: Pick<ServerResponse, 'headersSent' | 'statusCode'>,
  error: string | null,
  clientAborted: boolean,
): TracedAnswer {
  return { status: headersSent ? statusCode : 0, error, clientAborted };
}

function answerAttributes(reading: UsageReading | undefined): SpanAttributes {
  if (reading === undefined) return {};
  const { servedModel, responseId, usageSeen } = reading;
  const answer = { 'gen_ai.response.model': servedModel, 'gen_ai.response.id': responseId };
  if (!usageSeen) return answer;
  const { inputTokens, cachedInputTokens, cacheWriteTokens, outputTokens, reasoningTokens } = reading;
  return {
    ...answer,
    // The conventions count cached tokens among the input.
    'gen_ai.usage.input_tokens': inputTokens + cachedInputTokens + cacheWriteTokens,
    'gen_ai.usage.cache_read.input_tokens': cachedInputTokens || undefined,
    'gen_ai.usage.cache_creation.input_tokens': cacheWriteTokens || undefined,
    'gen_ai.usage.output_tokens': outputTokens,
    'gen_ai.usage.reasoning.output_tokens': reasoningTokens || undefined,
  };
}
