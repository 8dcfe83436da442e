import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import type { Instant } from '../common/clock.js';
import { type DeliveryAttempt, type DeliveryOutcome, isDelivered } from './webhook.rules.js';

/** States of a delivery. */
export const DELIVERY_STATUSES = ['pending', 'delivered', 'failed', 'disabled'] as const;

export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number];

/** A delivery for display. */
export interface DeliveryRow {
  /** `bigint`, as text. */
  readonly id: string;
  readonly event_id: string;
  readonly type: string;
  readonly status: DeliveryStatus;
  readonly attempts: number;
  readonly response_status: number | null;
  readonly duration_ms: number | null;
  readonly created_at: Instant;
  readonly next_attempt_at: Instant | null;
}

/** A delivery with the body that each attempt sends. */
export interface SentDelivery extends DeliveryRow {
  /** JSON, exactly as it is signed. */
  readonly body: string;
}

/** A delivery to send. */
export interface DueDelivery {
  readonly id: string;
  readonly event_id: string;
  readonly subject: string;
  readonly body: string;
  readonly attempts: number;
}

/** A page of the deliveries of a webhook. */
export interface DeliveryFilter {
  readonly limit: number;
  readonly beforeId: number | undefined;
  readonly status: DeliveryStatus | undefined;
}

/** An event for a single webhook. */
export interface SingleEvent {
  readonly id: string;
  readonly organizationId: string;
  readonly webhookId: string;
  readonly type: string;
  readonly body: string;
  readonly at: Instant;
  /** Until then the job leaves it to the caller. */
  readonly until: Instant;
}

/** The tables webhook_events and webhook_deliveries, of which `Outbox` writes events. */
@Injectable()
export class WebhookDeliveriesRepository {
  constructor(private readonly dataSource: DataSource) {}

  /** Newest first. */
  list(webhookId: string, { limit, beforeId, status }: DeliveryFilter): Promise<DeliveryRow[]> {
    return this.dataSource.query(`${SHOWN} ${OLDER} ORDER BY delivery.id DESC LIMIT $4`, [
      ...[webhookId, beforeId ?? null, status ?? null, limit],
    ]);
  }

  async find(webhookId: string, id: string): Promise<DeliveryRow | undefined> {
    const [row] = await this.dataSource.query<DeliveryRow[]>(`${SHOWN} AND delivery.id = $2`, [webhookId, id]);
    return row;
  }

  async findSent(webhookId: string, id: string): Promise<SentDelivery | undefined> {
    const [row] = await this.dataSource.query<SentDelivery[]>(FIND_SENT, [webhookId, id]);
    return row;
  }

  /** Due deliveries: first attempts in the order of their events, then retries. */
  due(connection: DataSource, webhookId: string, now: Instant, limit: number): Promise<DueDelivery[]> {
    return connection.query(DUE, [webhookId, now, limit]);
  }

  /** Stores an event and its delivery. @returns the id of the delivery. */
  async insertSingle(event: SingleEvent): Promise<string> {
    const { id, organizationId, webhookId, type, body, at, until } = event;
    const [row] = await this.dataSource.query<{ id: string }[]>(INSERT_SINGLE, [
      ...[id, organizationId, type, webhookId, body, at, until],
    ]);
    if (row === undefined) throw new Error('an inserted delivery has an id');
    return row.id;
  }

  /** Stores the result of an attempt; a delivery that has ended meanwhile is not changed. */
  async record(
    connection: DataSource,
    id: string,
    { status, durationMs }: DeliveryAttempt,
    outcome: DeliveryOutcome,
    now: Instant,
  ): Promise<void> {
    const waitMs = outcome.status === 'pending' ? outcome.inMs : null;
    await connection.query(RECORD, [id, outcome.status, status, durationMs, now, waitMs]);
  }

  /** Sends a delivery again, now. */
  async resend(webhookId: string, id: string, now: Instant): Promise<void> {
    await this.dataSource.query(RESEND, [webhookId, id, now]);
  }

  /** Stores the only attempt of a test. */
  recordTest(id: string, attempt: DeliveryAttempt, now: Instant): Promise<void> {
    const status = isDelivered(attempt) ? 'delivered' : 'failed';
    return this.record(this.dataSource, id, attempt, { status }, now);
  }

  /** Ends pending deliveries: the webhook is disabled. */
  async end(connection: Pick<EntityManager, 'query'>, webhookId: string): Promise<void> {
    await connection.query(END, [webhookId]);
  }
}

const COLUMNS = `delivery.id, delivery.event_id, event.type, delivery.status, delivery.attempts,
  delivery.response_status, delivery.duration_ms, delivery.created_at, delivery.next_attempt_at`;

const OF_WEBHOOK = `
    FROM webhook_deliveries delivery JOIN webhook_events event ON event.id = delivery.event_id
   WHERE delivery.webhook_id = $1`;

const SHOWN = `SELECT ${COLUMNS} ${OF_WEBHOOK}`;

const FIND_SENT = `SELECT ${COLUMNS}, event.body ${OF_WEBHOOK} AND delivery.id = $2`;

const OLDER = 'AND ($2::bigint IS NULL OR delivery.id < $2) AND ($3::text IS NULL OR delivery.status = $3)';

const DUE = `
  SELECT due.id, due.event_id, event.subject, event.body, due.attempts
    FROM webhook_deliveries due JOIN webhook_events event ON event.id = due.event_id
   WHERE due.webhook_id = $1 AND due.status = 'pending' AND due.next_attempt_at <= $2
   ORDER BY due.attempts > 0, due.id LIMIT $3`;

const INSERT_SINGLE = `
  WITH event AS (
    INSERT INTO webhook_events (id, organization_id, type, subject, body, created_at)
    VALUES ($1, $2, $3, $4, $5, $6) RETURNING id)
  INSERT INTO webhook_deliveries (webhook_id, event_id, status, attempts, created_at, next_attempt_at)
  SELECT $4, event.id, 'pending', 0, $6, $7 FROM event RETURNING id`;

const RECORD = `
  UPDATE webhook_deliveries
     SET status = $2, attempts = attempts + 1, response_status = $3, duration_ms = $4,
         next_attempt_at = $5::timestamptz + $6::integer * interval '1 millisecond'
   WHERE id = $1 AND status = 'pending'`;

const RESEND = `
  UPDATE webhook_deliveries SET status = 'pending', next_attempt_at = $3 WHERE webhook_id = $1 AND id = $2`;

const END = `
  UPDATE webhook_deliveries SET status = 'disabled', next_attempt_at = NULL
   WHERE webhook_id = $1 AND status = 'pending'`;
