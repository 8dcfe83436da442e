import { ApiProperty } from '@nestjs/swagger';
import type { AppKeyRow, AppKeyStatus, IssuedAppKey } from '../app-key.entity.js';

export class AppKeyResponse {
  @ApiProperty({ type: 'string', example: 'key_0a1b2c3d4e5f6g7h8i9j' })
  id: string;

  @ApiProperty({ type: 'string' })
  name: string;

  @ApiProperty({ type: 'string', description: 'The first 12 characters of the key.', example: 'gw_Ab3dE6gH9' })
  key_prefix: string;

  @ApiProperty({ type: 'string', enum: ['active', 'revoked', 'expired'] })
  status: AppKeyStatus;

  @ApiProperty({ type: 'string', format: 'date-time' })
  created_at: string;

  @ApiProperty({
    type: 'string',
    format: 'date-time',
    nullable: true,
    description: 'Renewed at most once an hour; null until the first use.',
  })
  last_used_at: string | null;

  @ApiProperty({ type: 'string', format: 'date-time', nullable: true, description: 'Null: it does not expire.' })
  expires_at: string | null;

  static from(key: AppKeyRow): AppKeyResponse {
    return Object.assign(new AppKeyResponse(), {
      id: key.id,
      name: key.name,
      key_prefix: key.keyPrefix,
      status: key.status,
      created_at: key.createdAt.toISOString(),
      last_used_at: key.lastUsedAt?.toISOString() ?? null,
      expires_at: key.expiresAt?.toISOString() ?? null,
    });
  }
}

export class AppKeyListResponse {
  @ApiProperty({ type: 'string' })
  app_id: string;

  @ApiProperty({ type: [AppKeyResponse], description: 'Newest first, revoked ones included.' })
  keys: AppKeyResponse[];

  static from(appId: string, keys: readonly AppKeyRow[]): AppKeyListResponse {
    return Object.assign(new AppKeyListResponse(), { app_id: appId, keys: keys.map(AppKeyResponse.from) });
  }
}

export class IssuedAppKeyResponse {
  @ApiProperty({ type: 'string', example: 'key_0a1b2c3d4e5f6g7h8i9j' })
  id: string;

  @ApiProperty({ type: 'string' })
  name: string;

  @ApiProperty({ type: 'string', description: 'The key itself: shown only once and stored as a hash.' })
  key: string;

  @ApiProperty({ type: 'string', description: 'The first 12 characters of the key.', example: 'gw_Ab3dE6gH9' })
  key_prefix: string;

  @ApiProperty({ type: 'string', format: 'date-time' })
  created_at: string;

  @ApiProperty({ type: 'string', format: 'date-time', nullable: true, description: 'Null: it does not expire.' })
  expires_at: string | null;

  static from(issued: IssuedAppKey): IssuedAppKeyResponse {
    return Object.assign(new IssuedAppKeyResponse(), {
      id: issued.id,
      name: issued.name,
      key: issued.key.reveal(),
      key_prefix: issued.keyPrefix,
      created_at: issued.createdAt.toISOString(),
      expires_at: issued.expiresAt?.toISOString() ?? null,
    });
  }
}

export class RevokedAppKeyResponse {
  @ApiProperty({ type: 'string' })
  app_id: string;

  @ApiProperty({ type: 'string', description: 'Id of the revoked key.' })
  key: string;

  static from(appId: string, keyId: string): RevokedAppKeyResponse {
    return Object.assign(new RevokedAppKeyResponse(), { app_id: appId, key: keyId });
  }
}
