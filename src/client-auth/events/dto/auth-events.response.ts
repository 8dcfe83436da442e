import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { nextBeforeId } from '../../../common/fields/list-fields.js';
import {
  AUTH_METHODS,
  type AuthMethod,
  USAGE_STATUSES,
  type UsageStatus,
} from '../../../usage/recording/usage-event.js';
import { AUTH_EVENT_KINDS, type AuthEventKind, type AuthEventRow } from '../auth-event.js';
import type { AuthEventPage, AuthEventSummary } from '../auth-event-reports.service.js';

export class AuthEventResponse {
  @ApiProperty({ type: 'integer', description: 'Increases with time; the cursor of the list.' })
  id: number;

  @ApiProperty({ type: 'string', nullable: true, description: 'Null if no user was authenticated.' })
  user_id: string | null;

  @ApiProperty({ type: 'string', enum: [...AUTH_EVENT_KINDS] })
  event: AuthEventKind;

  @ApiProperty({ type: 'string', enum: [...AUTH_METHODS, null], nullable: true })
  auth_method: AuthMethod | null;

  @ApiProperty({
    type: 'string',
    description:
      '`ok`; `would_reject` where the proof failed and its mode gave a token; or the error code the client got.',
  })
  outcome: string;

  @ApiProperty({ type: 'string', nullable: true, description: 'The granular cause; clients never see it.' })
  reason: string | null;

  @ApiProperty({ type: 'string', nullable: true })
  app_version: string | null;

  @ApiProperty({ type: 'integer', nullable: true })
  latency_ms: number | null;

  @ApiProperty({
    type: 'integer',
    nullable: true,
    description: 'How long a required claim took to arrive; only on the success that ended the wait.',
  })
  claim_delay_ms: number | null;

  @ApiProperty({
    type: 'string',
    required: false,
    description: 'The proof that a device offered to an application of several proofs.',
  })
  proof?: string;

  @ApiPropertyOptional({
    type: 'object',
    additionalProperties: true,
    description: 'What the proof said, as far as rules read it: security level, versions. Nothing identifies a device.',
  })
  facts?: Readonly<Record<string, unknown>>;

  @ApiProperty({ type: 'string', format: 'date-time' })
  created_at: string;

  static from(row: AuthEventRow): AuthEventResponse {
    return Object.assign(new AuthEventResponse(), {
      id: Number(row.id),
      user_id: row.user_id,
      event: row.event,
      auth_method: row.auth_method,
      outcome: row.outcome,
      reason: row.reason,
      app_version: row.app_version,
      latency_ms: row.latency_ms,
      claim_delay_ms: row.claim_delay_ms === null ? null : Number(row.claim_delay_ms),
      ...(row.proof !== null && { proof: row.proof }),
      ...(row.facts !== null && { facts: row.facts }),
      created_at: row.created_at.toISOString(),
    });
  }
}

export class AuthEventsResponse {
  @ApiProperty({ type: 'string' })
  app_id: string;

  @ApiProperty({ type: 'integer' })
  limit: number;

  @ApiProperty({ type: 'integer', nullable: true, description: 'Null: there are no older events.' })
  next_before_id: number | null;

  @ApiProperty({ type: [AuthEventResponse], description: 'Newest first.' })
  events: AuthEventResponse[];

  static from({ appId, limit, events }: AuthEventPage): AuthEventsResponse {
    return Object.assign(new AuthEventsResponse(), {
      app_id: appId,
      limit,
      next_before_id: nextBeforeId(events, limit),
      events: events.map(AuthEventResponse.from),
    });
  }
}

class AuthEventDayResponse {
  @ApiProperty({ type: 'string', format: 'date', description: 'UTC day.' })
  date: string;

  @ApiProperty({ type: 'string', enum: [...AUTH_EVENT_KINDS] })
  event: AuthEventKind;

  @ApiProperty({ type: 'string', description: '`ok`, `would_reject`, or the error code clients got.' })
  outcome: string;

  @ApiProperty({ type: 'string', nullable: true })
  reason: string | null;

  @ApiProperty({ type: 'integer' })
  count: number;
}

class UsageFailuresResponse {
  @ApiProperty({ type: 'string', format: 'date', description: 'UTC day.' })
  date: string;

  @ApiProperty({ type: 'string', enum: [...USAGE_STATUSES] })
  status: UsageStatus;

  @ApiProperty({ type: 'integer' })
  count: number;
}

class TokenExchangesResponse {
  @ApiProperty({ type: 'integer' })
  total: number;

  @ApiProperty({ type: 'integer' })
  ok: number;

  @ApiProperty({ type: 'number', nullable: true, minimum: 0, maximum: 1, description: 'Null: there were none.' })
  success_rate: number | null;
}

class ClaimDelayResponse {
  @ApiProperty({ type: 'integer', description: 'Waits that ended in these days.' })
  count: number;

  @ApiProperty({ type: 'integer', nullable: true })
  avg_ms: number | null;

  @ApiProperty({ type: 'integer', nullable: true, description: 'Nearest rank.' })
  p50_ms: number | null;

  @ApiProperty({ type: 'integer', nullable: true, description: 'Nearest rank.' })
  p95_ms: number | null;
}

export class ProofAttemptsResponse {
  @ApiProperty({ type: 'string' })
  proof: string;

  @ApiProperty({ type: 'string', enum: [...AUTH_EVENT_KINDS] })
  event: AuthEventKind;

  @ApiProperty({ type: 'integer', description: 'Proven.' })
  ok: number;

  @ApiProperty({ type: 'integer', description: 'Failed, and admitted by the mode of the proof.' })
  would_reject: number;

  @ApiProperty({ type: 'integer' })
  refused: number;
}

export class AuthEventSummaryResponse {
  @ApiProperty({ type: 'string' })
  app_id: string;

  @ApiProperty({ type: 'integer' })
  days: number;

  @ApiProperty({ type: 'string', format: 'date', description: 'First UTC day.' })
  from: string;

  @ApiProperty({ type: 'string', format: 'date', description: 'Last UTC day, today.' })
  to: string;

  @ApiProperty({ type: [AuthEventDayResponse], description: 'By date, event, outcome and reason.' })
  daily: AuthEventDayResponse[];

  @ApiProperty({
    type: [UsageFailuresResponse],
    description: 'Requests that failed or were refused, by date and status.',
  })
  usage_failures: UsageFailuresResponse[];

  @ApiProperty({ type: TokenExchangesResponse })
  token_exchange: TokenExchangesResponse;

  @ApiProperty({ type: ClaimDelayResponse, description: 'How long required claims took to arrive.' })
  claim_delay: ClaimDelayResponse;

  @ApiProperty({ type: 'integer', description: 'Active users who still wait for a required claim.' })
  pending_users: number;

  @ApiProperty({
    type: [ProofAttemptsResponse],
    required: false,
    description: 'By proof and kind of attempt; absent where no device offered any.',
  })
  proofs?: ProofAttemptsResponse[];

  static from({ proofs, ...summary }: AuthEventSummary): AuthEventSummaryResponse {
    return Object.assign(new AuthEventSummaryResponse(), summary, proofs.length > 0 && { proofs });
  }
}
