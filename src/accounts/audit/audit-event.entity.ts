import { Check, Column, Entity, Index, PrimaryGeneratedColumn } from 'typeorm';
import type { Instant } from '../../common/clock.js';
import type { ActionSource, CredentialType } from '../access/admin-principal.js';
import type { AuditedChange } from './audited-changes.rules.js';

/** Additional fields of an entry; the object is flat. */
export type AuditDetails = Readonly<Record<string, string | number | boolean | null>>;

/** An entry of an organization's audit trail. It outlives what it names, so it has no foreign keys. */
@Entity('audit_events')
@Check('audit_events_actor_kind_check', "actor_kind IN ('human', 'service')")
@Check('audit_events_credential_type_check', "credential_type IN ('session', 'apiKey', 'oauth')")
@Check('audit_events_source_check', "action_source IN ('web', 'api', 'cli', 'mcp', 'system')")
@Index('audit_events_action_idx', ['organizationId', 'action', 'id'])
@Index('audit_events_actor_idx', ['organizationId', 'actorId', 'id'])
@Index('audit_events_app_idx', ['organizationId', 'appId', 'id'])
@Index('audit_events_created_idx', ['createdAt'])
@Index('audit_events_day_idx', { synchronize: false })
@Index('audit_events_organization_idx', ['organizationId', 'id'])
export class AuditEventEntity {
  /** `bigint`, as text. */
  @PrimaryGeneratedColumn('identity', {
    type: 'bigint',
    generatedIdentity: 'ALWAYS',
    primaryKeyConstraintName: 'audit_events_pkey',
  })
  id: string;

  @Column({ name: 'organization_id', type: 'text' })
  organizationId: string;

  @Column({ name: 'created_at', type: 'timestamptz' })
  createdAt: Instant;

  @Column({ type: 'text' })
  action: string;

  @Column({ name: 'actor_id', type: 'text' })
  actorId: string;

  @Column({ name: 'actor_kind', type: 'text' })
  actorKind: 'human' | 'service';

  @Column({ name: 'credential_type', type: 'text' })
  credentialType: CredentialType;

  @Column({ name: 'credential_id', type: 'text', nullable: true })
  credentialId: string | null;

  @Column({ name: 'action_source', type: 'text' })
  actionSource: ActionSource;

  @Column({ name: 'target_type', type: 'text' })
  targetType: string;

  @Column({ name: 'target_id', type: 'text' })
  targetId: string;

  @Column({ name: 'app_id', type: 'text', nullable: true })
  appId: string | null;

  @Column({ type: 'json', nullable: true })
  details: AuditDetails | null;

  @Column({ type: 'json', nullable: true })
  changes: readonly AuditedChange[] | null;
}
