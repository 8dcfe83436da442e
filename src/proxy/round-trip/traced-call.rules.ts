import type { ServerResponse } from 'node:http';
import { bareHost, dialledPort } from '../../platform/outbound/url-host.rules.js';
import type { SpanAttributes, TracedAnswer, TracedCall, TracedRequest } from '../../platform/traces/span.js';
import type { ApiStyle } from '../../upstreams/api-style.rules.js';
import type { ProviderType } from '../../upstreams/provider-types.js';
import type { UsageReading } from '../../upstreams/usage/token-counts.js';
import type { ProviderCall } from './provider-call.js';

/** Well-known values of `gen_ai.operation.name`, or a custom value where none fits. */
const OPERATIONS: Readonly<Record<ApiStyle, string>> = {
  responses: 'chat',
  chat_completions: 'chat',
  anthropic_messages: 'chat',
  gemini_native: 'generate_content',
  gemini_interactions: 'generate_content',
  audio_transcription: 'transcription',
  other: 'other',
};

/** Well-known values of `gen_ai.provider.name` that differ from the provider type. */
const PROVIDER_NAMES: Partial<Record<ProviderType, string>> = {
  gemini: 'gcp.gemini',
  mistral: 'mistral_ai',
  moonshot: 'moonshot_ai',
  xai: 'x_ai',
};

/** Outcome of a provider call for its trace. */
export interface CallEnd {
  /** Monotonic clock. */
  readonly startedMs: number;
  /** 0 when there was none. */
  readonly status: number;
  readonly error: string | null;
  /** The usage reading of the answer, if any. */
  readonly reading: UsageReading | undefined;
}

/** Trace facts of a request: its application and its event. */
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
 * Trace facts of one call, by the semantic conventions for generative AI. Contains no prompt, no answer and no
 * credential.
 */
export function tracedCall(call: ProviderCall, { startedMs, status, error, reading }: CallEnd): TracedCall {
  const { appId, providerType, providerSlug, model } = call.admission;
  const origin = new URL(call.pool.origin);
  return {
    operation: OPERATIONS[call.style],
    model,
    startedMs,
    status,
    error,
    attributes: {
      'gen_ai.provider.name': PROVIDER_NAMES[providerType] ?? providerType,
      'server.address': bareHost(origin.hostname),
      'server.port': dialledPort(origin),
      'gateway.app.id': appId,
      'gateway.provider.slug': providerSlug,
      ...answerAttributes(reading),
    },
  };
}

/** Outcome of the request for the client. */
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
    // The conventions include cached tokens in the input count.
    'gen_ai.usage.input_tokens': inputTokens + cachedInputTokens + cacheWriteTokens,
    'gen_ai.usage.cache_read.input_tokens': cachedInputTokens || undefined,
    'gen_ai.usage.cache_creation.input_tokens': cacheWriteTokens || undefined,
    'gen_ai.usage.output_tokens': outputTokens,
    'gen_ai.usage.reasoning.output_tokens': reasoningTokens || undefined,
  };
}
