import { Check, Column, Entity, ForeignKey, Index, PrimaryColumn, Unique } from 'typeorm';
import { OrganizationEntity } from '../accounts/access/organization.entity.js';
import type { Instant } from '../common/clock.js';
import type { AppStatus } from './config/app-config.js';
import type { Authentication } from './config/authentication-config.js';

/** An application and its configuration. */
@Entity('apps')
@Check('apps_status_check', "status IN ('active', 'disabled')")
@Check('apps_handle_check', "handle ~ '^[a-z0-9][a-z0-9-]{0,62}$'")
@Unique('apps_handle_key', ['organizationId', 'handle'])
@Index('apps_organization_idx', { synchronize: false })
export class AppEntity {
  @PrimaryColumn({ type: 'text', primaryKeyConstraintName: 'apps_pkey' })
  id: string;

  @Column({ name: 'organization_id', type: 'text' })
  @ForeignKey(() => OrganizationEntity, { name: 'apps_organization_fkey', onDelete: 'CASCADE' })
  organizationId: string;

  @Column({ type: 'text' })
  name: string;

  /** A name of the operator's choice for scripts and files; unique in the account. */
  @Column({ type: 'text', nullable: true })
  handle: string | null;

  /** As stored, possibly by an older version; read it with `AppConfigParser`. */
  @Column({ type: 'json' })
  config: unknown;

  /** The type in `config`, available even when the rest of it no longer parses. */
  @Column({ name: 'authentication_type', type: 'text' })
  authenticationType: Authentication['type'];

  @Column({ type: 'integer' })
  revision: number;

  @Column({ type: 'text' })
  status: AppStatus;

  @Column({ name: 'created_at', type: 'timestamptz' })
  createdAt: Instant;

  @Column({ name: 'updated_at', type: 'timestamptz' })
  updatedAt: Instant;
}

/** A stored application. */
export type AppRow = Readonly<AppEntity>;

/** The key by which every statement on an application's rows filters. */
export type AppRef = Pick<AppRow, 'id' | 'organizationId'>;
