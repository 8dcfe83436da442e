import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';

/** Requests of one scope and UTC day that were counted and never sent. */
export interface UnsentCount {
  readonly appId: string;
  /** Empty for the application itself. */
  readonly userId: string;
  /** UTC, `YYYY-MM-DD`. */
  readonly day: string;
  readonly requests: number;
}

/** Rows in one order for all, so that two instances never wait for each other in a circle. */
const ADD = `
  INSERT INTO limit_unsent AS known (app_id, user_id, day, requests)
  SELECT * FROM unnest($1::text[], $2::text[], $3::date[], $4::bigint[]) AS noted(app_id, user_id, day, requests)
  ORDER BY app_id COLLATE "C", user_id COLLATE "C", day
  ON CONFLICT (app_id, user_id, day) DO UPDATE SET requests = known.requests + excluded.requests`;

/** The day before the one that is asked about may still run elsewhere. */
const PRUNE = 'DELETE FROM limit_unsent WHERE day < $1::date - 2';

/** All SQL about `limit_unsent`, but that of the ledger. */
@Injectable()
export class UnsentRequestsRepository {
  constructor(private readonly dataSource: DataSource) {}

  /** @param counts one of each scope and day. */
  async add(counts: readonly UnsentCount[]): Promise<void> {
    await this.dataSource.query(ADD, [
      counts.map(({ appId }) => appId),
      counts.map(({ userId }) => userId),
      counts.map(({ day }) => day),
      counts.map(({ requests }) => requests),
    ]);
  }

  /** Forgets days long past. @param today UTC, `YYYY-MM-DD`. */
  async prune(today: string): Promise<void> {
    await this.dataSource.query(PRUNE, [today]);
  }
}
