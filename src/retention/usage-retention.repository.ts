import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { startOfDay } from '../platform/database/utc-sql.js';
import { SUM_COLUMNS, TOTAL_COLUMNS } from '../usage/recording/usage-columns.js';

/** The dimensions that rollups keep without their events. Source: docs/reference/accounting.md#nightly-work. */
const LASTING = ['provider_type', 'model', 'status'].join(', ');

const SUMS = SUM_COLUMNS.map((name) => `sum(${name})`).join(', ');

const RAISE = SUM_COLUMNS.map((name) => `${name} = known.${name} + excluded.${name}`).join(', ');

/** The first `$3` events after the id `$2`, and any inserted between them meanwhile. */
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
 * Up to `$2` rows of `usage_days` before the day `$1`, oldest first. Skips rows that a writer of late events has
 * locked: this statement locks in another order, so waiting could deadlock.
 */
const deleteDays = (which: string) => `
  DELETE FROM usage_days WHERE ctid = ANY (ARRAY(
    SELECT old.ctid FROM usage_days old WHERE old.day < $1 AND ${which} ORDER BY old.day LIMIT $2
    FOR UPDATE SKIP LOCKED))
  RETURNING organization_id, app_id, day, ${LASTING}, ${SUM_COLUMNS.join(', ')}`;

/**
 * Only rows that were made from events have a route (migration 9). One statement deletes the rows and adds their sums,
 * so a concurrently changed or deleted row counts once.
 */
const COARSEN_DAYS = `
  WITH fine AS (${deleteDays('old.route IS NOT NULL')}),
  coarse AS (
    INSERT INTO usage_days AS known (organization_id, app_id, day, ${LASTING}, ${SUM_COLUMNS.join(', ')})
    SELECT organization_id, app_id, day, ${LASTING}, ${SUMS} FROM fine GROUP BY organization_id, app_id, day, ${LASTING}
    ON CONFLICT (app_id, day, dimensions) DO UPDATE SET ${RAISE})
  SELECT count(*)::integer AS count FROM fine`;

/** Keeps days that still have events, so that repricing finds a row for each event. */
const FOLD_DAYS = `
  WITH days AS (${deleteDays('old.route IS NULL')}),
  months AS (
    INSERT INTO usage_months AS known (organization_id, app_id, month, ${LASTING}, ${SUM_COLUMNS.join(', ')})
    SELECT organization_id, app_id, date_trunc('month', day::timestamp)::date AS month, ${LASTING}, ${SUMS}
    FROM days GROUP BY organization_id, app_id, date_trunc('month', day::timestamp)::date, ${LASTING}
    ON CONFLICT (app_id, month, provider_type, model, status, organization_id) DO UPDATE SET ${RAISE})
  SELECT count(*)::integer AS count FROM days`;

/**
 * Merges the rows of several writers, of up to `$1` application months. Skips rows that a writer of events has locked,
 * so nothing waits for each other; they remain for the next run.
 */
const MERGE_APP_MONTHS = `
  WITH spread AS (
    SELECT organization_id, month, app_id FROM usage_app_months GROUP BY organization_id, month, app_id
    HAVING count(*) > 1 LIMIT $1),
  taken AS (
    DELETE FROM usage_app_months WHERE ctid = ANY (ARRAY(
      SELECT known.ctid FROM usage_app_months known JOIN spread USING (organization_id, month, app_id)
      FOR UPDATE OF known SKIP LOCKED))
    RETURNING organization_id, month, app_id, first_day, ${TOTAL_COLUMNS.join(', ')}),
  merged AS (
    INSERT INTO usage_app_months AS known (organization_id, month, app_id, writer, first_day, ${TOTAL_COLUMNS.join(', ')})
    SELECT organization_id, month, app_id, pg_backend_pid(), min(first_day),
      ${TOTAL_COLUMNS.map((name) => `sum(${name})`).join(', ')}
    FROM taken GROUP BY organization_id, month, app_id
    ON CONFLICT (organization_id, month, app_id, writer) DO UPDATE SET
      first_day = least(known.first_day, excluded.first_day),
      ${TOTAL_COLUMNS.map((name) => `${name} = known.${name} + excluded.${name}`).join(', ')}
    RETURNING 1)
  SELECT (SELECT count(*)::integer FROM taken) - (SELECT count(*)::integer FROM merged) AS count`;

