import type { DataSource } from 'typeorm';
import { Secret } from '../../common/log/secret.js';
import { createDataSource } from '../../platform/database/data-source.js';

/** A connection to the same database without the statement timeout, for scans of millions of events; to be destroyed. */
export function patientDataSource({ options }: DataSource): Promise<DataSource> {
  if (options.type !== 'postgres' || options.url === undefined) throw new Error('the database has no address');
  return createDataSource({
    url: new Secret(options.url),
    poolSize: 1,
    applicationName: 'gateway-verify-ledger',
    statementTimeoutMs: 0,
    entities: [],
    migrations: [],
  }).initialize();
}
