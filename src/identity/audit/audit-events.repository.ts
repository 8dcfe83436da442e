import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import type { Instant } from '../../common/clock.js';
import type { ActionSource } from '../admin-principal.js';
import type { AuditEventFilter, AuditEventRow, CredentialType } from './audit-event.js';

/** An audit entry to store. */
export interface NewAuditEvent {
  readonly organizationId: string;
  readonly createdAt: Instant;
  readonly action: string;
  readonly actorId: string;
  readonly actorKind: 'human' | 'service';
  readonly credentialType: CredentialType;
  readonly credentialId: string | null;
  readonly actionSource: ActionSource;
  readonly targetType: string;
  readonly targetId: string;
  readonly appId: string | null;
  /** JSON text. */
  readonly details: string | null;
}

const MATCHES = `
  one.organization_id = $1 AND ($2::text IS NULL OR one.action = $2) AND ($3::text IS NULL OR one.actor_id = $3)
    AND ($4::text IS NULL OR one.app_id = $4) AND ($5::bigint IS NULL OR one.id < $5)`;

const NEWEST = 'ORDER BY one.id DESC LIMIT $6';

const OF_ALL_DAYS = `SELECT one.* FROM audit_events one WHERE ${MATCHES} ${NEWEST}`;

/** Must equal the expression of the index. */
const DAY = "(one.created_at AT TIME ZONE 'UTC')::date";

/**
 * One index scan per day between the first and the last stored day, so that the cost of a page does not depend on its
 * age. An account without entries yields no day.
 */
const OF_SOME_DAYS = `
  SELECT one.* FROM (SELECT min(${DAY}) AS first, max(${DAY}) AS last FROM audit_events one WHERE one.organization_id = $1) kept
  CROSS JOIN LATERAL generate_series(
    CASE WHEN to_date($7, 'YYYY-MM-DD') > kept.first THEN to_date($7, 'YYYY-MM-DD') ELSE kept.first END,
    CASE WHEN to_date($8, 'YYYY-MM-DD') < kept.last THEN to_date($8, 'YYYY-MM-DD') ELSE kept.last END,
    interval '1 day') AS day(at)
  CROSS JOIN LATERAL (SELECT one.* FROM audit_events one WHERE ${MATCHES} AND ${DAY} = day.at::date ${NEWEST}) one
  ${NEWEST}`;

const withNames = (page: string) => `
  SELECT page.*, actor.name AS actor_name FROM (${page}) page
  LEFT JOIN identities actor ON actor.id = page.actor_id ORDER BY page.id DESC`;

/** The table audit_events. */
@Injectable()
export class AuditEventsRepository {
  constructor(private readonly dataSource: DataSource) {}

  /** Newest first; at most `limit` of them. */
  list(organizationId: string, filter: AuditEventFilter): Promise<AuditEventRow[]> {
    const { action, actorId, appId, beforeId, limit, days } = filter;
    const matched = [organizationId, action ?? null, actorId ?? null, appId ?? null, beforeId ?? null, limit];
    if (days === undefined) return this.dataSource.query(withNames(OF_ALL_DAYS), matched);
    return this.dataSource.query(withNames(OF_SOME_DAYS), [...matched, days.from, days.to]);
  }

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
