import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { DataSource } from 'typeorm';
import { AuthEventsRepository } from '../../../../src/client-auth/events/auth-events.repository.js';
import { Secret } from '../../../../src/common/log/secret.js';
import { createDataSource } from '../../../../src/platform/database/data-source.js';
import { firstOrganizationId } from '../../../support/accounts/accounts.js';
import { startWorld, type World } from '../../../support/world.js';

const EVENTS = 20_000;
const PAGE = 50;

let world: World;
/** One connection, so that a transaction can report what it has read. */
let dataSource: DataSource;

beforeAll(async () => {
  world = await startWorld();
  dataSource = await createDataSource({
    url: new Secret(world.databaseUrl),
    applicationName: 'auth-event-pages',
    poolSize: 1,
    entities: [],
    migrations: [],
  }).initialize();
});

afterAll(async () => {
  await dataSource.destroy();
  await world.stop();
});

async function rowsReadBy(action: () => Promise<unknown>): Promise<number> {
  await dataSource.query('BEGIN');
  await action();
  const [row] = await dataSource.query<{ rows: number }[]>(
    `SELECT (seq_tup_read + idx_tup_fetch)::integer AS rows FROM pg_stat_xact_user_tables WHERE relname = 'auth_events'`,
  );
  await dataSource.query('COMMIT');
  return row?.rows ?? Number.NaN;
}

describe('pages of authentication events', () => {
  it('an application with many events of one kind, filtered by the other kind → a page reads about one page of rows', async () => {
    const { id } = await world.app();
    const organizationId = await firstOrganizationId(dataSource);
    await dataSource.query(
      `INSERT INTO auth_events (event_id, organization_id, app_id, event, outcome, created_at)
       SELECT gen_random_uuid(), $1, $2, 'token_exchange', 'ok', now() FROM generate_series(1, $3::integer)`,
      [organizationId, id, EVENTS],
    );
    await dataSource.query('ANALYZE auth_events');
    const repository = new AuthEventsRepository(dataSource);
    const read = await rowsReadBy(() => repository.list({ id, organizationId }, { limit: PAGE }));
    expect(read).toBeGreaterThanOrEqual(PAGE);
    expect(read).toBeLessThan(PAGE * 4);
  });
});
