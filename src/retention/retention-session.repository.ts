import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import type { Instant } from '../common/clock.js';
import { BackgroundDataSource } from '../platform/database/pools.js';

/** Advisory locks are per database; the number only has to be unique. */
const RETENTION_LOCK = 5_272_024_317;

/** The single connection of a run, and the database time in milliseconds since the epoch. */
export interface RetentionSession {
  readonly connection: EntityManager;
  readonly databaseNowMs: number;
}

/** How a run ended. Source: docs/schema.md, `maintenance_runs`. */
export interface EndedRun {
  readonly startedAtMs: number;
  readonly outcome: 'done' | 'failed' | 'stopped';
}

/** The record of a run. */
export interface LastRun {
  readonly startedAt: Instant;
  readonly endedAt: Instant;
  readonly outcome: EndedRun['outcome'];
}

/** Limits retention to one instance at a time, and keeps how its last run ended. */
@Injectable()
export class RetentionSessions {
  constructor(private readonly dataSource: BackgroundDataSource) {}

  /**
   * Runs the work on a connection that holds the lock. When the connection breaks, lock and work end together: no work
   * continues without the lock, and a killed process leaves no lock.
   *
   * @returns the result of the work; `undefined` when another instance runs retention.
   * @throws unknown the error of Postgres when no connection is available, and any error of the work.
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
        // Fails only when the connection, and with it the lock, is gone.
        await runner.query('SELECT pg_advisory_unlock($1)', [RETENTION_LOCK]).catch(() => undefined);
      }
    } finally {
      await runner.release();
    }
  }

  /** Replaces the record of the run before it. */
  async recordEnd(connection: EntityManager, { startedAtMs, outcome }: EndedRun): Promise<void> {
    await connection.query(
      `INSERT INTO maintenance_runs (started_at, ended_at, outcome)
       VALUES (to_timestamp($1 / 1000.0), clock_timestamp(), $2)
       ON CONFLICT (singleton) DO UPDATE
         SET started_at = excluded.started_at, ended_at = excluded.ended_at, outcome = excluded.outcome`,
      [startedAtMs, outcome],
    );
  }

  /** The last run that has ended; undefined before the first. */
  async lastRun(): Promise<LastRun | undefined> {
    const [row] = await this.dataSource.query<LastRun[]>(
      'SELECT started_at AS "startedAt", ended_at AS "endedAt", outcome FROM maintenance_runs',
    );
    return row;
  }
}
