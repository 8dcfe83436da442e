import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import type { Instant } from '../../common/clock.js';
import type { Ids } from '../../common/ids.js';
import { outboxParts } from './outbox-statements.js';

const ID_LENGTH = 32;

/** Something that happened in an account. */
export interface OutboxEvent {
  /** Unique: an event with a stored id is not stored again. */
  readonly id: string;
  readonly organizationId: string;
  /** `<subject>.<verb>`, such as `app_key.created`. */
  readonly type: string;
  /** The application that it is about, if any. */
  readonly appId: string | null;
  /** Events of one subject are delivered in order, first attempts at least. */
  readonly subject: string;
  readonly at: Instant;
  /** Flat or nested JSON without a secret. */
  readonly data: Readonly<Record<string, unknown>>;
}

/**
 * Events for webhooks and for mails to members; `src/webhooks` and `src/mail` deliver them. An event is stored in the
 * transaction of what it reports, with a delivery for each webhook and member that subscribes to it; without any, it is
 * not stored.
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
  WITH told AS (
    SELECT $1::text AS id, $2::text AS organization_id, $3::text AS type, $4::text AS app_id, $5::text AS subject,
      $6::text AS body, $7::timestamptz AS at, 1 AS place),
  ${outboxParts('told')}
  SELECT`;
