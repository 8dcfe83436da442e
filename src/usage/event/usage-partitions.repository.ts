import { Injectable } from '@nestjs/common';
import type { DataSource, EntityManager } from 'typeorm';
import { BackgroundDataSource } from '../../platform/database/background-data-source.js';

/** Longest it may keep others from the partition of events of other times, and wait for those who are in there. */
const LOCK_TIMEOUT_MS = 2_000;

/** What keeps `usage_events` in partitions. */
@Injectable()
export class UsagePartitionsRepository {
  constructor(private readonly dataSource: BackgroundDataSource) {}

  /**
   * Makes the partition of a UTC month, unless it is there, with the events of that month that were stored meanwhile
   * among those of other times. Nobody else makes one at the same time; whoever stores events goes on.
   *
   * @param month `YYYY-MM`.
   * @throws unknown when others are in the way for too long; nothing has changed then.
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
