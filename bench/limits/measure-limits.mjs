/** What limits cost: the calls of suite `json`, with minute, day and budget of user and application, in memory and in Redis. */
import { jsonCall } from '../bodies.mjs';
import { Efficiency } from '../efficiency.mjs';
import { addProvider, launchGateway } from '../gateway.mjs';
import { LoadGenerator } from '../load-generator.mjs';
import { startPassThrough, startUpstream } from '../party.mjs';
import { startRedis } from '../redis.mjs';
import { number, printTable } from '../report.mjs';
import { TARGETS } from '../targets.mjs';
import { warmUp } from '../warm-up.mjs';
import { AMPLE_LIMITS, addCaller } from './limited-caller.mjs';
import { readRecorded } from './recorded.mjs';

const CONNECTIONS = 64;
const WARM_MS = 1_000;
const IN_MEMORY = 'limits in memory';
const IN_REDIS = 'limits in Redis';

/** @param {{ dir: string, rounds: number, seconds: number, verdicts: object }} bench */
export async function measureLimits({ dir, rounds, seconds, verdicts }) {
  const load = await LoadGenerator.start();
  const upstream = await startUpstream();
  const limited = [await startInMemory(dir, upstream), ...(await tryInRedis(dir, upstream))];
  const parties = [await startPassThrough(upstream.port), ...limited.flatMap(({ callers }) => callers)];
  await warmUp({ load, parties });
  const efficiency = new Efficiency('completed');
  const answered = new Map();
  const call = { body: jsonCall(), connections: CONNECTIONS, warmMs: WARM_MS, durationMs: (seconds * 1e3) / rounds };
  for (let round = 0; round < rounds; round += 1) {
    for (const target of parties) {
      const run = await load.run('closedLoop', { target, ...call });
      efficiency.add(target, run);
      answered.set(target, (answered.get(target) ?? 0) + run.answered);
    }
  }
  efficiency.print(`1 KB JSON calls under limits, closed loop, ${CONNECTIONS} connections, as many users`, 'calls');
  const times = (name) => efficiency.ratio(name, 'pass-through');
  verdicts.atLeast('limits in memory, of pass-through', times(IN_MEMORY), TARGETS.limitedOfPassThrough);
  verdicts.atLeast('limits in Redis, of pass-through', times(IN_REDIS), TARGETS.limitedByRedisOfPassThrough);
  await checkRecorded(limited, answered, verdicts);
  return [{ name: 'this gateway' }];
}

/** Beside it, in the same process, what users and limits come on top of. */
async function startInMemory(dir, upstream) {
  const gateway = await launchGateway(`${dir}/memory`);
  await addProvider(gateway, upstream.port);
  const checked = await addCaller(gateway, IN_MEMORY, AMPLE_LIMITS);
  return { gateway, checked, callers: [await addCaller(gateway, 'users, no limits'), checked] };
}

async function tryInRedis(dir, upstream) {
  try {
    const redis = await startRedis(dir);
    const gateway = await launchGateway(`${dir}/redis-gateway`, { REDIS_URL: redis.url });
    await addProvider(gateway, upstream.port);
    const checked = await addCaller(gateway, IN_REDIS, AMPLE_LIMITS);
    return [{ gateway, checked, redisUrl: redis.url, callers: [checked] }];
  } catch (error) {
    console.log(`skipped: ${IN_REDIS}: ${error.message}`);
    return [];
  }
}

async function checkRecorded(limited, answeredBy, verdicts) {
  const rows = [];
  let missing = 0;
  for (const { gateway, checked, redisUrl } of limited) {
    const answered = answeredBy.get(checked);
    const recorded = await readRecorded({ dataDir: gateway.dataDir, appId: checked.appId, answered, redisUrl });
    const { stored, counted, refused, spentUsd } = recorded;
    missing += recorded.missing + refused;
    rows.push([checked.name, answered, stored, number(counted), refused, number(spentUsd, 4), recorded.missing]);
  }
  const columns = ['what became of the calls', 'answered', 'stored', 'in Redis', 'refused', 'spent, USD', 'missing'];
  printTable(
    'Counts and spending, calls to warm up and calls cut off at the end included in what is stored',
    columns,
    rows,
  );
  verdicts.atMost('calls refused, not counted or not charged', missing, TARGETS.callsNotRecorded, 0);
}
