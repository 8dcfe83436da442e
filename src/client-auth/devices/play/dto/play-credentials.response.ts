import { ApiProperty } from '@nestjs/swagger';
import type { PlayCredentialRow } from '../play-credential.entity.js';
import { CREDENTIAL_KINDS, type CredentialKind } from '../play-credentials.rules.js';

export class PlayCredential {
  @ApiProperty({
    type: 'string',
    enum: CREDENTIAL_KINDS,
    description: '`service_account` is used by `decode: "vendor"`, `response_keys` by `decode: "local"`.',
  })
  kind: CredentialKind;

  @ApiProperty({
    type: 'string',
    description:
      'The e-mail address of the service account, or the end of the verification key. No secret is returned.',
  })
  hint: string;

  @ApiProperty({ type: 'string', format: 'date-time' })
  updated_at: string;
}

export class PlayCredentialsResponse {
  @ApiProperty({ type: 'string' })
  app_id: string;

  @ApiProperty({ type: [PlayCredential] })
  credentials: PlayCredential[];

  static from(appId: string, rows: readonly PlayCredentialRow[]): PlayCredentialsResponse {
    return Object.assign(new PlayCredentialsResponse(), {
      app_id: appId,
      credentials: rows.map(({ kind, hint, updatedAt }) => ({ kind, hint, updated_at: updatedAt.toISOString() })),
    });
  }
}

export class DeletedPlayCredentialsResponse {
  @ApiProperty({ type: 'string' })
  app_id: string;

  @ApiProperty({ type: 'boolean', enum: [true] })
  deleted: true;

  static from(appId: string): DeletedPlayCredentialsResponse {
    return Object.assign(new DeletedPlayCredentialsResponse(), { app_id: appId, deleted: true });
  }
}
