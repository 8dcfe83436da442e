import { Check, Column, Entity, ForeignKey, PrimaryColumn, Unique } from 'typeorm';
import { AppEntity } from '../../../app-directory/app.entity.js';
import type { Instant } from '../../../common/clock.js';
import type { CredentialKind } from './play-credentials.rules.js';

/** The sealed credentials that decode the integrity tokens of an application: at most one of each kind. */
@Entity('play_credentials')
@Check('play_credentials_kind_check', "kind IN ('service_account', 'response_keys')")
@Unique('play_credentials_app_key', ['appId', 'kind'])
export class PlayCredentialEntity {
  @PrimaryColumn({ type: 'text', primaryKeyConstraintName: 'play_credentials_pkey' })
  id: string;

  @Column({ name: 'organization_id', type: 'text' })
  organizationId: string;

  @Column({ name: 'app_id', type: 'text' })
  @ForeignKey(() => AppEntity, { name: 'play_credentials_app_fkey', onDelete: 'CASCADE' })
  appId: string;

  @Column({ type: 'text' })
  kind: CredentialKind;

  @Column({ name: 'secret_blob', type: 'text' })
  secretBlob: string;

  @Column({ type: 'text' })
  hint: string;

  @Column({ name: 'updated_at', type: 'timestamptz' })
  updatedAt: Instant;
}

/** Stored credentials. */
export type PlayCredentialRow = Readonly<PlayCredentialEntity>;
