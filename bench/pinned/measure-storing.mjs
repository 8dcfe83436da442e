/** How many events one writer stores beside calls, what each costs Postgres, and whether the sums agree with them. */
import pg from 'pg';
import { jsonCall } from '../bodies.mjs';
import { LoadGenerator } from '../load-generator.mjs';
import { number, printTable } from '../report.mjs';
import { cpuSeconds } from '../resources.mjs';
import { median } from '../statistics.mjs';
import { TARGETS } from '../targets.mjs';
import { FEW_USERS, MANY_USERS } from '../usage/event-writer.mjs';
import { forUser, query, startCallers, startGateway } from './parties.mjs';

const CALLS_PER_SECOND = 100;
const WARM_MS = 2_000;
const LOOK_EVERY_MS = 500;
/** As the calls of this bench, and as an account with many users: each event then changes three rows of its own. */
const USAGES = [FEW_USERS, MANY_USERS];

/** The Postgres process that serves the writer. */
const BACKEND = "SELECT pid FROM pg_stat_activity WHERE application_name = 'write-rate'";
/** The least that these rows cost: copies that need no reading of JSON, no look for doubles and no sums. */
const COPIED = 20_000;
const COPY = `CREATE TEMP TABLE copies AS
  SELECT * FROM usage_events WHERE organization_id = 'write-rate' ORDER BY id LIMIT ${COPIED};
  ANALYZE copies`;
const RENAME = `UPDATE copies SET id = nextval('usage_event_ids'),
  event_id = left(event_id, 12) || left(md5(id::text || random()::text), 20)`;
/** The same rows, of which no list can be read, with what stores each of them only once. */
const UNLISTED = `CREATE TABLE unlisted_events (LIKE usage_events INCLUDING DEFAULTS);
  CREATE UNIQUE INDEX ON unlisted_events (event_id)`;
const COPIES = 5;
const SUMS = `
  SELECT (SELECT sum(requests) FROM usage_events WHERE organization_id = 'write-rate') AS events,
    (SELECT sum(requests) FROM usage_days WHERE organization_id = 'write-rate') AS days,
    (SELECT sum(requests) FROM usage_user_days WHERE organization_id = 'write-rate') AS user_days,
    (SELECT sum(requests) FROM usage_user_months WHERE organization_id = 'write-rate') AS user_months,
    (SELECT sum(cost_nano_usd) FROM usage_events WHERE organization_id = 'write-rate') AS cost,
    (SELECT sum(spent_nano_usd) FROM budget_months WHERE organization_id = 'write-rate' AND user_id = '') AS spent`;

export async function measureStoring({ dir, databases, upstream, load, seconds, verdicts }) {
  const writer = await LoadGenerator.start('usage/event-writer.mjs');
  const durationMs = seconds * 1e3;
  const rows = [];
  for (const [at, usage] of USAGES.entries()) {
    const databaseUrl = await databases.create();
    const started = await startGateway({ dir: `${dir}/storing-${at}`, databaseUrl });
    const gateway = await startCallers(started, upstream.port, [{ name: 'no limits' }]);
    const targets = [forUser(gateway.callers[0], 'caller')];
    const backend = watchBackend(databaseUrl);
    const [written, [calls]] = await Promise.all([
      writer.run('write', { url: databaseUrl, rate: null, durationMs: WARM_MS + durationMs, usage }),
      load.run('openLoop', { targets, body: jsonCall(), ratePerTarget: CALLS_PER_SECOND, warmMs: WARM_MS, durationMs }),
    ]);
    const eventUs = (1e6 * backend.stop()) / written.stored;
    const agrees = await sumsAgree(databaseUrl, written.stored);
    const least = await leastCostsUs(databaseUrl);
    await gateway.stop();
    const who = `${usage.users} users of ${usage.apps} applications`;
    rows.push([
      ...[who, number(written.perSecond), ...[eventUs, least.listed, least.unlisted].map((us) => number(us, 1))],
      ...[agrees ? 'agree' : 'DIFFER', number(calls.p99, 2), calls.failed],
    ]);
    verdicts.atLeast(`pinned: events stored per second, ${who}`, written.perSecond, TARGETS.storedPerSecond, 0);
    verdicts.atMost(`pinned: CPU of Postgres for an event, us, ${who}`, eventUs, TARGETS.storedUs, 1);
    verdicts.atLeast(`pinned: sums agree, ${who}`, agrees ? 1 : 0, 1, 0);
  }
  const columns = [
    'events of',
    'events/s',
    'Postgres, us an event',
    'rows and indexes alone',
    'with the unique id only',
    'sums',
    'calls p99 ms',
    'failed',
  ];
  printTable(`A writer beside ${CALLS_PER_SECOND} calls/s`, columns, rows);
}

async function sumsAgree(databaseUrl, stored) {
  const [{ events, days, user_days: userDays, user_months: userMonths, cost, spent }] = await query(databaseUrl, SUMS);
  return [events, days, userDays, userMonths].every((count) => Number(count) === stored) && cost === spent;
}

/** CPU of Postgres for rows alone, microseconds each: with the indexes of `usage_events`, and with the unique id alone. */
async function leastCostsUs(databaseUrl) {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    await client.query(COPY);
    await client.query(UNLISTED);
    const [{ pid }] = (await client.query('SELECT pg_backend_pid() AS pid')).rows;
    const costUs = async (table) => {
      await client.query(RENAME);
      const before = cpuSeconds(pid);
      await client.query(`INSERT INTO ${table} SELECT * FROM copies ORDER BY id`);
      return (1e6 * (cpuSeconds(pid) - before)) / COPIED;
    };
    const costs = { usage_events: [], unlisted_events: [] };
    for (let copy = 0; copy < COPIES; copy += 1) {
      for (const table of Object.keys(costs)) costs[table].push(await costUs(table));
    }
    return { listed: median(costs.usage_events), unlisted: median(costs.unlisted_events) };
  } finally {
    await client.end();
  }
}

/** Reads the CPU time of the backend while it lives; it ends with its writer. */
function watchBackend(databaseUrl) {
  let usedSeconds = 0;
  let pid;
  const timer = setInterval(async () => {
    pid ??= (await query(databaseUrl, BACKEND))[0]?.pid;
    if (pid !== undefined) usedSeconds = Math.max(usedSeconds, cpuSecondsIfAlive(pid));
  }, LOOK_EVERY_MS);
  return {
    stop: () => {
      clearInterval(timer);
      return usedSeconds;
    },
  };
}

function cpuSecondsIfAlive(pid) {
  try {
    return cpuSeconds(pid);
  } catch {
    return 0;
  }
}
