import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';

/** Requests of one scope and UTC day that were counted and never sent. */
export interface UnsentCount {
  readonly appId: string;
  /** Empty for the whole application. */
  readonly userId: string;
  /** UTC, `YYYY-MM-DD`. */
  readonly day: string;
  readonly requests: number;
}

/** One row order for all instances prevents deadlocks. */
const ADD = `
  INSERT INTO limit_unsent AS known (app_id, user_id, day, requests)
  SELECT * FROM unnest($1::text[], $2::text[], $3::date[], $4::bigint[]) AS noted(app_id, user_id, day, requests)
  ORDER BY app_id COLLATE "C", user_id COLLATE "C", day
  ON CONFLICT (app_id, user_id, day) DO UPDATE SET requests = known.requests + excluded.requests`;

/** Keeps the two previous days: an earlier day may still run on an instance whose clock is behind. */
const PRUNE = 'DELETE FROM limit_unsent WHERE day < $1::date - 2';

/** Writes and prunes `limit_unsent`. */
@Injectable()
export class UnsentRequestsRepository {
  constructor(private readonly dataSource: DataSource) {}

  /** @param counts one per scope and day. */
  async add(counts: readonly UnsentCount[]): Promise<void> {
    await this.dataSource.query(ADD, [
      counts.map(({ appId }) => appId),
      counts.map(({ userId }) => userId),
      counts.map(({ day }) => day),
      counts.map(({ requests }) => requests),
    ]);
  }

  /** Deletes old days. @param today UTC, `YYYY-MM-DD`. */
  async prune(today: string): Promise<void> {
    await this.dataSource.query(PRUNE, [today]);
  }
}
