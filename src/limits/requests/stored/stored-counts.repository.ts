import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { type HandedCount, handedColumns } from '../epochs/limit-epochs.repository.js';
import { WINDOW_MS } from '../request-limit.rules.js';

/** Requests of one scope and UTC day that were counted and never sent. */
export interface UnsentCount {
  readonly appId: string;
  /** Empty for the whole application. */
  readonly userId: string;
  /** UTC, `YYYY-MM-DD`. */
  readonly day: string;
  readonly requests: number;
}

/** One scope and UTC day. */
export interface StoredDay {
  readonly appId: string;
  /** Empty for the whole application. */
  readonly userId: string;
  /** Milliseconds since the Unix epoch. */
  readonly dayStartMs: number;
}

/** A stored count never falls, because an instance that counts alone stores its total. */
const ADD_COUNTS = `
  INSERT INTO limit_counts AS known (app_id, user_id, window_ms, window_start_ms, requests)
  SELECT * FROM unnest($1::text[], $2::text[], $3::integer[], $4::bigint[], $5::bigint[])
    AS evicted(app_id, user_id, window_ms, window_start_ms, requests)
  ON CONFLICT (app_id, user_id, window_ms, window_start_ms)
    DO UPDATE SET requests = greatest(known.requests, excluded.requests)`;

const FIND_DAYS = `
  SELECT coalesce(known.requests, 0) AS requests
  FROM unnest($1::text[], $2::text[], $3::bigint[]) WITH ORDINALITY AS asked(app_id, user_id, window_start_ms, place)
  LEFT JOIN limit_counts known ON known.app_id = asked.app_id AND known.user_id = asked.user_id
    AND known.window_ms = ${WINDOW_MS.day} AND known.window_start_ms = asked.window_start_ms
  ORDER BY asked.place`;

/** One row order for all instances prevents deadlocks. */
const ADD_UNSENT = `
  INSERT INTO limit_unsent AS known (app_id, user_id, day, requests)
  SELECT * FROM unnest($1::text[], $2::text[], $3::date[], $4::bigint[]) AS noted(app_id, user_id, day, requests)
  ORDER BY app_id COLLATE "C", user_id COLLATE "C", day
  ON CONFLICT (app_id, user_id, day) DO UPDATE SET requests = known.requests + excluded.requests`;

/** Keeps the two previous days: an earlier day may still run on an instance whose clock is behind. */
const PRUNE_UNSENT = 'DELETE FROM limit_unsent WHERE day < $1::date - 2';

/**
 * Counts that instances store outside the epochs: those of scopes that an instance which counts alone has evicted, in
 * `limit_counts`, and requests that were counted and never sent, in `limit_unsent`.
 */
@Injectable()
export class StoredCountsRepository {
  constructor(private readonly dataSource: DataSource) {}

  /** @param counts totals of the windows; one per window. */
  async add(counts: readonly HandedCount[]): Promise<void> {
    await this.dataSource.query(ADD_COUNTS, handedColumns(counts));
  }

  /** Calls of UTC days, in the order of `asked`; 0 without a stored count. */
  async findDays(asked: readonly StoredDay[]): Promise<number[]> {
    const rows = await this.dataSource.query<{ requests: string }[]>(FIND_DAYS, [
      asked.map(({ appId }) => appId),
      asked.map(({ userId }) => userId),
      asked.map(({ dayStartMs }) => dayStartMs),
    ]);
    return rows.map(({ requests }) => Number(requests));
  }

  /** @param counts one per scope and day. */
  async addUnsent(counts: readonly UnsentCount[]): Promise<void> {
    await this.dataSource.query(ADD_UNSENT, [
      counts.map(({ appId }) => appId),
      counts.map(({ userId }) => userId),
      counts.map(({ day }) => day),
      counts.map(({ requests }) => requests),
    ]);
  }

  /** Deletes unsent requests of old days. @param today UTC, `YYYY-MM-DD`. */
  async pruneUnsent(today: string): Promise<void> {
    await this.dataSource.query(PRUNE_UNSENT, [today]);
  }
}
