/** Whether calls were counted and charged: stored events, spent budgets, counters in Redis. */
import { setTimeout as sleep } from 'node:timers/promises';
import { query, withRedis } from './parties.mjs';
import { number, printTable } from './report.mjs';
import { TARGETS } from './targets.mjs';

const PATIENCE_MS = 20_000;
const LOOK_EVERY_MS = 500;
const STORED = `
  SELECT coalesce(sum(requests), 0)::bigint AS calls, coalesce(sum(coalesce(charged_nano_usd, cost_nano_usd)), 0) AS charged,
    coalesce(sum(requests) FILTER (WHERE starts_with(status, 'blocked_')), 0)::bigint AS refused
  FROM usage_events WHERE app_id = $1`;
const SPENT = `
  SELECT coalesce(sum(spent_nano_usd) FILTER (WHERE scope = 'app'), 0) AS of_app,
    coalesce(sum(spent_nano_usd) FILTER (WHERE scope = 'user'), 0) AS of_users
  FROM budget_periods WHERE app_id = $1 AND window_name = 'month'`;

/**
 * Checks that every call of the limited applications is stored, counted and charged consistently.
 *
 * @param {Map<object, number>} answered calls of each caller, at least
 */
export async function requireRecorded({ verdicts }, answered) {
  const rows = [];
  let missing = 0;
  for (const [caller, calls] of answered) {
    if (!caller.name.startsWith('limits')) continue;
    const found = await settled(caller, calls);
    missing += found.missing + found.refused;
    const spentUsd = number(found.spentUsd, 4);
    rows.push([caller.name, calls, found.stored, found.counted ?? '-', found.refused, spentUsd, found.missing]);
  }
  const columns = ['', 'answered', 'stored', 'in Redis', 'refused', 'spent, USD', 'missing'];
  printTable(
    'Counts and spending; more is stored, as calls to warm up and calls cut off at the end are',
    columns,
    rows,
  );
  verdicts.atMost('calls refused, not counted or not charged', missing, TARGETS.callsNotRecorded, 0);
}

/** Waits until everything is stored. */
async function settled(caller, answered) {
  const deadline = performance.now() + PATIENCE_MS;
  for (let before; ; ) {
    const found = await look(caller, answered);
    const isStill = before?.stored === found.stored;
    if ((found.missing === 0 && isStill) || performance.now() > deadline) return found;
    before = found;
    await sleep(LOOK_EVERY_MS);
  }
}

async function look({ appId, party: { databaseUrl, redisUrl } }, answered) {
  const [{ calls, charged, refused }] = await query(databaseUrl, STORED, [appId]);
  const [spent] = await query(databaseUrl, SPENT, [appId]);
  const stored = Number(calls);
  const counted = redisUrl && (await withRedis(redisUrl, (client) => countsOf(client, appId)));
  const isCharged = charged > 0 && spent.of_app === charged && spent.of_users === charged;
  const notCounted = counted ? Math.abs(counted.ofApp - stored) + Math.abs(counted.ofUsers - stored) : 0;
  const missing = Math.max(0, answered - stored) + notCounted + (isCharged ? 0 : stored);
  return { stored, counted: counted?.ofApp, refused: Number(refused), spentUsd: spent.of_app / 1e9, missing };
}

/** The daily counters, found by name. */
async function countsOf(client, appId) {
  const counts = { ofApp: 0, ofUsers: 0 };
  for (const key of await client.keys(`gw:{${appId}}:*:day:*`)) {
    counts[/:day:\d+$/.test(key) ? 'ofApp' : 'ofUsers'] += Number(await client.get(key));
  }
  return counts;
}
