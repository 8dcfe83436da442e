import { Injectable } from '@nestjs/common';
import type { DataSource, EntityManager } from 'typeorm';
import { BackgroundDataSource } from '../../../platform/database/pools.js';

/**
 * Maximum wait for a lock. It also bounds how long other transactions queue behind the lock on the default partition.
 */
const LOCK_TIMEOUT_MS = 2_000;

/** Creates the monthly partitions of `usage_events`. */
@Injectable()
export class UsagePartitionsRepository {
  constructor(private readonly dataSource: BackgroundDataSource) {}

  /**
   * Creates the partition of a UTC month if it does not exist, and moves that month's events from the default partition
   * into it. Concurrent creators are excluded; writers of events are not.
   *
   * @param month `YYYY-MM`.
   * @throws unknown when a lock times out; nothing has changed then.
   */
  async create(month: string): Promise<void> {
    if (await exists(this.dataSource, month)) return;
    await this.dataSource.transaction(async (tx) => {
      await tx.query(`SET LOCAL lock_timeout = ${LOCK_TIMEOUT_MS}`);
      await tx.query('LOCK TABLE ONLY usage_events IN SHARE UPDATE EXCLUSIVE MODE');
      if (await exists(tx, month)) return;
      const [bounds] = await tx.query<{ from: string; to: string }[]>(
        `SELECT to_char(month, 'YYYY-MM-DD 00:00:00+00') AS "from",
           to_char(month + interval '1 month', 'YYYY-MM-DD 00:00:00+00') AS "to"
         FROM (SELECT to_date($1, 'YYYY-MM') AS month) wanted`,
        [month],
      );
      if (bounds === undefined) return;
      const table = tableOf(month);
      await tx.query(`CREATE TABLE ${table} (LIKE usage_events INCLUDING DEFAULTS INCLUDING CONSTRAINTS)`);
      await tx.query('LOCK TABLE usage_events_default IN ACCESS EXCLUSIVE MODE');
      await tx.query(
        `WITH moved AS (DELETE FROM usage_events_default WHERE created_at >= $1 AND created_at < $2 RETURNING *)
         INSERT INTO ${table} SELECT * FROM moved`,
        [bounds.from, bounds.to],
      );
      await tx.query(
        `ALTER TABLE usage_events ATTACH PARTITION ${table} FOR VALUES FROM ('${bounds.from}') TO ('${bounds.to}')`,
      );
    });
  }
}

async function exists(connection: DataSource | EntityManager, month: string): Promise<boolean> {
  const rows: { found: boolean }[] = await connection.query('SELECT to_regclass($1) IS NOT NULL AS found', [
    tableOf(month),
  ]);
  return rows[0]?.found ?? false;
}

function tableOf(month: string): string {
  return `usage_events_${month.replace('-', '_')}`;
}
