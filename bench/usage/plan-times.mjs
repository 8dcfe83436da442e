/**
 * Measures every query of recorded usage on a database that `generate-usage` has filled:
 * `npm run build && node bench/usage/plan-times.mjs --url=postgres://…`
 *
 * Each is asked for the application that is used most, once cold and then several times; what is printed is the first
 * time and the median of the others, in milliseconds. Where the database is on this machine and its processes may be
 * looked at, the CPU time that the first one took follows: on a busy machine that is what counts. Processes that help
 * with a query are not in it.
 */
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { Secret } from '../../dist/src/common/log/secret.js';
import { createDataSource } from '../../dist/src/platform/database/data-source.js';
import { UsageRepository } from '../../dist/src/usage/recording/usage.repository.js';
import { USAGE_DIMENSIONS } from '../../dist/src/usage/recording/usage-columns.js';
import { firstEventDay } from '../../dist/src/usage/recording/usage-range.rules.js';
import { UsageSumsRepository } from '../../dist/src/usage/recording/usage-sums.repository.js';
import { UserSharesRepository } from '../../dist/src/usage/reports/user-shares.repository.js';
import { UserViewsRepository } from '../../dist/src/users/user-views.repository.js';

const BOUND_MS = 300;
const REPEATS = 5;

const { values } = parseArgs({ options: { url: { type: 'string' } } });
if (values.url === undefined) throw new Error('--url names the database to ask');
const dataSource = await createDataSource({
  url: new Secret(values.url),
  applicationName: 'plan-times',
  poolSize: 1,
  entities: [],
  migrations: [],
}).initialize();
const usage = new UsageRepository(dataSource);
const sums = new UsageSumsRepository(dataSource);
const shares = new UserSharesRepository(dataSource);
const users = new UserViewsRepository(dataSource);

const [{ backend }] = await dataSource.query('SELECT pg_backend_pid() AS backend');

const [busiest] = await dataSource.query(`
  SELECT organization_id, app_id FROM usage_days GROUP BY organization_id, app_id ORDER BY sum(requests) DESC LIMIT 1`);
if (busiest === undefined) throw new Error('there is no usage: fill the database with generate-usage first');
const { organization_id: organizationId, app_id: id } = busiest;
const app = { organizationId, id };
const [middle] = await dataSource.query(
  `SELECT user_id, id FROM usage_events WHERE organization_id = $1 AND app_id = $2 AND user_id IS NOT NULL
   ORDER BY id DESC LIMIT 1 OFFSET 1000`,
  [organizationId, id],
);
const [known] = await dataSource.query(
  'SELECT response_id FROM usage_events WHERE organization_id = $1 AND app_id = $2 ORDER BY id DESC LIMIT 1',
  [organizationId, id],
);
const [{ month, today, first }] = await dataSource.query(`
  SELECT to_char(now(), 'YYYY-MM') AS month, to_char(now(), 'YYYY-MM-DD') AS today,
    to_char(now() - interval '29 days', 'YYYY-MM-DD') AS first`);
const [{ yearAgo, ninety, week, monthEnd, nextMonth }] = await dataSource.query(`
  SELECT to_char(now() - interval '364 days', 'YYYY-MM-DD') AS "yearAgo",
    to_char(now() - interval '89 days', 'YYYY-MM-DD') AS ninety,
    to_char(now() - interval '6 days', 'YYYY-MM-DD') AS week,
    to_char(date_trunc('month', now()) - interval '3 days', 'YYYY-MM-DD') AS "monthEnd",
    to_char(date_trunc('month', now()) + interval '1 day', 'YYYY-MM-DD') AS "nextMonth"`);

function breakdown(by, from, { to = today, limit = 50 } = {}) {
  if (by !== 'user') return sums.sumByKey(app, { from, to }, by, limit);
  return shares.sumByUser(app, { from, to }, limit, firstEventDay(today));
}

const listed = await users.list(app, { limit: 200, offset: 0 });
const userIds = listed.map((user) => user.id);