/** Daily rollups that are not folded, of users, application keys, groups and latencies. */
export type DetailTable = 'usage_user_days' | 'usage_key_days' | 'usage_group_days' | 'usage_latencies';

/**
 * Folds `usage_events` and their rollups, for all accounts. Each statement preserves every total per application,
 * provider type, model and status, so a run may stop after any of them. Days are UTC, `YYYY-MM-DD`, and exclusive.
 */
@Injectable()
export class UsageRetentionRepository {
  /** Names of the partitions of `usage_events`. */
  async listPartitions(connection: EntityManager): Promise<string[]> {
    const rows: { name: string }[] = await connection.query(
      `SELECT child.relname AS name FROM pg_inherits JOIN pg_class child ON child.oid = inhrelid
       WHERE inhparent = 'usage_events'::regclass ORDER BY 1`,
    );
    return rows.map((row) => row.name);
  }

  /**
   * Drops a partition; the rollups have contained its events since they were stored. Readers and writers of events wait
   * for the drop, and it waits for them, up to `patienceMs`.
   *
   * @param name from {@link listPartitions}.
   * @throws unknown `55P03` from Postgres when the lock was not available in time.
   */
  async dropPartition(connection: EntityManager, name: string, patienceMs: number): Promise<void> {
    await connection.transaction(async (tx) => {
      await tx.query(`SET LOCAL lock_timeout = ${patienceMs}`);
      // Locks the parent before the partition, in the order of all other transactions, which avoids a deadlock.
      await tx.query('LOCK TABLE ONLY usage_events IN ACCESS EXCLUSIVE MODE');
      await tx.query(`DROP TABLE IF EXISTS ${name}`);
    });
  }

  /**
   * Deletes events before a day, in ascending order of id.
   *
   * @param afterId the last id of the previous chunk; `0` at first.
   * @returns the number deleted, about `limit` at most, and the last id: `null` when there were none.
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

  /**
   * Sums daily rows to the dimensions that outlast their events. @returns the number of rows folded, at most `limit`.
   */
  coarsenDays(connection: EntityManager, before: string, limit: number): Promise<number> {
    return count(connection, COARSEN_DAYS, before, limit);
  }

  /** Deletes daily rollups that are kept as long as events. @returns the number of rows deleted, at most `limit`. */
  deleteDetailDays(connection: EntityManager, table: DetailTable, before: string, limit: number): Promise<number> {
    const statement = `
      WITH gone AS (
        DELETE FROM ${table} WHERE ctid = ANY (ARRAY(
          SELECT old.ctid FROM ${table} old WHERE old.day < $1 ORDER BY old.day LIMIT $2
          FOR UPDATE SKIP LOCKED))
        RETURNING 1)
      SELECT count(*)::integer AS count FROM gone`;
    return count(connection, statement, before, limit);
  }

  /**
   * Deletes monthly rollups of users without usage on or after the day. The application's rollups keep the usage.
   * @returns the number of rows deleted, at most `limit`.
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

  /** Folds daily rollups into their months. @returns the number of daily rows folded, at most `limit`. */
  foldDays(connection: EntityManager, before: string, limit: number): Promise<number> {
    return count(connection, FOLD_DAYS, before, limit);
  }

  /** Merges the sums of applications by month. @returns the number of rows that this saves; 0 when nothing is left. */
  async mergeAppMonths(connection: EntityManager, limit: number): Promise<number> {
    const [row]: { count: number }[] = await connection.query(MERGE_APP_MONTHS, [limit]);
    return row?.count ?? 0;
  }
}

async function count(connection: EntityManager, statement: string, before: string, limit: number): Promise<number> {
  const [row]: { count: number }[] = await connection.query(statement, [before, limit]);
  return row?.count ?? 0;
}
