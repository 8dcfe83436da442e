import type { Clock } from '../../common/clock.js';
import type { AuthMethod, CostSource, CredentialSource, UsageStatus } from './usage-event.js';

/** Filter of a page of events; absent members do not filter. */
export interface UsageEventFilter {
  /** Page size, 1 or more. */
  readonly limit: number;
  /** Any of these. */
  readonly statuses?: readonly string[] | undefined;
  /** A provider type. */
  readonly provider?: string | undefined;
  readonly user?: string | undefined;
  readonly model?: string | undefined;
  /** Cursor: only events with a smaller row id. */
  readonly beforeId?: number | undefined;
}

/** One attempted target of a request, as stored in its event. */
export interface UsageAttemptRow {
  readonly provider_slug: string;
  readonly model: string;
  readonly status: number | null;
  readonly latency_ms: number;
  readonly error: string | null;
}

/** Why a request was refused, as stored in its event. */
export interface RefusalRow {
  readonly code: string;
  readonly reason?: string;
  readonly message: string;
  readonly until_ms?: number;
}

/** A stored event; `bigint` columns are texts. */
export interface UsageEventRow {
  readonly id: string;
  readonly app_id: string;
  readonly user_id: string | null;
  readonly api_key_id: string | null;
  readonly provider_type: string;
  readonly provider_slug: string | null;
  readonly provider_gateway_id: string | null;
  readonly provider_gateway_type: string | null;
  readonly credential_source: CredentialSource | null;
  readonly model_author: string | null;
  readonly served_provider: string | null;
  readonly served_model: string | null;
  readonly model: string;
  readonly route: string;
  readonly endpoint_slug: string | null;
  readonly input_tokens: string;
  readonly cached_input_tokens: string;
  readonly cache_write_tokens: string;
  readonly output_tokens: string;
  readonly cost_nano_usd: string;
  /** Null: equal to the cost. */
  readonly charged_nano_usd: string | null;
  readonly reported_cost_nano_usd: string | null;
  readonly cost_source: CostSource | null;
  readonly app_version: string | null;
  readonly auth_method: AuthMethod | null;
  readonly status: UsageStatus;
  readonly requests: number;
  readonly client_aborted: boolean;
  readonly latency_ms: number | null;
  readonly duration_ms: number | null;
  readonly attempts: readonly UsageAttemptRow[] | null;
  /** Values by the names of the application's groups. */
  readonly groups: Readonly<Record<string, string>> | null;
  readonly created_at: ReturnType<Clock['now']>;
  readonly settled_at: ReturnType<Clock['now']> | null;
  /** Null in events of calls, and in old ones. */
  readonly refusal: RefusalRow | null;
}

/** Sums of one application's events, as texts. */
export interface MonthUsageRow {
  readonly requests: string;
  readonly input_tokens: string;
  readonly cached_input_tokens: string;
  readonly cache_write_tokens: string;
  readonly output_tokens: string;
  readonly cost_nano_usd: string;
  readonly estimated_nano_usd: string;
}

/** Sums with failure counts. */
export interface TotalsRow extends MonthUsageRow {
  readonly errors: string;
  readonly blocked: string;
}

/** Sums of one of several applications. */
export interface AppUsageRow extends TotalsRow {
  readonly app_id: string;
}

/** Sums of one application of an account; of the whole account where `app_id` is null. */
export interface AccountUsageRow extends TotalsRow {
  readonly app_id: string | null;
  /** UTC day of the first recorded request that is kept; null for an account without any. */
  readonly first_day: string | null;
}

/** Sums of one of several users. */
export interface UserUsageRow extends TotalsRow {
  readonly user_id: string;
}

/** Sums of a user on one UTC day, `YYYY-MM-DD`. */
export interface UserDayRow extends TotalsRow {
  readonly date: string;
}

/** A user's usage of the current day and month, as texts. */
export interface CurrentUserRow {
  readonly requests_today: string;
  readonly cost_nano_usd: string;
  readonly estimated_nano_usd: string;
  /** Counted while a limit of tokens per day is set. */
  readonly tokens_today: string;
  readonly day_cost_nano_usd: string;
  readonly week_cost_nano_usd: string;
}

/** Requests of a UTC day, `YYYY-MM-DD`, with one status; the count as text. */
export interface FailuresRow {
  readonly date: string;
  readonly status: UsageStatus;
  readonly count: string;
}
