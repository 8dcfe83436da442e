import type { DataSource } from 'typeorm';
import { SystemClock } from '../../common/clock.js';
import { SystemIds } from '../../common/ids.js';
import { Log } from '../../common/log/log.js';
import { Secret } from '../../common/log/secret.js';
import type { Environment } from '../../platform/config/environment.js';
import { createDataSource } from '../../platform/database/data-source.js';
import { runMigrations } from '../../platform/database/migrate.js';
import { MIGRATIONS } from '../../platform/database/migration-list.js';
import { openDatabase } from '../../platform/open-platform.js';

const RANDOM_CHARACTERS = 12;

/**
 * Runs work on a new, fully migrated database and drops it: on the server of `DATABASE_URL`, or on the embedded one.
 *
 * @throws Error when Postgres is unavailable or refuses to create a database.
 */
export async function withMigratedDatabase<T>(
  environment: Environment,
  work: (dataSource: DataSource) => Promise<T>,
): Promise<T> {
  const clock = new SystemClock();
  const ids = new SystemIds();
  const name = `gateway_docs_${ids.base36(RANDOM_CHARACTERS)}`;
  const server = await openDatabase(environment, ids, new Log(clock, 'error', () => undefined));
  try {
    return await withConnection(server.url, async (admin) => {
      await admin.query(`CREATE DATABASE ${name} TEMPLATE template0`);
      try {
        const url = urlOf(server.url, name);
        await runMigrations({ url, migrations: MIGRATIONS, clock, waitMs: 0 });
        return await withConnection(url, work);
      } finally {
        await admin.query(`DROP DATABASE ${name} WITH (FORCE)`);
      }
    });
  } finally {
    await server.stop();
  }
}

async function withConnection<T>(url: Secret, work: (dataSource: DataSource) => Promise<T>): Promise<T> {
  const dataSource = createDataSource({
    url,
    poolSize: 1,
    applicationName: 'gateway-docs',
    statementTimeoutMs: 0,
    entities: [],
    migrations: [],
  });
  await dataSource.initialize();
  try {
    return await work(dataSource);
  } finally {
    await dataSource.destroy();
  }
}

/** The URL with another database name. */
function urlOf(url: Secret, database: string): Secret {
  const other = new URL(url.reveal());
  other.pathname = `/${database}`;
  return new Secret(other.href);
}
