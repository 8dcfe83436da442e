import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { UsageEventRow } from '../recording/usage-rows.js';
import { readBounded, type UsageScope } from '../recording/usage-sums.repository.js';

/** Filter of an account's events; absent members do not filter. */
export interface AccountEventFilter {
  /** Any of these. */
  readonly statuses?: readonly string[] | undefined;
  /** An error code of refusals. */
  readonly reason?: string | undefined;
  readonly user?: string | undefined;
  readonly endpoint?: string | undefined;
  /** A provider instance's slug or a provider type. */
  readonly provider?: string | undefined;
  readonly model?: string | undefined;
  /** Id of an application key. */
  readonly key?: string | undefined;
}

/** A part of time, in milliseconds since the Unix epoch. */
export interface TimeRange {
  readonly fromMs: number;
  /** Exclusive. */
  readonly untilMs: number;
}

/** The place of an event in the order of time. */
export interface EventPlace {
  /** Microseconds since the Unix epoch. */
  readonly createdAtUs: string;
  readonly id: string;
}

/** A part of the search. */
export interface EventSearch {
  readonly events: readonly UsageEventRow[];
  /** The last event that was examined; null: the period has no more. */
  readonly last: EventPlace | null;
}

interface PlaceRow {
  readonly created_at_us: string;
  readonly id: string;
}

const instant = (n: number) => `timestamptz 'epoch' + $${n}::bigint * interval '1 millisecond'`;

const CREATED_US = '(extract(epoch FROM event.created_at) * 1000000)::bigint AS created_at_us';

/** Events of the period below the cursor, newest first. */
const inPeriod = (isRefused: boolean) => `
  FROM usage_events event
  WHERE event.organization_id = $1 AND event.created_at >= ${instant(2)} AND event.created_at < ${instant(3)}
    AND (event.created_at, event.id) < (timestamptz 'epoch' + $4::bigint * interval '1 microsecond', $5::bigint)
    ${isRefused ? "AND starts_with(event.status, 'blocked_')" : ''}
  ORDER BY event.created_at DESC, event.id DESC`;

const MATCHES = `($7::text IS NULL OR event.app_id = $7) AND ($8::text[] IS NULL OR event.status = ANY ($8))
  AND ($9::text IS NULL OR event.refusal ->> 'code' = $9) AND ($10::text IS NULL OR event.user_id = $10)
  AND ($11::text IS NULL OR event.endpoint_slug = $11)
  AND ($12::text IS NULL OR event.provider_slug = $12 OR event.provider_type = $12)
  AND ($13::text IS NULL OR event.model = $13) AND ($14::text IS NULL OR event.api_key_id = $14)`;

const page = (isRefused: boolean) => `
  SELECT event.*, ${CREATED_US} FROM (SELECT event.* ${inPeriod(isRefused)} LIMIT $6) event WHERE ${MATCHES}
  ORDER BY event.created_at DESC, event.id DESC LIMIT $15`;

/** The last event of a full part. */
const end = (isRefused: boolean) => `
  SELECT ${CREATED_US}, event.id ${inPeriod(isRefused)} OFFSET $6::bigint - 1 LIMIT 1`;

/** Later than every event. */
const NEWEST: EventPlace = { createdAtUs: '253402300799999999', id: String(2n ** 63n - 1n) };

/** Searches the events of an account in the order of time, part by part, so that no search takes long. */
@Injectable()
export class AccountEventsRepository {
  constructor(private readonly dataSource: DataSource) {}

  /**
   * Examines the next `part` events of a period.
   *
   * @param before the end of the part before; absent at first.
   * @param limit maximum events found.
   */
  async search(
    { organizationId, id }: UsageScope,
    { fromMs, untilMs }: TimeRange,
    filter: AccountEventFilter,
    { before = NEWEST, part, limit }: { before?: EventPlace | undefined; part: number; limit: number },
  ): Promise<EventSearch> {
    const { statuses = null, reason = null, user = null, endpoint = null, provider = null, model = null } = filter;
    const isRefused = reason !== null || (statuses?.every((status) => status.startsWith('blocked_')) ?? false);
    const period = [organizationId, fromMs, untilMs, before.createdAtUs, before.id, part];
    const matching = [id, statuses, reason, user, endpoint, provider, model, filter.key ?? null, limit];
    const events = await readBounded<UsageEventRow & PlaceRow>(this.dataSource, page(isRefused), [
      ...period,
      ...matching,
    ]);
    const [last] =
      events.length === limit ? events.slice(-1) : await readBounded<PlaceRow>(this.dataSource, end(isRefused), period);
    return { events, last: last === undefined ? null : { createdAtUs: last.created_at_us, id: last.id } };
  }
}
