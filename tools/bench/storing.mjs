/**
 * How many events one writer stores during calls, what each costs Postgres, also if a webhook needs budgets, and
 * whether the sums match.
 */
import { jsonCall } from './bodies.mjs';
import { startWorker } from './jobs.mjs';
import { cpuSeconds, ifAlive } from './meter.mjs';
import { query } from './parties.mjs';
import { number, printTable } from './report.mjs';
import { TARGETS } from './targets.mjs';

const CALLS_PER_SECOND = 100;
const WARM_MS = 2_000;
const LOOK_EVERY_MS = 500;
/** Like the calls of this bench, and like an account with many users: each event then changes three separate rows. */
const USAGES = [
  { apps: 1, users: 64, models: 1, versions: 1 },
  { apps: 20, users: 20_000, models: 12, versions: 6 },
  { apps: 1, users: 64, models: 1, versions: 1, isWatched: true },
];
/** Every budget of users and of the application, so high that none is passed, and a webhook for them. */
const WATCHED_CONFIG = JSON.stringify({
  limits: Object.fromEntries(
    ['per_user', 'per_app'].map((limits) => [
      limits,
      { spending: { daily_usd: 1e6, weekly_usd: 1e6, monthly_usd: 1e6, total_usd: 1e6 } },
    ]),
  ),
});
const WATCH = `
  WITH account AS (
    INSERT INTO organizations (id, name, created_at) VALUES ('event-writer', 'Events', now()) RETURNING id, created_at),
  app AS (
    INSERT INTO apps (id, organization_id, name, config, authentication_type, revision, status, created_at, updated_at)
    SELECT 'event-writer-0', id, 'Events', '${WATCHED_CONFIG}', 'api_key', 1, 'active', created_at, created_at FROM account)
  INSERT INTO webhooks (id, organization_id, name, url, events, enabled, secret_blob, created_by, created_at, updated_at,
    leased_until)
  SELECT 'webhook', id, 'Events', 'https://events.example', '{budget.*}', true, '', 'bench', created_at, created_at,
    created_at FROM account`;
/** The Postgres process that serves the writer. */
const BACKEND = "SELECT pid FROM pg_stat_activity WHERE application_name = 'event-writer'";
const SUMS = `
  SELECT (SELECT sum(requests) FROM usage_events WHERE organization_id = 'event-writer') AS events,
    (SELECT sum(requests) FROM usage_days WHERE organization_id = 'event-writer') AS days,
    (SELECT sum(requests) FROM usage_user_days WHERE organization_id = 'event-writer') AS user_days,
    (SELECT sum(requests) FROM usage_user_months WHERE organization_id = 'event-writer') AS user_months,
    (SELECT sum(cost_nano_usd) FROM usage_events WHERE organization_id = 'event-writer') AS cost,
    (SELECT sum(spent_nano_usd) FROM budget_periods WHERE organization_id = 'event-writer' AND scope = 'app' AND window_name = 'month') AS spent`;

export async function measureStoring(bench) {
  const writer = await startWorker('event-writer.mjs');
  const rows = [];
  for (const usage of USAGES) rows.push(await store(bench, writer, usage));
  const columns = ['events of', 'events/s', 'Postgres, us an event', 'sums', 'calls p99 ms', 'failed'];
  printTable(`A writer beside ${CALLS_PER_SECOND} calls/s`, columns, rows);
}

async function store(bench, writer, usage) {
  const gateway = await bench.startCallers([{ name: 'no limits' }]);
  const [{ target }] = gateway.callers;
  if (usage.isWatched) await query(gateway.databaseUrl, WATCH);
  const backend = watchBackend(gateway.databaseUrl);
  const times = { warmMs: WARM_MS, durationMs: bench.seconds * 1e3 };
  const [{ stored, perSecond }, calls] = await Promise.all([
    writer.run('write', { url: gateway.databaseUrl, usage, ...times }),
    bench.load.run('openLoop', { target, body: jsonCall(), callsPerSecond: CALLS_PER_SECOND, ...times }),
  ]);
  const eventUs = (1e6 * backend.stop()) / stored;
  const agrees = await sumsAgree(gateway.databaseUrl, stored);
  await gateway.stop();
  const who = `${usage.users} users of ${usage.apps} applications${usage.isWatched ? ', webhook for budgets' : ''}`;
  bench.verdicts.atLeast(`events stored per second, ${who}`, perSecond, TARGETS.storedPerSecond, 0);
  bench.verdicts.atMost(`CPU of Postgres for an event, us, ${who}`, eventUs, TARGETS.storedUs, 1);
  bench.verdicts.atLeast(`sums agree, ${who}`, agrees ? 1 : 0, 1, 0);
  const figures = [number(perSecond), number(eventUs, 1), agrees ? 'agree' : 'DIFFER', number(calls.p99, 2)];
  return [who, ...figures, calls.failed];
}

async function sumsAgree(databaseUrl, stored) {
  const [{ events, days, user_days: userDays, user_months: userMonths, cost, spent }] = await query(databaseUrl, SUMS);
  return [events, days, userDays, userMonths].every((count) => Number(count) === stored) && cost === spent;
}

/** Reads the CPU time of the backend while it lives; it ends with its writer. */
function watchBackend(databaseUrl) {
  let usedSeconds = 0;
  let pid;
  const timer = setInterval(async () => {
    pid ??= (await query(databaseUrl, BACKEND))[0]?.pid;
    if (pid !== undefined) usedSeconds = Math.max(usedSeconds, ifAlive(() => cpuSeconds(pid)) ?? 0);
  }, LOOK_EVERY_MS);
  return {
    stop: () => {
      clearInterval(timer);
      return usedSeconds;
    },
  };
}
