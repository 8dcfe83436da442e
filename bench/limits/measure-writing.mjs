/** How many events the database takes, and whether calls feel it: their latency while another process writes as promised. */

import { jsonCall } from '../bodies.mjs';
import { useDatabase } from '../database.mjs';
import { startGateway } from '../gateway.mjs';
import { LoadGenerator } from '../load-generator.mjs';
import { requireAnswer, startPassThrough, startUpstream } from '../party.mjs';
import { number, printTable } from '../report.mjs';
import { medianSummary } from '../statistics.mjs';
import { TARGETS } from '../targets.mjs';

const CALLS_PER_SECOND = 100;
const WARM_MS = 2_000;

/** @param {{ dir: string, rounds: number, seconds: number, verdicts: object }} bench */
export async function measureWriting({ dir, rounds, seconds, verdicts }) {
  const load = await LoadGenerator.start();
  const writer = await LoadGenerator.start('usage/event-writer.mjs');
  const upstream = await startUpstream();
  const targets = [await startPassThrough(upstream.port), await startGateway(upstream.port, dir)];
  for (const target of targets) await requireAnswer(target);
  const database = await useDatabase(`${dir}/data`);
  try {
    const durationMs = (seconds * 1e3) / rounds;
    const writeAs = (rate) => writer.run('write', { url: database.url, rate, durationMs: WARM_MS + durationMs });
    const callFor = () =>
      load.run('openLoop', { targets, body: jsonCall(), ratePerTarget: CALLS_PER_SECOND, warmMs: WARM_MS, durationMs });
    const most = await writeAs(null);
    const [quiet, writing, rates] = [[], [], []];
    for (let round = 0; round < rounds; round += 1) {
      quiet.push(await callFor());
      const [written, calls] = await Promise.all([writeAs(TARGETS.eventsPerSecond), callFor()]);
      rates.push(written.perSecond);
      writing.push(calls);
    }
    report({ most, quiet, writing, rates }, targets, verdicts);
  } finally {
    await database.close();
  }
  return [{ name: 'this gateway' }];
}

function report({ most, quiet, writing, rates }, targets, verdicts) {
  const cells = (name, runs, at) => {
    const { p50, p99, max } = medianSummary(runs.map((run) => run[at]));
    const failed = runs.reduce((sum, run) => sum + run[at].failed, 0);
    return [name, number(p50, 3), number(p99, 3), number(max, 3), failed];
  };
  const rows = targets.flatMap(({ name }, at) => [
    cells(`${name}, nobody writes`, quiet, at),
    cells(`${name}, ${number(Math.min(...rates))} events/s`, writing, at),
  ]);
  const columns = ['latency, ms from due', 'p50', 'p99', 'max', 'failed'];
  printTable(`Calls beside a writer, open loop, ${CALLS_PER_SECOND} calls/s each`, columns, rows);
  const addedP99Ms = medianSummary(writing.map(([bare, ours]) => ({ p50: 0, p99: ours.p99 - bare.p99, max: 0 }))).p99;
  verdicts.atLeast('events stored per second, nothing else running', most.perSecond, TARGETS.eventsPerSecond, 0);
  verdicts.atLeast('events stored per second beside calls', Math.min(...rates), 0.98 * TARGETS.eventsPerSecond, 0);
  verdicts.atMost('added latency p99 beside the writer, ms', addedP99Ms, TARGETS.addedWhileWritingP99Ms, 3);
}
