/** Whether calls were counted and charged: what is stored, what budgets say is spent, what Redis has counted. */
import { setTimeout as sleep } from 'node:timers/promises';
import { useDatabase } from '../database.mjs';
import { withRedis } from '../redis.mjs';

const PATIENCE_MS = 20_000;
const LOOK_EVERY_MS = 500;

const STORED = `
  SELECT coalesce(sum(requests), 0)::bigint AS calls, coalesce(sum(coalesce(charged_nano_usd, cost_nano_usd)), 0) AS charged,
    coalesce(sum(requests) FILTER (WHERE starts_with(status, 'blocked_')), 0)::bigint AS refused
  FROM usage_events WHERE app_id = $1`;
const SPENT = `
  SELECT coalesce(sum(spent_nano_usd) FILTER (WHERE user_id = ''), 0) AS of_app,
    coalesce(sum(spent_nano_usd) FILTER (WHERE user_id <> ''), 0) AS of_users
  FROM budget_months WHERE app_id = $1`;

/**
 * Waits until all that will be stored is stored.
 *
 * @param {{ dataDir: string, appId: string, answered: number, redisUrl?: string }} calls
 * @returns `stored`, `counted` (of the application, in Redis), `refused`, `spentUsd`, and `missing`: calls that are
 *   stored, counted or charged in one place and not in another; none should be
 */
export async function readRecorded({ dataDir, appId, answered, redisUrl }) {
  const database = await useDatabase(dataDir);
  try {
    const deadline = performance.now() + PATIENCE_MS;
    for (let before; ; ) {
      const found = await look(database, { appId, answered, redisUrl });
      const isStill = before?.stored === found.stored;
      if ((found.missing === 0 && isStill) || performance.now() > deadline) return found;
      before = found;
      await sleep(LOOK_EVERY_MS);
    }
  } finally {
    await database.close();
  }
}

async function look({ query }, { appId, answered, redisUrl }) {
  const [{ calls, charged, refused }] = await query(STORED, [appId]);
  const [spent] = await query(SPENT, [appId]);
  const stored = Number(calls);
  const counted = redisUrl ? await countsInRedis(redisUrl, appId) : { ofApp: Number.NaN, ofUsers: Number.NaN };
  const isCharged = charged > 0 && spent.of_app === charged && spent.of_users === charged;
  const notCounted = redisUrl ? Math.abs(counted.ofApp - stored) + Math.abs(counted.ofUsers - stored) : 0;
  const missing = Math.max(0, answered - stored) + notCounted + (isCharged ? 0 : stored);
  return { stored, counted: counted.ofApp, refused: Number(refused), spentUsd: spent.of_app / 1e9, missing };
}

/** The counters of days, told by their names. */
function countsInRedis(url, appId) {
  return withRedis(url, async (client) => {
    const counts = { ofApp: 0, ofUsers: 0 };
    for (const key of await client.keys(`gw:{${appId}}:*:day:*`)) {
      counts[/:day:\d+$/.test(key) ? 'ofApp' : 'ofUsers'] += Number(await client.get(key));
    }
    return counts;
  });
}
