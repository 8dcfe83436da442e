import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { BackgroundDataSource } from '../platform/database/background-data-source.js';

/** Advisory locks are per database; the number only has to be ours. */
const RETENTION_LOCK = 5_272_024_317;

/** The one connection that does all of a run, and the time by the clock of the database: milliseconds since the epoch. */
export interface RetentionSession {
  readonly connection: EntityManager;
  readonly databaseNowMs: number;
}

/** Lets one instance at a time do the nightly work. */
@Injectable()
export class RetentionSessions {
  constructor(private readonly dataSource: BackgroundDataSource) {}

  /**
   * Does the work on a connection that holds the lock meanwhile. When the connection breaks, lock and work end together:
   * nobody goes on without the lock, and a killed process leaves none behind.
   *
   * @returns what the work returns; `undefined` when another instance is at it.
   * @throws unknown what Postgres says when no connection can be had, and whatever the work throws.
   */
  async alone<T>(work: (session: RetentionSession) => Promise<T>): Promise<T | undefined> {
    const runner = this.dataSource.createQueryRunner();
    try {
      const [row]: { taken: boolean; nowMs: number }[] = await runner.query(
        `SELECT pg_try_advisory_lock($1) AS taken, (extract(epoch FROM now()) * 1000)::float8 AS "nowMs"`,
        [RETENTION_LOCK],
      );
      if (row?.taken !== true) return undefined;
      try {
        return await work({ connection: runner.manager, databaseNowMs: row.nowMs });
      } finally {
        // Fails only when the connection is gone, and the lock with it.
        await runner.query('SELECT pg_advisory_unlock($1)', [RETENTION_LOCK]).catch(() => undefined);
      }
    } finally {
      await runner.release();
    }
  }
}
