import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import type { Instant } from '../../common/clock.js';
import type { DayRange } from '../../common/day-range.rules.js';
import type { ActionSource, CredentialType } from '../access/admin-principal.js';
import { type AuditDetails, AuditEventEntity } from './audit-event.entity.js';
import type { AuditedChange } from './audited-changes.rules.js';

/** A stored audit entry with the current name of its actor. */
export interface AuditEventRow {
  /** `bigint`, as text. */
  readonly id: string;
  readonly action: string;
  readonly actor_id: string;
  readonly actor_kind: 'human' | 'service';
  readonly actor_name: string | null;
  readonly credential_type: CredentialType;
  readonly credential_id: string | null;
  readonly action_source: ActionSource;
  readonly target_type: string;
  readonly target_id: string;
  readonly app_id: string | null;
  readonly details: AuditDetails | null;
  readonly changes: readonly AuditedChange[] | null;
  readonly created_at: Instant;
}

/** Who acted and what was done in an organization, each once. */
export interface AuditEventFacets {
  readonly actions: readonly string[];
  readonly actors: readonly { readonly id: string; readonly kind: 'human' | 'service'; readonly name: string | null }[];
}

/** Filter for the audit entries of an organization. */
export interface AuditEventFilter {
  readonly limit: number;
  readonly action: string | undefined;
  readonly actorId: string | undefined;
  readonly appId: string | undefined;
  readonly beforeId: number | undefined;
  /** Every day when absent. */
  readonly days: DayRange | undefined;
}

/** The most actions, and the most actors, that are offered to choose from. */
const MAX_FACETS = 500;

const MATCHES = `
  one.organization_id = $1 AND ($2::text IS NULL OR one.action = $2) AND ($3::text IS NULL OR one.actor_id = $3)
    AND ($4::text IS NULL OR one.app_id = $4) AND ($5::bigint IS NULL OR one.id < $5)`;

const NEWEST = 'ORDER BY one.id DESC LIMIT $6';

const OF_ALL_DAYS = `SELECT one.* FROM audit_events one WHERE ${MATCHES} ${NEWEST}`;

/** Must equal the expression of the index. */
const DAY = "(one.created_at AT TIME ZONE 'UTC')::date";

/**
 * One index scan per day between the first and the last stored day, so that the cost of a page does not depend on its
 * age. An organization without entries yields no day.
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

/** Each value once, by one index look-up for each of them; `column` is followed by the id there. */
const distinct = (column: 'action' | 'actor_id') => `
  WITH RECURSIVE found AS (
    (SELECT ${column} AS value FROM audit_events WHERE organization_id = $1 ORDER BY ${column} LIMIT 1)
    UNION ALL
    SELECT (SELECT ${column} FROM audit_events WHERE organization_id = $1 AND ${column} > found.value
             ORDER BY ${column} LIMIT 1)
      FROM found WHERE found.value IS NOT NULL)
  SELECT value FROM found WHERE value IS NOT NULL LIMIT ${MAX_FACETS}`;

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

  async facets(organizationId: string): Promise<AuditEventFacets> {
    const [actions, actors] = await Promise.all([
      this.dataSource.query<{ value: string }[]>(distinct('action'), [organizationId]),
      this.dataSource.query<AuditEventFacets['actors'][number][]>(
        `SELECT acted.value AS id, actor.name,
                (SELECT one.actor_kind FROM audit_events one WHERE one.organization_id = $1 AND one.actor_id = acted.value
                  ORDER BY one.id DESC LIMIT 1) AS kind
           FROM (${distinct('actor_id')}) acted LEFT JOIN identities actor ON actor.id = acted.value
          ORDER BY lower(actor.name), acted.value`,
        [organizationId],
      ),
    ]);
    return { actions: actions.map(({ value }) => value).sort(), actors };
  }

  async insert(tx: EntityManager, event: Omit<AuditEventEntity, 'id'>): Promise<void> {
    await tx.insert(AuditEventEntity, event);
  }
}
