import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import type { Instant } from '../../common/clock.js';
import type { Ids } from '../../common/ids.js';

const ID_LENGTH = 32;

/** Something that happened in an account. */
export interface OutboxEvent {
  /** Unique: an event with a stored id is not stored again. */
  readonly id: string;
  readonly organizationId: string;
  /** `<subject>.<verb>`, such as `app_key.created`. */
  readonly type: string;
  /** The application it is about, if there is one. */
  readonly appId: string | null;
  /** Events of one subject are delivered in order, first attempts at least. */
  readonly subject: string;
  readonly at: Instant;
  /** Flat or nested JSON without a secret. */
  readonly data: Readonly<Record<string, unknown>>;
}

/**
 * Events on their way to webhooks; `src/webhooks` delivers them. An event is stored in the transaction of what it reports,
 * with a delivery for each webhook that asks for it, and not at all where no webhook does.
 *
 * Source: docs/reference/webhooks.md.
 */
@Injectable()
export class Outbox {
  async add(tx: EntityManager, event: OutboxEvent): Promise<void> {
    const { id, organizationId, type, appId, subject, at } = event;
    await tx.query(ADD, [id, organizationId, type, appId, subject, eventBody(event), at]);
  }
}

/** A random id of an event. */
export function newEventId(ids: Ids): string {
  return `evt_${ids.base36(ID_LENGTH)}`;
}

/** The body that each delivery of an event sends. */
export function eventBody({ type, at, data }: Pick<OutboxEvent, 'type' | 'at' | 'data'>): string {
  return JSON.stringify({ type, timestamp: at.toISOString(), data });
}

const ADD = `
  WITH receiver AS (
    SELECT id FROM webhooks
     WHERE organization_id = $2 AND enabled
       AND (events IS NULL OR $3 = ANY (events) OR split_part($3, '.', 1) || '.*' = ANY (events))
       AND (app_ids IS NULL OR $4 = ANY (app_ids))),
  event AS (
    INSERT INTO webhook_events (id, organization_id, type, subject, body, created_at)
    SELECT $1, $2, $3, $5, $6, $7 WHERE EXISTS (SELECT FROM receiver)
    ON CONFLICT (id) DO NOTHING RETURNING id)
  INSERT INTO webhook_deliveries (webhook_id, event_id, status, attempts, created_at, next_attempt_at)
  SELECT receiver.id, event.id, 'pending', 0, $7, $7 FROM receiver, event`;
