import { ApiProperty } from '@nestjs/swagger';
import { UsageTotalsResponse } from '../../usage/reports/dto/usage-reports.response.js';
import type { UserStatus, UserView } from '../app-user.entity.js';
import type { SingleUser, UserPage } from '../managed-users.service.js';

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

  @ApiProperty({ type: [UserResponse], description: 'The most recently active first.' })
  users: UserResponse[];

  static from({ appId, month, total, limit, offset, users }: UserPage): UserListResponse {
    return Object.assign(new UserListResponse(), {
      app_id: appId,
      month,
      total,
      limit,
      offset,
      users: users.map(UserResponse.from),
    });
  }
}

export class SingleUserResponse {
  @ApiProperty({ type: 'string' })
  app_id: string;

  @ApiProperty(MONTH)
  month: string;

  @ApiProperty({ type: UserResponse })
  user: UserResponse;

  static from({ appId, month, user }: SingleUser): SingleUserResponse {
    return Object.assign(new SingleUserResponse(), { app_id: appId, month, user: UserResponse.from(user) });
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
