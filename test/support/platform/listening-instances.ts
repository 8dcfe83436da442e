import type { DataSource } from 'typeorm';

/**
 * How many instances listen for changes in a database. One that has lost its connection hears of nothing; what it has
 * in memory is stale when it hears of changes again.
 */
export async function listeningInstances(dataSource: DataSource): Promise<number> {
  const [{ listeners }] = await dataSource.query(
    `SELECT count(*)::int AS listeners FROM pg_stat_activity
     WHERE datname = current_database() AND application_name = 'gateway-config' AND state = 'idle' AND query <> ''`,
  );
  return listeners;
}
