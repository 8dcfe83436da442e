import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { type HandedCount, handedColumns } from '../epochs/limit-epochs.repository.js';
import { WINDOW_MS } from '../request-limit.rules.js';

/** What is stored never falls: an instance that counts alone tells all that it knows of. */
const KEEP = `
  INSERT INTO limit_counts AS known (app_id, user_id, window_ms, window_start_ms, requests)
  SELECT * FROM unnest($1::text[], $2::text[], $3::integer[], $4::bigint[], $5::bigint[])
    AS kept(app_id, user_id, window_ms, window_start_ms, requests)
  ON CONFLICT (app_id, user_id, window_ms, window_start_ms)
    DO UPDATE SET requests = greatest(known.requests, excluded.requests)`;

const FIND_DAY = `
  SELECT requests FROM limit_counts
  WHERE app_id = $1 AND user_id = $2 AND window_ms = ${WINDOW_MS.day} AND window_start_ms = $3`;

/** Counts that an instance which counts alone keeps in `limit_counts` of users it has no place for. */
@Injectable()
export class KeptCountsRepository {
  constructor(private readonly dataSource: DataSource) {}

  /** @param counts all calls of their windows; one of each window. */
  async keep(counts: readonly HandedCount[]): Promise<void> {
    await this.dataSource.query(KEEP, handedColumns(counts));
  }

  /** Calls of a UTC day; 0 where none are kept. */
  async findDay(appId: string, userId: string, dayStartMs: number): Promise<number> {
    const rows = await this.dataSource.query<{ requests: string }[]>(FIND_DAY, [appId, userId, dayStartMs]);
    return Number(rows[0]?.requests ?? 0);
  }
}
