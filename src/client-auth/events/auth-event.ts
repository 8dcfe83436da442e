import type { ProofName } from '../../app-directory/config/device-proofs-config.js';
import type { Instant } from '../../common/clock.js';
import type { AuthMethod } from '../../usage/recording/usage-event.js';

/** The kind of an attempt. */
export const AUTH_EVENT_KINDS = ['register', 'token_exchange'] as const;

export type AuthEventKind = (typeof AUTH_EVENT_KINDS)[number];

/** The outcome of a successful attempt; any other outcome is an error code. */
export const SUCCESS = 'ok';

/** The outcome of an attempt whose proof failed but whose mode still issued a token. */
export const WOULD_REJECT = 'would_reject';

/** A finished attempt. Source: docs/reference/application-api.md#authentication-events. */
export interface AuthEventDraft {
  readonly organizationId: string;
  readonly appId: string;
  /** Only a verified identity. */
  readonly userId: string | null;
  readonly event: AuthEventKind;
  /** Null: refused before the authentication method was known. */
  readonly authMethod: AuthMethod | null;
  /** `ok`, `would_reject`, or the error code of the response. */
  readonly outcome: string;
  /** Granular, snake_case; not part of the response. */
  readonly reason: string | null;
  /** `X-App-Version` as sent. */
  readonly appVersion: string | null;
  readonly latencyMs: number;
  /** The delay of a required claim, set on the success that ended the wait. */
  readonly claimDelayMs: number | null;
  /** The proof that the device offered; null: none, or not known. */
  readonly proof: ProofName | null;
  /** What rules read of it, and nothing that identifies a device. */
  readonly facts: object | null;
  readonly createdAt: Instant;
}

/** Filter for a page of events; absent members do not filter. */
export interface AuthEventFilter {
  /** Maximum number of events, 1 or more. */
  readonly limit: number;
  readonly outcome?: string | undefined;
  readonly event?: AuthEventKind | undefined;
  readonly user?: string | undefined;
  /** Only events with a smaller row id. */
  readonly beforeId?: number | undefined;
}

/** A stored event; `bigint` columns are texts. */
export interface AuthEventRow {
  readonly id: string;
  readonly user_id: string | null;
  readonly event: AuthEventKind;
  readonly auth_method: AuthMethod | null;
  readonly outcome: string;
  readonly reason: string | null;
  readonly app_version: string | null;
  readonly latency_ms: number | null;
  readonly claim_delay_ms: string | null;
  readonly proof: ProofName | null;
  readonly facts: Readonly<Record<string, unknown>> | null;
  readonly created_at: Instant;
}

/** Admitted attempts of one UTC day with the same proof and result. */
export interface AdmittedAttemptsRow {
  readonly day: string;
  readonly auth_method: AuthMethod;
  readonly proof: ProofName | null;
  readonly outcome: string;
  readonly reason: string | null;
  readonly app_version: string | null;
  readonly facts: unknown;
  /** The same for all attempts with the same proof and result, on whatever day. */
  readonly mark: string;
  readonly count: string;
}

/** The number of attempts of one kind with one proof, by what became of them. */
export interface ProofCountRow {
  readonly proof: ProofName;
  readonly event: AuthEventKind;
  readonly ok: string;
  readonly would_reject: string;
  readonly refused: string;
}

/** The number of attempts of one UTC day, `YYYY-MM-DD`, with the same result. */
export interface AuthEventDayRow {
  readonly date: string;
  readonly event: AuthEventKind;
  readonly outcome: string;
  readonly reason: string | null;
  readonly count: string;
}

/** The delays of required claims in milliseconds; null without values. */
export interface ClaimDelayRow {
  readonly count: string;
  readonly avg_ms: string | null;
  readonly p50_ms: string | null;
  readonly p95_ms: string | null;
}
