/** The key for which an event is created once: SQL expressions; absent ones are null. */
export interface EventKey {
  readonly type: string;
  readonly account: string;
  readonly app?: string;
  readonly scope?: string;
  readonly group?: string;
  readonly id?: string;
  readonly window?: string;
  /** A time, or a UTC day. */
  readonly periodStart?: string;
  /** A number. */
  readonly threshold?: string;
  /** A whole number of nano-dollars. */
  readonly budget?: string;
}

/**
 * SQL expression of the id of an event that is made once for its key: a hash, computed by Postgres alone.
 *
 * Source: docs/reference/webhooks.md#events.
 */
export function eventIdOf(key: EventKey): string {
  const parts = [
    ...[key.type, key.account, key.app, key.scope, key.group, key.id, key.window],
    key.periodStart && `extract(epoch FROM ${key.periodStart})::bigint`,
    key.threshold && `trim_scale(${key.threshold}::numeric)`,
    key.budget,
  ].map((part) => `(${part ?? 'NULL'})::text`);
  return `'evt_' || left(encode(sha256(convert_to(json_build_array(${parts.join(', ')})::text, 'UTF8')), 'hex'), 32)`;
}

/** SQL expression of a time in JSON. */
export function isoTime(at: string): string {
  return `to_char(${at} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;
}

/** SQL expression of the body that each delivery of an event sends. @param data expression of a JSON object. */
export function eventBodyOf(type: string, at: string, data: string): string {
  return `json_build_object('type', ${type}, 'timestamp', ${isoTime(at)}, 'data', ${data})::text`;
}

/**
 * Parts of a `WITH` that store events, a delivery for each webhook and a mail for each member that subscribes to them.
 * An event with a stored id is not stored again, nor is a duplicate in `source`. Append them to the statement that
 * makes the reported change: all commit or none does.
 *
 * A webhook or subscription that is deleted meanwhile gets none: without the lock its deliveries would fail the
 * statement.
 *
 * @param source name of an earlier part, one row for each event, with `id`, `organization_id`, `type`, `app_id` (null: it
 *   is about no application), `subject`, `body` (text), `at` (timestamptz) and `place` (their order).
 */
export function outboxParts(source: string): string {
  return `
  outbox_receivers AS MATERIALIZED (
    SELECT hook.id AS webhook_id, told.id AS event_id, told.place
    FROM ${source} told JOIN webhooks hook ON hook.organization_id = told.organization_id AND hook.enabled
      AND (hook.events IS NULL OR told.type = ANY (hook.events)
        OR split_part(told.type, '.', 1) || '.*' = ANY (hook.events))
      AND (hook.app_ids IS NULL OR told.app_id = ANY (hook.app_ids))
    FOR KEY SHARE OF hook),
  outbox_readers AS MATERIALIZED (
    SELECT reader.organization_id, reader.identity_id, told.id AS event_id, told.place
    FROM ${source} told JOIN mail_subscriptions reader ON reader.organization_id = told.organization_id
      AND (reader.events IS NULL OR told.type = ANY (reader.events)
        OR split_part(told.type, '.', 1) || '.*' = ANY (reader.events))
    FOR KEY SHARE OF reader),
  outbox_events AS (
    INSERT INTO webhook_events (id, organization_id, type, subject, body, created_at)
    SELECT told.id, told.organization_id, told.type, told.subject, told.body, told.at FROM ${source} told
    WHERE told.id IN (SELECT event_id FROM outbox_receivers UNION ALL SELECT event_id FROM outbox_readers)
    ORDER BY told.id
    ON CONFLICT (id) DO NOTHING RETURNING id, created_at),
  outbox_deliveries AS (
    INSERT INTO webhook_deliveries (webhook_id, event_id, status, attempts, created_at, next_attempt_at)
    SELECT receiver.webhook_id, event.id, 'pending', 0, event.created_at, event.created_at
    FROM outbox_events event JOIN outbox_receivers receiver ON receiver.event_id = event.id
    ORDER BY receiver.place, event.id
    ON CONFLICT (event_id, webhook_id) DO NOTHING RETURNING 1),
  outbox_mails AS (
    INSERT INTO mails (organization_id, identity_id, event_id, status, attempts, created_at, next_attempt_at)
    SELECT reader.organization_id, reader.identity_id, event.id, 'pending', 0, event.created_at, event.created_at
    FROM outbox_events event JOIN outbox_readers reader ON reader.event_id = event.id
    ORDER BY reader.place, event.id
    ON CONFLICT (event_id, identity_id) DO NOTHING RETURNING 1)`;
}
