import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { Clock } from '../../common/clock.js';
import type { AuditActor } from './audit-actor.rules.js';
import type { AuditDetails } from './audit-event.js';
import { AuditEventsRepository } from './audit-events.repository.js';

/** One thing that was done. */
export interface AuditEntry {
  /** `<what>.<done>`, such as `app.created`. */
  readonly action: `${string}.${string}`;
  /** What it was done to, such as `app`, and its id. */
  readonly targetType: string;
  readonly targetId: string;
  /** The application it belongs to, if it belongs to one. */
  readonly appId?: string;
  /** Whatever else a reader needs, flat; never a secret, never a body. */
  readonly details?: AuditDetails;
}

/** The account's trail of changes, for people to read. Source: docs/reference/security.md#roles-and-routes. */
@Injectable()
export class AuditTrail {
  constructor(
    private readonly events: AuditEventsRepository,
    private readonly clock: Clock,
  ) {}

  /** Writes an entry in the transaction of the change itself: both happen or neither. */
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
