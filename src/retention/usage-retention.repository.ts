import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { startOfDay } from '../platform/database/utc-sql.js';
import { SUM_COLUMNS } from '../usage/usage-sum-columns.js';

/** What totals still tell apart once the events are gone. Source: docs/reference/accounting.md#nightly-work. */
const LASTING = ['provider_type', 'model', 'status'].join(', ');

const SUMS = SUM_COLUMNS.map((name) => `sum(${name})`).join(', ');

const RAISE = SUM_COLUMNS.map((name) => `${name} = known.${name} + excluded.${name}`).join(', ');

/** The first `$3` events after the id `$2`, and whichever come in between meanwhile. */
const DELETE_EVENTS = `
  WITH chunk AS (
    SELECT max(id) AS last_id FROM (
      SELECT event.id FROM usage_events event WHERE event.id > $2 AND event.created_at < ${startOfDay(1)}
      ORDER BY event.id LIMIT $3) old),
  gone AS (
    DELETE FROM usage_events event
    WHERE event.id > $2 AND event.id <= (SELECT last_id FROM chunk) AND event.created_at < ${startOfDay(1)} RETURNING 1)
  SELECT chunk.last_id, (SELECT count(*)::integer FROM gone) AS count FROM chunk`;

/**
 * Rows of `usage_days` of before the day `$1`, oldest first, at most `$2` of them. What a writer of late events holds at
 * the moment is left for later: this statement holds rows in an order of its own, and whoever does must wait for nobody.
 */
const deleteDays = (which: string) => `
  DELETE FROM usage_days WHERE ctid = ANY (ARRAY(
    SELECT old.ctid FROM usage_days old WHERE old.day < $1 AND ${which} ORDER BY old.day LIMIT $2
    FOR UPDATE SKIP LOCKED))
  RETURNING organization_id, app_id, day, ${LASTING}, ${SUM_COLUMNS.join(', ')}`;

/**
 * Only rows that were made of events have a route (migration 9). What is summed up is what this statement deleted, and it
 * is added in the same statement: a row that others change, or delete, meanwhile counts once.
 */
const COARSEN_DAYS = `
  WITH fine AS (${deleteDays('old.route IS NOT NULL')}),
  coarse AS (
    INSERT INTO usage_days AS known (organization_id, app_id, day, ${LASTING}, ${SUM_COLUMNS.join(', ')})
    SELECT organization_id, app_id, day, ${LASTING}, ${SUMS} FROM fine GROUP BY organization_id, app_id, day, ${LASTING}
    ON CONFLICT (app_id, day, dimensions) DO UPDATE SET ${RAISE})
  SELECT count(*)::integer AS count FROM fine`;

/** Days whose events are still there stay, so that repricing finds a row for each of them. */
const FOLD_DAYS = `
  WITH days AS (${deleteDays('old.route IS NULL')}),
  months AS (
    INSERT INTO usage_months AS known (organization_id, app_id, month, ${LASTING}, ${SUM_COLUMNS.join(', ')})
    SELECT organization_id, app_id, date_trunc('month', day::timestamp)::date AS month, ${LASTING}, ${SUMS}
    FROM days GROUP BY organization_id, app_id, date_trunc('month', day::timestamp)::date, ${LASTING}
    ON CONFLICT (app_id, month, provider_type, model, status, organization_id) DO UPDATE SET ${RAISE})
  SELECT count(*)::integer AS count FROM days`;

/**
 * Folding `usage_events` and the sums of them, of all accounts at once. Each statement leaves every total of an
 * application, type of provider, model and status what it was, so that it does not matter which is the last one. Days
 * are UTC, `YYYY-MM-DD`, and the one that is named stays.
 */
@Injectable()
export class UsageRetentionRepository {
  /** Names of the tables below `usage_events`. */
  async listPartitions(connection: EntityManager): Promise<string[]> {
    const rows: { name: string }[] = await connection.query(
      `SELECT child.relname AS name FROM pg_inherits JOIN pg_class child ON child.oid = inhrelid
       WHERE inhparent = 'usage_events'::regclass ORDER BY 1`,
    );
    return rows.map((row) => row.name);
  }

  /**
   * Drops a partition with all it holds, which the sums have had since it was stored. Whoever reads or stores events
   * waits until that is done, and it waits for them: no longer than a moment.
   *
   * @param name of one of {@link listPartitions}.
   * @throws unknown `55P03` from Postgres when others held the table for longer.
   */
  async dropPartition(connection: EntityManager, name: string, patienceMs: number): Promise<void> {
    await connection.transaction(async (tx) => {
      await tx.query(`SET LOCAL lock_timeout = ${patienceMs}`);
      // The whole before its part, as everybody else does: two that wait for each other would both lose their time.
      await tx.query('LOCK TABLE ONLY usage_events IN ACCESS EXCLUSIVE MODE');
      await tx.query(`DROP TABLE IF EXISTS ${name}`);
    });
  }

  /**
   * Deletes events of before a day, by their ids, upwards.
   *
   * @param afterId where the last chunk ended; `0` at first.
   * @returns how many, about `limit` at most, and where it ended: `null` when there were none.
   */
  async deleteEvents(
    connection: EntityManager,
    before: string,
    afterId: string,
    limit: number,
  ): Promise<{ readonly count: number; readonly lastId: string | null }> {
    const [row]: { count: number; last_id: string | null }[] = await connection.query(DELETE_EVENTS, [
      before,
      afterId,
      limit,
    ]);
    return { count: row?.count ?? 0, lastId: row?.last_id ?? null };
  }

  /** Sums rows of days up to what outlasts their events. @returns how many it took up, at most `limit`. */
  coarsenDays(connection: EntityManager, before: string, limit: number): Promise<number> {
    return count(connection, COARSEN_DAYS, before, limit);
  }

  /** Forgets what single users did on days. @returns how many rows it deleted, at most `limit`. */
  deleteUserDays(connection: EntityManager, before: string, limit: number): Promise<number> {
    const statement = `
      WITH gone AS (
        DELETE FROM usage_user_days WHERE ctid = ANY (ARRAY(
          SELECT old.ctid FROM usage_user_days old WHERE old.day < $1 ORDER BY old.day LIMIT $2
          FOR UPDATE SKIP LOCKED))
        RETURNING 1)
      SELECT count(*)::integer AS count FROM gone`;
    return count(connection, statement, before, limit);
  }

  /**
   * Forgets months of users in which they did nothing on the day, or after it. What they used is part of the
   * application's sums and stays there. @returns how many rows it deleted, at most `limit`.
   */
  deleteUserMonths(connection: EntityManager, before: string, limit: number): Promise<number> {
    const statement = `
      WITH gone AS (
        DELETE FROM usage_user_months WHERE ctid = ANY (ARRAY(
          SELECT old.ctid FROM usage_user_months old
          WHERE old.month <= date_trunc('month', $1::date::timestamp)::date AND old.last_at < ${startOfDay(1)}
          ORDER BY old.month LIMIT $2 FOR UPDATE SKIP LOCKED))
        RETURNING 1)
      SELECT count(*)::integer AS count FROM gone`;
    return count(connection, statement, before, limit);
  }

  /** Adds days to their months and forgets them. @returns how many rows of days it took up, at most `limit`. */
  foldDays(connection: EntityManager, before: string, limit: number): Promise<number> {
    return count(connection, FOLD_DAYS, before, limit);
  }
}

async function count(connection: EntityManager, statement: string, before: string, limit: number): Promise<number> {
  const [row]: { count: number }[] = await connection.query(statement, [before, limit]);
  return row?.count ?? 0;
}
