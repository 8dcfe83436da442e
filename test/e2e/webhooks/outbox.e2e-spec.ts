import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import pg from 'pg';
import { eventBodyOf, eventIdOf, outboxParts } from '../../../src/platform/outbox/outbox-statements.js';
import { eventually } from '../../support/eventually.js';
import { dropDatabase, freshDatabase } from '../../support/platform/database.js';

const TYPE = `'budget.threshold_reached'`;

/** A statement that stores an event for each threshold of `$3`, a budget of `$4`, in this order. */
const CROSSING = `
  WITH crossed AS (SELECT threshold::numeric, place FROM unnest($3::text[]) WITH ORDINALITY AS one(threshold, place)),
  told AS (
    SELECT ${eventIdOf({
      ...{ type: TYPE, account: '$1', app: '$2', scope: `'app'`, id: '$2', window: `'month'` },
      ...{ periodStart: `timestamptz '2030-01-01T00:00:00Z'`, threshold: 'threshold', budget: '$4::bigint' },
    })} AS id,
      $1::text AS organization_id, ${TYPE} AS type, $2::text AS app_id, 'app:' || $2 AS subject,
      ${eventBodyOf(TYPE, 'now()', `json_build_object('threshold', threshold)`)} AS body, now() AS at, place
    FROM crossed),
  ${outboxParts('told')}
  SELECT`;

let url: string;
let pool: pg.Pool;
let account: string;
let accounts = 0;

beforeAll(async () => {
  url = await freshDatabase();
  pool = new pg.Pool({ connectionString: url });
  // The end of the pool does not wait for sockets: dropping the database may end some of them.
  pool.on('connect', (client) => client.on('error', () => undefined));
});

afterAll(async () => {
  await pool.end();
  await dropDatabase(url);
});

beforeEach(async () => {
  account = `account-${++accounts}`;
  await pool.query('INSERT INTO organizations (id, name, created_at) VALUES ($1, $1, now())', [account]);
});

async function webhook({
  id = `${account}-hook`,
  events = null as string[] | null,
  apps = null as string[] | null,
} = {}) {
  await pool.query(
    `INSERT INTO webhooks (id, organization_id, name, url, events, app_ids, enabled, secret_blob, created_by, created_at,
       updated_at, leased_until) VALUES ($1, $2, 'Hook', 'https://hooks.acme.com', $3, $4, true, '', '', now(), now(), now())`,
    [id, account, events, apps],
  );
  return id;
}

const cross = (client: pg.Pool | pg.PoolClient, thresholds: string[], budget = 5, app = 'app-1') =>
  client.query(CROSSING, [account, app, thresholds, budget]);

/** Thresholds by delivery, in the order in which they are sent. */
async function delivered(id: string): Promise<number[]> {
  const { rows } = await pool.query<{ body: string }>(
    `SELECT event.body FROM webhook_deliveries delivery JOIN webhook_events event ON event.id = delivery.event_id
      WHERE delivery.webhook_id = $1 ORDER BY delivery.id`,
    [id],
  );
  return rows.map(({ body }) => JSON.parse(body).data.threshold);
}

it('several events of one statement → each once, delivered in their order in the statement', async () => {
  const id = await webhook();
  await cross(pool, ['0.5', '0.8', '1', '0.50', '1.0']);
  expect(await delivered(id)).toEqual([0.5, 0.8, 1]);
});

it('the same key again, even in another time zone or format → no event; another budget → another event', async () => {
  const id = await webhook();
  await cross(pool, ['0.5']);
  const client = await pool.connect();
  await client.query(`SET TIME ZONE 'Asia/Tokyo'`);
  await cross(client, ['0.500']);
  client.release(true);
  expect(await delivered(id)).toEqual([0.5]);
  await cross(pool, ['0.5'], 6);
  expect(await delivered(id)).toEqual([0.5, 0.5]);
});

it('the same key in ten statements at once → one event', async () => {
  const id = await webhook();
  await Promise.all(Array.from({ length: 10 }, () => cross(pool, ['1', '0.5'])));
  expect((await delivered(id)).toSorted()).toEqual([0.5, 1]);
});

it('filters → only events that match both; without a webhook nothing is stored', async () => {
  await cross(pool, ['0.5']);
  const stored = 'SELECT FROM webhook_events WHERE organization_id = $1';
  expect((await pool.query(stored, [account])).rowCount).toBe(0);
  const exact = await webhook({ id: `${account}-exact`, events: ['budget.threshold_reached'] });
  const prefix = await webhook({ id: `${account}-prefix`, events: ['app.*', 'budget.*'], apps: ['app-1'] });
  const others = [
    await webhook({ id: `${account}-type`, events: ['budget.exhausted'] }),
    await webhook({ id: `${account}-app`, apps: ['app-2'] }),
  ];
  await cross(pool, ['0.5']);
  expect([await delivered(exact), await delivered(prefix)]).toEqual([[0.5], [0.5]]);
  expect(await Promise.all(others.map(delivered))).toEqual([[], []]);
});

it('a webhook is deleted meanwhile → the statement waits and succeeds, for the remaining webhooks', async () => {
  const [gone, left] = [await webhook(), await webhook({ id: `${account}-left` })];
  const deleting = await pool.connect();
  await deleting.query('BEGIN');
  await deleting.query('DELETE FROM webhooks WHERE id = $1', [gone]);
  const crossing = cross(pool, ['0.5']);
  const waiting = `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;
  await eventually(async () => (await pool.query(waiting)).rowCount === 1, { withinMs: 10_000 });
  await deleting.query('COMMIT');
  deleting.release();
  await crossing;
  expect([await delivered(gone), await delivered(left)]).toEqual([[], [0.5]]);
});
