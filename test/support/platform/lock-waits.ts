import type { DataSource } from 'typeorm';
import { eventually } from '../eventually.js';

/** Statements of this database that wait for somebody else's transaction, with the text in them. */
export async function waitingStatements(dataSource: DataSource, text = ''): Promise<string[]> {
  const rows: { query: string }[] = await dataSource.query(
    `SELECT query FROM pg_stat_activity
      WHERE datname = current_database() AND wait_event_type = 'Lock' AND strpos(query, $1) > 0`,
    [text],
  );
  return rows.map(({ query }) => query);
}

/** Waits until there are as many. */
export function untilStatementWaits(dataSource: DataSource, text = '', count = 1): Promise<void> {
  return eventually(async () => (await waitingStatements(dataSource, text)).length >= count, { withinMs: 20_000 });
}
