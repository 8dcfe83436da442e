import type { ErrorCode } from '../../common/errors/error-catalogue.js';
import type { SentUsage } from '../../pricing/max-cost.rules.js';
import type { CompiledPrice } from '../../pricing/model-price.js';
import type { ProviderType } from '../../upstreams/provider-types.js';
import type { GatewayType } from '../../upstreams/routes/gateway-types.js';
import type { UsageReading } from '../../upstreams/usage/token-counts.js';

/** Statuses of requests that never reached a provider. */
export const REFUSED_STATUSES = [
  'blocked_app_rate',
  'blocked_app_budget',
  'blocked_billing',
  'blocked_user',
  'blocked_policy',
  'blocked_invalid',
] as const;

export type RefusedStatus = (typeof REFUSED_STATUSES)[number];

/**
 * How a recorded request ended.
 *
 * Source: docs/reference/accounting.md#statuses.
 */
export const USAGE_STATUSES = ['ok', 'provider_error', ...REFUSED_STATUSES] as const;

export type UsageStatus = (typeof USAGE_STATUSES)[number];

/** Origin of a cost. Source: docs/reference/accounting.md#cost-sources. */
export const COST_SOURCES = ['computed', 'reported', 'unresolved'] as const;

export type CostSource = (typeof COST_SOURCES)[number];

/** Owner of the provider key that paid, where it is known. Source: docs/reference/accounting.md#usage-event. */
export const CREDENTIAL_SOURCES = ['direct', 'byok', 'gateway_system', 'unknown'] as const;

export type CredentialSource = (typeof CREDENTIAL_SOURCES)[number];

/** How the client authenticated. */
export const AUTH_METHODS = ['attest', 'api_key', 'key_attestation', 'play_integrity', 'unproven'] as const;

export type AuthMethod = (typeof AUTH_METHODS)[number];

/** Everything known about a request before its provider is called. */
export interface UsageAdmission {
  /** From `UsageRecorder.newEventId`; makes recording idempotent. */
  readonly eventId: string;
  readonly organizationId: string;
  readonly appId: string;
  readonly userId: string | null;
  /** The application key used, also when the client presented a token exchanged for it. */
  readonly apiKeyId: string | null;
  readonly providerType: ProviderType;
  readonly providerId: string;
  readonly providerSlug: string;
  /** The upstream gateway of the call; null when the call goes directly to the provider. */
  readonly providerGatewayId: string | null;
  readonly providerGatewayType: GatewayType | null;
  /** Whether the provider's response on this route can contain a cost. */
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
  /** Values by the names of the application's groups; null where it has none. */
  readonly groups: Readonly<Record<string, string>> | null;
  /** Milliseconds since the Unix epoch, UTC. */
  readonly createdAtMs: number;
  /** Maximum cost of the request, in whole nano-dollars; no estimate exceeds it. */
  readonly maxCostNanoUsd: number;
  /** Estimated size of what the request sends. */
  readonly sent: SentUsage;
  /** Cost of `sent` in whole nano-dollars; the charge when no response arrives. */
  readonly sentNanoUsd: number;
  /** Maximum output tokens of the response, all choices together. */
  readonly maxOutputTokens: number;
}

/** The provider type, model and route of a request that was refused before they were known. */
export const NOT_KNOWN = '(none)';

/** A refused request: what is known about it, which may be less than of an admitted one. */
export interface RefusedCall
  extends Omit<
    UsageAdmission,
    | 'providerType'
    | 'providerId'
    | 'providerSlug'
    | 'reportsCost'
    | 'maxCostNanoUsd'
    | 'sent'
    | 'sentNanoUsd'
    | 'maxOutputTokens'
  > {
  readonly providerType: ProviderType | typeof NOT_KNOWN;
  readonly providerId: string | null;
  readonly providerSlug: string | null;
}

/** Why a request was refused, as its event states. */
export interface Refusal {
  readonly status: RefusedStatus;
  /** The code that the client got. */
  readonly code: ErrorCode;
  /** The granular reason of the log. */
  readonly reason: string | null;
  /** The message to the client. */
  readonly message: string;
  /** The name of the group whose limit refused. */
  readonly group?: string | undefined;
  /** When the limit is free again, milliseconds since the Unix epoch; null where only a change helps. */
  readonly untilMs: number | null;
}

/** One attempted target of a request. Source: docs/reference/accounting.md#usage-event. */
export interface UsageAttempt {
  readonly providerSlug: string;
  readonly model: string;
  /** The provider's HTTP status; null without a response. */
  readonly status: number | null;
  readonly latencyMs: number;
  readonly error: string | null;
}

/**
 * How far the call got:
 * - `unsent`: the request was not sent.
 * - `unanswered`: the request was sent and no response began.
 * - `refused`: an error response arrived.
 * - `cut`: a success response ended early.
 * - `whole`: a success response was complete.
 */
export type CallEnding = 'unsent' | 'unanswered' | 'refused' | 'cut' | 'whole';

/** Why a response is missing or incomplete, other than a client abort. */
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
  /** Absent when the response was complete or the client aborted. */
  readonly loss?: AnswerLoss | undefined;
  /** Output tokens estimated from the response bytes, for a response without token counts. */
  readonly seenOutputTokens?: number | undefined;
  /** Time to the first response byte, in milliseconds. */
  readonly latencyMs: number | null;
  /** Time to the last response byte, in milliseconds; null unless the response was complete. */
  readonly durationMs: number | null;
  readonly clientAborted: boolean;
  /** Usage parsed from the response. */
  readonly reading?: UsageReading | undefined;
  /** Absent when only the provider's response contains the cost. */
  readonly price?: CompiledPrice | undefined;
  /** Content type of the response. */
  readonly contentType: string | null;
  /** Every attempted target in order; absent when there was only one. */
  readonly attempts?: readonly UsageAttempt[] | undefined;
  /** Estimated charge of earlier targets that did not serve the request, in whole nano-dollars. */
  readonly unansweredNanoUsd?: number | undefined;
  /** Hosted tools of the request: the provider runs them and may charge for them in addition to tokens. */
  readonly hostedTools?: readonly string[] | undefined;
  /** Prices of further models that these tools can run. */
  readonly toolPrices?: readonly CompiledPrice[] | undefined;
}
