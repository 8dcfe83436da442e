import { ApiProperty } from '@nestjs/swagger';
import { USAGE_STATUSES, type UsageStatus } from '../../usage/usage-event.js';
import { AUTH_EVENT_KINDS, type AuthEventKind } from '../auth-event.js';
import type { AuthEventSummary } from '../auth-event-reports.service.js';

class AuthEventDayResponse {
  @ApiProperty({ type: 'string', format: 'date', description: 'UTC day.' })
  date: string;

  @ApiProperty({ type: 'string', enum: [...AUTH_EVENT_KINDS] })
  event: AuthEventKind;

  @ApiProperty({ type: 'string', description: '`ok`, or the error code clients got.' })
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

  @ApiProperty({ type: [UsageFailuresResponse], description: 'Requests that did not end well, by date and status.' })
  usage_failures: UsageFailuresResponse[];

  @ApiProperty({ type: TokenExchangesResponse })
  token_exchange: TokenExchangesResponse;

  @ApiProperty({ type: ClaimDelayResponse, description: 'How long required claims took to arrive.' })
  claim_delay: ClaimDelayResponse;

  @ApiProperty({ type: 'integer', description: 'Active users who still wait for a required claim.' })
  pending_users: number;

  static from(summary: AuthEventSummary): AuthEventSummaryResponse {
    return Object.assign(new AuthEventSummaryResponse(), summary);
  }
}
