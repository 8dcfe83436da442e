import type { SentUsage } from '../pricing/estimated-cost.rules.js';
import type { CompiledPrice } from '../pricing/model-price.js';
import type { ProviderType } from '../upstreams/provider-types.js';
import type { GatewayType } from '../upstreams/routes/gateway-types.js';
import type { UsageReading } from '../upstreams/usage/usage-reading.js';

/**
 * How a recorded request ended. The `blocked_*` ones never reached a provider.
 *
 * Source: docs/reference/accounting.md#statuses.
 */
export const USAGE_STATUSES = [
  'ok',
  'provider_error',
  'blocked_app_rate',
  'blocked_app_budget',
  'blocked_billing',
  'blocked_user',
] as const;

export type UsageStatus = (typeof USAGE_STATUSES)[number];

/** How a request ended that never reached a provider. */
export type RefusedStatus = Exclude<UsageStatus, 'ok' | 'provider_error'>;

/** Where a cost comes from. Source: docs/reference/accounting.md#cost-sources. */
export const COST_SOURCES = ['computed', 'reported', 'unresolved'] as const;

export type CostSource = (typeof COST_SOURCES)[number];

/** Whose key paid the provider, where it is known. Source: docs/reference/accounting.md#usage-event. */
export const CREDENTIAL_SOURCES = ['direct', 'byok', 'gateway_system', 'unknown'] as const;

export type CredentialSource = (typeof CREDENTIAL_SOURCES)[number];

/** How a caller proved who it is. */
export const AUTH_METHODS = ['attest', 'api_key'] as const;

export type AuthMethod = (typeof AUTH_METHODS)[number];

/** Everything that is known of a request before its provider is called. */
export interface UsageAdmission {
  /** From `UsageRecorder.newEventId`; what makes recording twice harmless. */
  readonly eventId: string;
  readonly organizationId: string;
  readonly appId: string;
  readonly userId: string | null;
  /** The application key used, also through a token that was exchanged for it. */
  readonly apiKeyId: string | null;
  readonly providerType: ProviderType;
  readonly providerId: string;
  readonly providerSlug: string;
  /** The upstream gateway the call goes through; null when it is direct. */
  readonly providerGatewayId: string | null;
  readonly providerGatewayType: GatewayType | null;
  /** Whether the provider's answer may carry its own cost, on this way. */
  readonly reportsCost: boolean;
  readonly credentialSource: CredentialSource | null;
  readonly modelAuthor: string | null;
  /** The canonical model: after rewrites, without a route's prefix. */
  readonly model: string;
  /** `<slug>/<provider path>`. */
  readonly route: string;
  readonly endpointSlug: string | null;
  readonly appVersion: string | null;
  readonly authMethod: AuthMethod | null;
  /** Milliseconds since the Unix epoch, UTC. */
  readonly createdAtMs: number;
  /** What the request may cost at most, in whole nano-dollars; no estimate of it is higher. */
  readonly worstNanoUsd: number;
  /** What is taken to be sent with it. */
  readonly sent: SentUsage;
  /** That at its price, in whole nano-dollars: what it counts when no answer is heard. */
  readonly sentNanoUsd: number;
  /** Most tokens the answer may have, all choices together. */
  readonly mostOutputTokens: number;
}

/** One target that was tried for a request. Source: docs/reference/accounting.md#usage-event. */
export interface UsageAttempt {
  readonly providerSlug: string;
  readonly model: string;
  /** The provider's HTTP status; null when none came. */
  readonly status: number | null;
  readonly latencyMs: number;
  readonly error: string | null;
}

/**
 * What came of a call: it never went out; it went out and no answer began; an answer that is no success was heard; a
 * success broke off; a success came to its end.
 */
export type CallEnding = 'unsent' | 'unheard' | 'refused' | 'cut' | 'whole';

/** Why an answer was not heard, or not to its end, other than that its client had left. */
export type AnswerLoss =
  | 'provider_timeout'
  | 'provider_silent'
  | 'provider_reset'
  | 'answer_unreadable'
  | 'gateway_interrupted';

/** How a request that was admitted ended. */
export interface UsageOutcome {
  readonly status: 'ok' | 'provider_error';
  readonly ending: CallEnding;
  /** Absent where the answer was heard to its end, or its client had left. */
  readonly loss?: AnswerLoss | undefined;
  /** Generated tokens by the bytes of the answer, for one that does not count them itself. */
  readonly seenOutputTokens?: number | undefined;
  /** Until the first byte of the answer, in milliseconds. */
  readonly latencyMs: number | null;
  readonly clientAborted: boolean;
  /** What the answer said of itself, if anything. */
  readonly reading?: UsageReading | undefined;
  /** Absent where only the provider can tell the cost. */
  readonly price?: CompiledPrice | undefined;
  /** Of the answer. */
  readonly contentType: string | null;
  /** Every target that was tried, in their order; absent when there was one. */
  readonly attempts?: readonly UsageAttempt[] | undefined;
  /** What targets may charge for that were called before and did not serve the request, in whole nano-dollars. */
  readonly unheardNanoUsd?: number | undefined;
  /** Tools of the request that the provider runs and may charge for beside the tokens. */
  readonly hostedTools?: readonly string[] | undefined;
}