const page = (filter) => usage.listEvents(organizationId, id, { limit: 50, ...filter });
const queries = {
  sumMonth: () => usage.sumMonth(organizationId, id, month),
  sumMonthByApp: () => usage.sumMonthByApp(organizationId, [id], month),
  sumMonthOfAll: () => usage.sumMonthOfAll(organizationId, month),
  hasEvents: () => usage.hasEvents(organizationId),
  'hasEvents, none': () => usage.hasEvents('nobody'),
  'hasEventsOfApp, none': () => usage.hasEventsOfApp('nothing'),
  'countFailuresByDay, 30 days': () => usage.countFailuresByDay(app, first, today),
  'countFailuresByDay, 365 days': () => usage.countFailuresByDay(app, yearAgo, today),
  findResponseUser: () => usage.findResponseUser(id, known.response_id),
  'findResponseUser, none': () => usage.findResponseUser(id, 'resp_none'),
  findUserMonth: () => usage.findUserMonth(app, middle.user_id, today),
  listEvents: () => page({}),
  'listEvents, 200': () => page({ limit: 200 }),
  'listEvents, old page': () => page({ beforeId: Number(middle.id) }),
  'listEvents, status ok': () => page({ status: 'ok' }),
  'listEvents, status blocked_billing (rare)': () => page({ status: 'blocked_billing' }),
  'listEvents, status none': () => page({ status: 'blocked_nothing' }),
  'listEvents, provider openai': () => page({ provider: 'openai' }),
  'listEvents, provider none': () => page({ provider: 'mistral' }),
  'listEvents, model common': () => page({ model: 'gpt-4.1-mini' }),
  'listEvents, model rare': () => page({ model: 'rare-model' }),
  'listEvents, model and rare status': () => page({ model: 'gpt-4.1-mini', status: 'blocked_billing' }),
  'listEvents, user busy': () => page({ user: 'user-0' }),
  'listEvents, user': () => page({ user: middle.user_id }),
  'listEvents, user none': () => page({ user: 'nobody' }),
  'listEvents, user busy and rare status': () => page({ user: 'user-0', status: 'blocked_billing' }),
  'listEvents, old page of a provider': () => page({ provider: 'openai', beforeId: Number(middle.id) }),
  'users, a page': () => users.list(app, { limit: 50, offset: 0 }),
  'users, a late page': () => users.list(app, { limit: 50, offset: 50_000 }),
  'users, by a part of the id': () => users.list(app, { limit: 50, offset: 0, query: 'er-99' }),
  'users, how many': () => users.count(app, {}),
  'users, how many of each application': () => users.countByApp(organizationId),
  'users, the month of a page': () => usage.listUserMonths(app, userIds, month),
  'timeseries, 30 days': () => sums.sumByDay(app, { from: first, to: today }),
  'timeseries, 365 days': () => sums.sumByDay(app, { from: yearAgo, to: today }),
  ...Object.fromEntries(
    USAGE_DIMENSIONS.flatMap((by) => [
      [`breakdown by ${by}, 30 days`, () => breakdown(by, first)],
      [`breakdown by ${by}, 90 days`, () => breakdown(by, ninety)],
    ]),
  ),
  'breakdown by user, today': () => breakdown('user', today),
  'breakdown by user, 7 days': () => breakdown('user', week),
  'breakdown by user, 5 days of two months': () => breakdown('user', monthEnd, { to: nextMonth }),
  'breakdown by user, 365 days': () => breakdown('user', yearAgo),
  'breakdown by user, 30 days, 200 rows': () => breakdown('user', first, { limit: 200 }),
  'breakdown by user, 90 days, 200 rows': () => breakdown('user', ninety, { limit: 200 }),
};

/** CPU time that the database's process has used, in milliseconds; NaN where nobody can tell. */
function cpuMs() {
  try {
    return Number(readFileSync(`/proc/${backend}/schedstat`, 'utf8').split(' ')[0]) / 1e6;
  } catch {
    return Number.NaN;
  }
}

/** Infinity for a query that was cut off; that is not asked again. */
async function timesOf(query) {
  const times = [];
  const cpuBeforeMs = cpuMs();
  let firstCpuMs = Number.NaN;
  for (let round = 0; round <= REPEATS; round++) {
    const startedMs = performance.now();
    try {
      await query();
    } catch {
      return { times: [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY], firstCpuMs };
    }
    times.push(performance.now() - startedMs);
    if (round === 0) firstCpuMs = cpuMs() - cpuBeforeMs;
  }
  return { times, firstCpuMs };
}

let slow = 0;
for (const [name, query] of Object.entries(queries)) {
  const { times, firstCpuMs } = await timesOf(query);
  const [cold, ...warm] = times;
  const median = warm.toSorted((a, b) => a - b)[Math.floor(warm.length / 2)];
  if (cold > BOUND_MS) slow++;
  const columns = [cold, median, firstCpuMs].map((ms) => (Number.isNaN(ms) ? '-' : ms.toFixed(1)).padStart(9));
  console.log(`${name.padEnd(48)} ${columns.join(' ')}${cold > BOUND_MS ? '  over' : ''}`);
}
console.log(`${slow} of ${Object.keys(queries).length} took longer than ${BOUND_MS} ms at first`);
await dataSource.destroy();
