import type { Instant } from '../../common/clock.js';
import type { DayRange } from '../../common/day-range.rules.js';
import type { ActionSource } from '../admin-principal.js';

/** The credential type behind an action. Source: docs/reference/management-api.md#management-credentials. */
export const CREDENTIAL_TYPES = ['session', 'apiKey', 'oauth'] as const;

export type CredentialType = (typeof CREDENTIAL_TYPES)[number];

/** Additional fields of an entry; the object is flat. */
export type AuditDetails = Readonly<Record<string, string | number | boolean | null>>;

/** A stored audit entry with the current name of its actor. */
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

/** Filter for the audit entries of an account. */
export interface AuditEventFilter {
  readonly limit: number;
  readonly action: string | undefined;
  readonly actorId: string | undefined;
  readonly appId: string | undefined;
  readonly beforeId: number | undefined;
  /** Every day when absent. */
  readonly days: DayRange | undefined;
}

/** One page of audit entries, newest first. */
export interface AuditEventPage {
  readonly limit: number;
  readonly events: readonly AuditEventRow[];
}
