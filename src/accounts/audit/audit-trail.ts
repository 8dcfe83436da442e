import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { Clock } from '../../common/clock.js';
import { type DayRange, dayRange } from '../../common/day-range.rules.js';
import { Ids } from '../../common/ids.js';
import { newEventId, Outbox } from '../../platform/outbox/outbox.js';
import { type AdminPrincipal, type AuditActor } from '../access/admin-principal.js';
import type { AuditDetails } from './audit-event.entity.js';
import {
  type AuditEventFacets,
  type AuditEventFilter,
  type AuditEventRow,
  AuditEventsRepository,
} from './audit-events.repository.js';
import type { AuditedChange } from './audited-changes.rules.js';

/** The most changes that an entry keeps, those with values first. */
const MAX_CHANGES = 200;

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
  /** Old and new values, of `auditedChanges`. */
  readonly changes?: readonly AuditedChange[];
}

/** One page of audit entries, newest first. */
export interface AuditEventPage {
  readonly limit: number;
  readonly events: readonly AuditEventRow[];
}

/** The audit trail of an organization. Source: docs/reference/security.md#roles-and-routes. */
@Injectable()
export class AuditTrail {
  constructor(
    private readonly events: AuditEventsRepository,
    private readonly outbox: Outbox,
    private readonly clock: Clock,
    private readonly ids: Ids,
  ) {}

  /** Inserts an entry, and its event for webhooks, in the transaction of the change: all commit or none does. */
  async record(tx: EntityManager, who: AuditActor, entry: AuditEntry): Promise<void> {
    const { organizationId, credentialType, credentialId, actor } = who;
    const { action, targetType, targetId, appId = null, changes = [] } = entry;
    const omitted = changes.length - MAX_CHANGES;
    const details = omitted > 0 ? { ...entry.details, changes_omitted: omitted } : (entry.details ?? null);
    const at = this.clock.now();
    const kept = changes.length === 0 ? null : changes.slice(0, MAX_CHANGES);
    await this.events.insert(tx, {
      ...{ organizationId, createdAt: at, action, actorId: actor.id, actorKind: actor.kind },
      ...{ credentialType, credentialId, actionSource: actor.actionSource, targetType, targetId, appId, details },
      changes: kept,
    });
    const by = { id: actor.id, kind: actor.kind, source: actor.actionSource };
    const target = { type: targetType, id: targetId };
    await this.outbox.add(tx, {
      ...{ id: newEventId(this.ids), organizationId, type: action, appId, at },
      ...{
        subject: `${targetType}:${targetId}`,
        data: { account: organizationId, app: appId, actor: by, target, details, changes: kept },
      },
    });
  }

  /** The values by which entries of the organization can be filtered. */
  facets({ organizationId }: AdminPrincipal): Promise<AuditEventFacets> {
    return this.events.facets(organizationId);
  }

  /**
   * @param range the day range of the request; every day when both ends are absent.
   * @throws invalid_request naming `from` or `to`, as `dayRange`.
   */
  async page(
    { organizationId }: AdminPrincipal,
    filter: Omit<AuditEventFilter, 'days'>,
    range: Partial<DayRange>,
  ): Promise<AuditEventPage> {
    const isNamed = range.from !== undefined || range.to !== undefined;
    const days = isNamed ? dayRange(range, this.clock.utcDay()) : undefined;
    return { limit: filter.limit, events: await this.events.list(organizationId, { ...filter, days }) };
  }
}
