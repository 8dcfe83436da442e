/** What `JOURNAL_SYNC=always` costs: calls a second, and latency, beside the same gateway that syncs in the background. */
import { jsonCall } from './bodies.mjs';
import { startGateway } from './gateway.mjs';
import { LoadGenerator } from './load-generator.mjs';
import { requireAnswer, startPassThrough, startUpstream } from './party.mjs';
import { number, printTable } from './report.mjs';
import { median, medianSummary } from './statistics.mjs';

const CONNECTIONS = 64;
const CALLS_PER_SECOND = 100;
const WARM_MS = 1_000;

/** @param {{ dir: string, rounds: number, seconds: number }} bench */
export async function measureSyncing({ dir, rounds, seconds }) {
  const load = await LoadGenerator.start();
  const upstream = await startUpstream();
  const targets = [await startPassThrough(upstream.port)];
  for (const sync of ['interval', 'always']) {
    const gateway = await startGateway(upstream.port, `${dir}/${sync}`, { JOURNAL_SYNC: sync });
    targets.push({ ...gateway, name: `JOURNAL_SYNC=${sync}` });
  }
  for (const target of targets) await requireAnswer(target);
  const measure = { body: jsonCall(), warmMs: WARM_MS, durationMs: (seconds * 1e3) / rounds };
  const perSecond = targets.map(() => []);
  const latencies = targets.map(() => []);
  for (let round = 0; round < rounds; round += 1) {
    for (const [at, target] of targets.entries()) {
      const { completed } = await load.run('closedLoop', { target, connections: CONNECTIONS, ...measure });
      perSecond[at].push((completed * 1e3) / measure.durationMs);
    }
    const open = await load.run('openLoop', { targets, ratePerTarget: CALLS_PER_SECOND, ...measure });
    for (const [at, one] of open.entries()) latencies[at].push(one);
  }
  const rows = targets.map(({ name }, at) => {
    const { p50, p99, max } = medianSummary(latencies[at]);
    const failed = latencies[at].reduce((sum, run) => sum + run.failed, 0);
    return [name, number(median(perSecond[at])), ...[p50, p99, max].map((ms) => number(ms, 3)), failed];
  });
  const columns = ['party', `calls/s, ${CONNECTIONS} connections`, `p50 ms, ${CALLS_PER_SECOND} calls/s`, 'p99', 'max'];
  printTable(`Calls that wait for the disk, medians of ${rounds} rounds`, [...columns, 'failed'], rows);
  return [{ name: 'this gateway' }];
}
