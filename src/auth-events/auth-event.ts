import type { Instant } from '../common/clock.js';
import type { AuthMethod } from '../usage/usage-event.js';

/** What was attempted. */
export const AUTH_EVENT_KINDS = ['register', 'token_exchange'] as const;

export type AuthEventKind = (typeof AUTH_EVENT_KINDS)[number];

/** The outcome of an attempt that succeeded; any other outcome is an error code. */
export const SUCCESS = 'ok';

/** One attempt as it ended. Source: docs/reference/application-api.md#authentication-events. */
export interface AuthEventDraft {
  readonly organizationId: string;
  readonly appId: string;
  /** Only a proven identity. */
  readonly userId: string | null;
  readonly event: AuthEventKind;
  /** Null: refused before the way of the proof was known. */
  readonly authMethod: AuthMethod | null;
  /** `ok` or the error code the client got. */
  readonly outcome: string;
  /** Granular, snake_case; clients never see it. */
  readonly reason: string | null;
  /** `X-App-Version` as sent. */
  readonly appVersion: string | null;
  readonly latencyMs: number;
  /** How long a required claim took to arrive, with the success that ended the wait. */
  readonly claimDelayMs: number | null;
  readonly createdAt: Instant;
}

/** What a page of events is filtered by; absent members do not filter. */
export interface AuthEventFilter {
  /** Most events to return, 1 or more. */
  readonly limit: number;
  readonly outcome?: string | undefined;
  readonly event?: AuthEventKind | undefined;
  readonly user?: string | undefined;
  /** Only events with a smaller row id. */
  readonly beforeId?: number | undefined;
}

/** A stored event; `bigint` columns arrive as texts. */
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
  readonly created_at: Instant;
}

/** How many attempts of one UTC day, `YYYY-MM-DD`, ended alike. */
export interface AuthEventDayRow {
  readonly date: string;
  readonly event: AuthEventKind;
  readonly outcome: string;
  readonly reason: string | null;
  readonly count: string;
}

/** How long required claims took to arrive, in milliseconds; null where none was waited for. */
export interface ClaimDelayRow {
  readonly count: string;
  readonly avg_ms: string | null;
  readonly p50_ms: string | null;
  readonly p95_ms: string | null;
}
