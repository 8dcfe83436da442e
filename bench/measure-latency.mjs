/** Added latency at a moderate fixed rate: every party gets the same calls at the same time, in turn. */
import { jsonCall } from './bodies.mjs';
import { number, printTable } from './report.mjs';
import { medianSummary } from './statistics.mjs';
import { TARGETS } from './targets.mjs';

const RATE_PER_PARTY = 100;
const FIRST_WARM_MS = 2_000;
const LATER_WARM_MS = 200;

/** @param {{ load: object, upstream: object, parties: import('./party.mjs').Party[], rounds: number, seconds: number, verdicts: object }} bench */
export async function measureLatency({ load, upstream, parties, rounds, seconds, verdicts }) {
  const targets = [upstream, ...parties];
  const baseAt = targets.findIndex(({ name }) => name === 'pass-through');
  const runs = [];
  for (let round = 0; round < rounds; round += 1) {
    const warmMs = round === 0 ? FIRST_WARM_MS : LATER_WARM_MS;
    const times = { ratePerTarget: RATE_PER_PARTY, warmMs, durationMs: (seconds * 1e3) / rounds };
    runs.push(await load.run('openLoop', { targets, body: jsonCall(), ...times }));
  }
  const latencies = targets.map((_, i) => medianSummary(runs.map((run) => run[i])));
  const added = targets.map((_, i) => medianSummary(runs.map((run) => difference(run[i], run[baseAt]))));
  const rows = targets.map(({ name }, i) => {
    const failed = runs.reduce((sum, run) => sum + run[i].failed, 0);
    const { p50, p99, max } = latencies[i];
    return [name, ...[p50, p99, max, added[i].p50, added[i].p99].map((ms) => number(ms, 3)), failed];
  });
  const columns = ['latency, ms from due', 'p50', 'p99', 'max', 'added p50', 'added p99', 'failed'];
  printTable(`Latency, open loop, ${RATE_PER_PARTY} calls/s each, medians of ${rounds} rounds`, columns, rows);
  const gateway = added[targets.findIndex(({ name }) => name === 'this gateway')];
  if (!gateway) return;
  verdicts.atMost('added latency p50, ms', gateway.p50, TARGETS.addedP50Ms, 3);
  verdicts.atMost('added latency p99, ms', gateway.p99, TARGETS.addedP99Ms, 3);
}

const difference = (one, other) => ({ p50: one.p50 - other.p50, p99: one.p99 - other.p99, max: one.max - other.max });
