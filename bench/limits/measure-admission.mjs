/** What admission alone costs a call that is limited in every way: in memory, and with its question to Redis. */
import { jsonCall } from '../bodies.mjs';
import { LoadGenerator } from '../load-generator.mjs';
import { startUpstream } from '../party.mjs';
import { startRedis } from '../redis.mjs';
import { number, printTable } from '../report.mjs';
import { TARGETS } from '../targets.mjs';

const CALLS_PER_SECOND = 100;
const WARM_MS = 2_000;

/** @param {{ dir: string, seconds: number, verdicts: object }} bench */
export async function measureAdmission({ dir, seconds, verdicts }) {
  const upstream = await startUpstream();
  await measureInMemory(`${dir}/memory`, upstream, verdicts);
  await measureInRedis(dir, upstream, seconds, verdicts);
  return [{ name: 'this gateway' }];
}

async function measureInMemory(dir, upstream, verdicts) {
  const stage = await LoadGenerator.start('limits/admission-stage.mjs');
  await stage.run('open', { dir, upstreamPort: upstream.port });
  const { us, least, most, statements } = await stage.run('measureInLoop', {});
  await stage.run('close', {});
  const columns = ['four windows, two budgets', 'CPU us', 'least', 'most', 'database statements'];
  const row = ['in memory', number(us, 2), number(least, 2), number(most, 2), number(statements, 3)];
  printTable('Admission of one call, in a loop within the process', columns, [row]);
  verdicts.atMost('admission in memory, CPU us', us, TARGETS.admissionUs, 1);
  verdicts.atMost('database statements of an admission', statements, TARGETS.admissionStatements, 3);
}

async function measureInRedis(dir, upstream, seconds, verdicts) {
  const redis = await startRedis(dir);
  const stage = await LoadGenerator.start('limits/admission-stage.mjs');
  const target = await stage.run('open', {
    dir: `${dir}/redis-gateway`,
    upstreamPort: upstream.port,
    redisUrl: redis.url,
  });
  const oneByOne = await stage.run('timeOneByOne', {});
  const load = await LoadGenerator.start();
  await load.run('openLoop', {
    targets: [target],
    body: jsonCall(),
    ratePerTarget: CALLS_PER_SECOND,
    warmMs: WARM_MS,
    durationMs: 0,
  });
  await stage.run('takeTimes', {});
  const durationMs = seconds * 1e3;
  const times = { ratePerTarget: CALLS_PER_SECOND, warmMs: 0, durationMs };
  await load.run('openLoop', { targets: [target], body: jsonCall(), ...times });
  const ofCalls = await stage.run('takeTimes', {});
  await stage.run('close', {});
  const rows = [
    ['one after the other', oneByOne],
    [`of calls, ${CALLS_PER_SECOND} a second`, ofCalls],
  ].map(([name, { count, p50, p99, max }]) => [name, count, number(p50, 3), number(p99, 3), number(max, 3)]);
  printTable('Admission with its question to Redis, ms', ['admissions', 'count', 'p50', 'p99', 'max'], rows);
  verdicts.atMost('admission in Redis, one by one, p99, ms', oneByOne.p99, TARGETS.redisRoundTripP99Ms, 3);
  verdicts.atMost('admission in Redis, of calls, p99, ms', ofCalls.p99, TARGETS.redisRoundTripP99Ms, 3);
}
