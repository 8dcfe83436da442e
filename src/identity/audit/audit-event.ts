import type { Instant } from '../../common/clock.js';
import type { DayRange } from '../../common/day-range.rules.js';
import type { ActionSource } from '../admin-principal.js';

/** Through what somebody acted. Source: docs/reference/management-api.md#management-credentials. */
export const CREDENTIAL_TYPES = ['session', 'apiKey', 'oauth'] as const;

export type CredentialType = (typeof CREDENTIAL_TYPES)[number];

/** What else an entry says, flat. */
export type AuditDetails = Readonly<Record<string, string | number | boolean | null>>;

/** An entry of the trail as stored, with the name its actor has now. */
export interface AuditEventRow {
  /** `bigint`, as text. */
  readonly id: string;
  readonly action: string;
  readonly actor_id: string;
  readonly actor_kind: 'human' | 'service';
  readonly actor_name: string | null;
  readonly credential_type: CredentialType;
  readonly credential_id: string | null;
  readonly action_source: ActionSource;
  readonly target_type: string;
  readonly target_id: string;
  readonly app_id: string | null;
  readonly details: AuditDetails | null;
  readonly created_at: Instant;
}

/** Which entries of an account's trail to list. */
export interface AuditEventFilter {
  readonly limit: number;
  readonly action: string | undefined;
  readonly actorId: string | undefined;
  readonly appId: string | undefined;
  readonly beforeId: number | undefined;
  /** Of all days when absent. */
  readonly days: DayRange | undefined;
}

/** One page of it, newest first. */
export interface AuditEventPage {
  readonly limit: number;
  readonly events: readonly AuditEventRow[];
}
