import { ApiProperty } from '@nestjs/swagger';
import { GRANTS, type Grant } from '../../access/admin-principal.js';
import { MANAGEMENT_KEY_SOURCES, type ManagementKey, type ManagementKeySource } from '../management-keys.repository.js';
import type { CreatedManagementKey } from '../management-keys.service.js';

export class ManagementKeyResource {
  @ApiProperty({ type: 'string', example: 'mkey_0a1b2c3d4e5f6g7h8i9j' })
  id: string;

  @ApiProperty({ type: 'string' })
  organizationId: string;

  @ApiProperty({ type: 'string', description: 'The owner; the key has their current role.' })
  userId: string;

  @ApiProperty({ type: 'string' })
  name: string;

  @ApiProperty({ type: 'string', description: 'The last four characters of the key.', example: '7hQ2' })
  tokenHint: string;

  @ApiProperty({ type: 'boolean', description: 'False once revoked or expired, or when its owner left the account.' })
  enabled: boolean;

  @ApiProperty({ type: 'string', format: 'date-time', nullable: true, description: 'Null: it does not expire.' })
  expiresAt: string | null;

  @ApiProperty({ type: 'string', format: 'date-time' })
  createdAt: string;

  @ApiProperty({ type: 'string', format: 'date-time', nullable: true })
  revokedAt: string | null;

  @ApiProperty({
    type: 'string',
    enum: [...MANAGEMENT_KEY_SOURCES],
    description: 'How it was issued.',
  })
  source: ManagementKeySource;

  @ApiProperty({ type: 'string', enum: ['apiKey', 'oauth'] })
  credentialType: 'apiKey' | 'oauth';

  @ApiProperty({ type: 'string', nullable: true, description: 'Where it is used, according to its client.' })
  label: string | null;

  @ApiProperty({ type: 'string', enum: [...GRANTS] })
  grant: Grant;

  @ApiProperty({ type: 'string', nullable: true, description: 'The client of a connection; null for a key.' })
  clientId: string | null;

  @ApiProperty({
    type: 'string',
    format: 'date-time',
    nullable: true,
    description:
      'When it was last used, up to ten minutes late; null until the first use. For a connection: when it last got ' +
      'tokens.',
  })
  lastUsedAt: string | null;

  static from(key: ManagementKey): ManagementKeyResource {
    return Object.assign(new ManagementKeyResource(), fieldsOf(key));
  }
}

export class CreatedManagementKeyResource extends ManagementKeyResource {
  @ApiProperty({
    type: 'string',
    description: 'The key itself: shown only once and stored as a hash.',
    example: 'gw_mgmt_…',
  })
  plaintext: string;
}

export class ManagementKeyListResponse {
  @ApiProperty({ type: [ManagementKeyResource], description: 'Newest first, including revoked and expired ones.' })
  keys: ManagementKeyResource[];

  static from(keys: readonly ManagementKey[]): ManagementKeyListResponse {
    return Object.assign(new ManagementKeyListResponse(), { keys: keys.map(ManagementKeyResource.from) });
  }
}

export class ManagementKeyResponse {
  @ApiProperty({ type: ManagementKeyResource })
  key: ManagementKeyResource;

  static from(key: ManagementKey): ManagementKeyResponse {
    return Object.assign(new ManagementKeyResponse(), { key: ManagementKeyResource.from(key) });
  }
}

export class CreatedManagementKeyResponse {
  @ApiProperty({ type: CreatedManagementKeyResource })
  key: CreatedManagementKeyResource;

  static from({ key, plaintext }: CreatedManagementKey): CreatedManagementKeyResponse {
    const created = Object.assign(new CreatedManagementKeyResource(), fieldsOf(key), { plaintext: plaintext.reveal() });
    return Object.assign(new CreatedManagementKeyResponse(), { key: created });
  }
}

export class RevokedCredentialResponse {
  @ApiProperty({ type: 'boolean', enum: [true] })
  revoked: true;

  static done(): RevokedCredentialResponse {
    return Object.assign(new RevokedCredentialResponse(), { revoked: true });
  }
}

function fieldsOf(key: ManagementKey): ManagementKeyResource {
  return {
    ...{ id: key.id, organizationId: key.organizationId, userId: key.userId, name: key.name },
    tokenHint: key.tokenHint,
    enabled: key.enabled,
    expiresAt: key.expiresAt?.toISOString() ?? null,
    createdAt: key.createdAt.toISOString(),
    revokedAt: key.revokedAt?.toISOString() ?? null,
    source: key.source,
    credentialType: key.source === 'oauth' ? 'oauth' : 'apiKey',
    label: key.label,
    grant: key.grant,
    clientId: key.clientId,
    lastUsedAt: key.lastUsedAt?.toISOString() ?? null,
  };
}
