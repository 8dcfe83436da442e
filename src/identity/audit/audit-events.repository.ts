import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import type { Instant } from '../../common/clock.js';
import type { ActionSource } from '../admin-principal.js';

/** An entry of the trail, to be stored. */
export interface NewAuditEvent {
  readonly organizationId: string;
  readonly createdAt: Instant;
  readonly action: string;
  readonly actorId: string;
  readonly actorKind: 'human' | 'service';
  readonly credentialType: 'session' | 'apiKey' | 'oauth';
  readonly credentialId: string | null;
  readonly actionSource: ActionSource;
  readonly targetType: string;
  readonly targetId: string;
  readonly appId: string | null;
  /** JSON text. */
  readonly details: string | null;
}

/** The table audit_events. */
@Injectable()
export class AuditEventsRepository {
  async insert(tx: EntityManager, event: NewAuditEvent): Promise<void> {
    await tx.query(
      `INSERT INTO audit_events (organization_id, created_at, action, actor_id, actor_kind, credential_type,
         credential_id, action_source, target_type, target_id, app_id, details)
       VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)`,
      [
        event.organizationId,
        event.createdAt,
        event.action,
        event.actorId,
        event.actorKind,
        event.credentialType,
        event.credentialId,
        event.actionSource,
        event.targetType,
        event.targetId,
        event.appId,
        event.details,
      ],
    );
  }
}
