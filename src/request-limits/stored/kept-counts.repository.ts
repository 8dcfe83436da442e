import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { type HandedCount, handedColumns } from '../epochs/limit-epochs.repository.js';
import { WINDOW_MS } from '../request-limit.rules.js';

/** A stored count never falls, because an instance that counts alone stores its total. */
const KEEP = `
  INSERT INTO limit_counts AS known (app_id, user_id, window_ms, window_start_ms, requests)
  SELECT * FROM unnest($1::text[], $2::text[], $3::integer[], $4::bigint[], $5::bigint[])
    AS kept(app_id, user_id, window_ms, window_start_ms, requests)
  ON CONFLICT (app_id, user_id, window_ms, window_start_ms)
    DO UPDATE SET requests = greatest(known.requests, excluded.requests)`;

const FIND_DAY = `
  SELECT requests FROM limit_counts
  WHERE app_id = $1 AND user_id = $2 AND window_ms = ${WINDOW_MS.day} AND window_start_ms = $3`;

/** Stores the counts of scopes that an instance which counts alone has evicted, in `limit_counts`. */
@Injectable()
export class KeptCountsRepository {
  constructor(private readonly dataSource: DataSource) {}

  /** @param counts totals of the windows; one per window. */
  async keep(counts: readonly HandedCount[]): Promise<void> {
    await this.dataSource.query(KEEP, handedColumns(counts));
  }

  /** Calls of a UTC day; 0 without a stored count. */
  async findDay(appId: string, userId: string, dayStartMs: number): Promise<number> {
    const rows = await this.dataSource.query<{ requests: string }[]>(FIND_DAY, [appId, userId, dayStartMs]);
    return Number(rows[0]?.requests ?? 0);
  }
}
