import { ApiProperty } from '@nestjs/swagger';
import { UsageTotalsResponse } from '../../usage/reports/dto/usage-reports.response.js';
import type { UserDayUsage } from '../../usage/reports/user-usage.service.js';
import type { UserStatus, UserView } from '../app-user.entity.js';
import type { SingleUser, UserPage } from '../managed-users.service.js';
import { UserLimitsResponse } from './user-limits.response.js';

const MONTH = { type: 'string', description: 'UTC month of the usage.', example: '2026-01' } as const;

export class UserResponse {
  @ApiProperty({ type: 'string' })
  id: string;

  @ApiProperty({ type: 'string', enum: ['active', 'blocked'] })
  status: UserStatus;

  @ApiProperty({ type: 'string', nullable: true, description: 'The attestation key used last.' })
  attest_key_id: string | null;

  @ApiProperty({ type: 'boolean', description: 'Whether a device of this user is registered.' })
  attest_registered: boolean;

  @ApiProperty({ type: 'integer', minimum: 0, description: 'Counter of that key; 0 without one.' })
  attest_counter: number;

  @ApiProperty({
    type: 'string',
    format: 'date-time',
    description: 'When the user was first active, or blocked before that.',
  })
  created_at: string;

  @ApiProperty({
    type: 'string',
    format: 'date-time',
    nullable: true,
    description: 'Renewed at most once a minute; null before the first exchange.',
  })
  last_seen_at: string | null;

  @ApiProperty({
    type: 'boolean',
    description: 'Known only from usage or a former block, without an exchange; always active.',
  })
  is_virtual: boolean;

  @ApiProperty({ type: UsageTotalsResponse, description: 'Of the requested month.' })
  usage: UsageTotalsResponse;

  @ApiProperty({
    type: 'number',
    minimum: 0,
    description: 'US dollars that count against the budget of the user in the requested month: costs and estimates.',
  })
  budget_spent_usd: number;

  @ApiProperty({
    type: 'boolean',
    description:
      'Whether that reaches the budget of a month as configured now, or, in the current month, the budget of the day or week is spent, so that calls are refused.',
  })
  at_limit: boolean;

  static from(user: UserView): UserResponse {
    return Object.assign(new UserResponse(), {
      id: user.id,
      status: user.status,
      attest_key_id: user.attestKeyId,
      attest_registered: user.attestKeyId !== null,
      attest_counter: Number(user.attestCounter ?? 0),
      created_at: user.createdAt.toISOString(),
      last_seen_at: user.lastSeenAt?.toISOString() ?? null,
      is_virtual: user.isVirtual,
      usage: user.usage,
      budget_spent_usd: user.budgetSpentUsd,
      at_limit: user.isAtLimit,
    });
  }
}

export class UserListResponse {
  @ApiProperty({ type: 'string' })
  app_id: string;

  @ApiProperty(MONTH)
  month: string;

  @ApiProperty({ type: 'integer', minimum: 0, description: 'Users on all pages.' })
  total: number;

  @ApiProperty({ type: 'integer', minimum: 1 })
  limit: number;

  @ApiProperty({ type: 'integer', minimum: 0 })
  offset: number;

  @ApiProperty({ type: 'string', nullable: true, description: 'Null: this page was not full.' })
  next_cursor: string | null;

  @ApiProperty({
    type: 'number',
    minimum: 0,
    nullable: true,
    description: 'US dollars that each user may spend in a month, as configured now; null: unlimited.',
  })
  monthly_budget_usd: number | null;

  @ApiProperty({ type: [UserResponse], description: 'In the order of `sort`.' })
  users: UserResponse[];

  static from({ appId, month, total, limit, offset, nextCursor, monthlyBudgetUsd, users }: UserPage): UserListResponse {
    return Object.assign(new UserListResponse(), {
      app_id: appId,
      month,
      total,
      limit,
      offset,
      next_cursor: nextCursor,
      monthly_budget_usd: monthlyBudgetUsd,
      users: users.map(UserResponse.from),
    });
  }
}

export class UserDayResponse extends UsageTotalsResponse implements UserDayUsage {
  @ApiProperty({ type: 'string', format: 'date', description: 'UTC day.' })
  date: string;
}

export class SingleUserResponse {
  @ApiProperty({ type: 'string' })
  app_id: string;

  @ApiProperty(MONTH)
  month: string;

  @ApiProperty({ type: UserResponse })
  user: UserResponse;

  @ApiProperty({ type: UserLimitsResponse, description: 'Of today and the current month, whatever the requested one.' })
  limits: UserLimitsResponse;

  @ApiProperty({
    type: [UserDayResponse],
    description: 'The requested month by UTC day, for the last 90 days; days without usage are absent.',
  })
  days: readonly UserDayResponse[];

  static from({ appId, month, user, standing, days }: SingleUser): SingleUserResponse {
    return Object.assign(new SingleUserResponse(), {
      app_id: appId,
      month,
      user: UserResponse.from(user),
      limits: UserLimitsResponse.from(standing),
      days,
    });
  }
}

export class UserBlockResponse {
  @ApiProperty({ type: 'string' })
  app_id: string;

  @ApiProperty({ type: 'string' })
  user_id: string;

  @ApiProperty({ type: 'boolean' })
  blocked: boolean;

  static from(appId: string, userId: string, status: UserStatus): UserBlockResponse {
    return Object.assign(new UserBlockResponse(), { app_id: appId, user_id: userId, blocked: status === 'blocked' });
  }
}
