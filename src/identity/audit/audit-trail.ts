import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { Clock } from '../../common/clock.js';
import type { AuditActor } from './audit-actor.rules.js';
import type { AuditDetails } from './audit-event.js';
import { AuditEventsRepository } from './audit-events.repository.js';

/** One audited action. */
export interface AuditEntry {
  /** `<target>.<verb>`, such as `app.created`. */
  readonly action: `${string}.${string}`;
  /** The kind of the target, such as `app`. */
  readonly targetType: string;
  readonly targetId: string;
  /** The application of the target, if it has one. */
  readonly appId?: string;
  /** A flat object; never a secret, never a body. */
  readonly details?: AuditDetails;
}

/** The audit trail of an account. Source: docs/reference/security.md#roles-and-routes. */
@Injectable()
export class AuditTrail {
  constructor(
    private readonly events: AuditEventsRepository,
    private readonly clock: Clock,
  ) {}

  /** Inserts an entry in the transaction of the change, so that both commit or neither does. */
  async record(tx: EntityManager, who: AuditActor, entry: AuditEntry): Promise<void> {
    const { organizationId, credentialType, credentialId, actor } = who;
    const { action, targetType, targetId, appId = null, details } = entry;
    await this.events.insert(tx, {
      organizationId,
      createdAt: this.clock.now(),
      action,
      actorId: actor.id,
      actorKind: actor.kind,
      credentialType,
      credentialId,
      actionSource: actor.actionSource,
      targetType,
      targetId,
      appId,
      details: details === undefined ? null : JSON.stringify(details),
    });
  }
}
