/** Event streams: CPU per chunk, party by party in rounds; then delay per chunk and first byte, all parties at once. */
import { streamCall } from './bodies.mjs';
import { Efficiency } from './efficiency.mjs';
import { number, printTable } from './report.mjs';
import { median, medianSummary } from './statistics.mjs';
import { TARGETS } from './targets.mjs';

const CHUNKS = 100;
const INTERVAL_MS = 20;
const STREAMS_FOR_CPU = 150;
const STREAMS_FOR_DELAY = 15;
const WARM_MS = 1_500;

/** @param {{ load: object, upstream: object, parties: import('./party.mjs').Party[], rounds: number, seconds: number, verdicts: object }} bench */
export async function measureStreams(bench) {
  await measureCpu(bench);
  await measureDelay(bench);
}

const job = (targets, streamsPerTarget, durationMs) => ({
  targets,
  body: streamCall(CHUNKS, INTERVAL_MS),
  streamsPerTarget,
  intervalMs: INTERVAL_MS,
  warmMs: WARM_MS,
  durationMs,
});

async function measureCpu({ load, parties, rounds, seconds, verdicts }) {
  const efficiency = new Efficiency('chunks');
  for (let round = 0; round < rounds; round += 1) {
    for (const party of parties) {
      const [run] = await load.run('runStreams', job([party], STREAMS_FOR_CPU, (seconds * 1e3) / rounds));
      efficiency.add(party, run);
    }
  }
  efficiency.print(`Streams, ${STREAMS_FOR_CPU} at once, a chunk every ${INTERVAL_MS} ms`, 'chunks');
  const ratio = efficiency.ratio('this gateway', 'pass-through');
  verdicts.atLeast('stream chunks per CPU-s, of pass-through', ratio, TARGETS.streamOfPassThrough);
}

async function measureDelay({ load, upstream, parties, rounds, seconds, verdicts }) {
  const targets = [upstream, ...parties];
  const baseAt = targets.findIndex(({ name }) => name === 'pass-through');
  const runs = [];
  for (let round = 0; round < rounds; round += 1) {
    runs.push(await load.run('runStreams', job(targets, STREAMS_FOR_DELAY, (seconds * 1e3) / rounds)));
  }
  const addedMs = targets.map((_, i) => median(runs.map((run) => run[i].chunkDelay.p99 - run[baseAt].chunkDelay.p99)));
  const rows = targets.map(({ name }, i) => {
    const chunk = medianSummary(runs.map((run) => run[i].chunkDelay));
    const first = medianSummary(runs.map((run) => run[i].firstByte));
    const failed = runs.reduce((sum, run) => sum + run[i].failed, 0);
    return [name, ...[chunk.p50, chunk.p99, addedMs[i], first.p50, first.p99].map((ms) => number(ms, 3)), failed];
  });
  const columns = ['delay, ms', 'chunk p50', 'chunk p99', 'added p99', 'first byte p50', 'first byte p99', 'failed'];
  const title = `Delay of chunks, ${STREAMS_FOR_DELAY} streams each, all parties at once, medians of ${rounds} rounds`;
  printTable(title, columns, rows);
  const gatewayAt = targets.findIndex(({ name }) => name === 'this gateway');
  if (gatewayAt !== -1) verdicts.atMost('added time per chunk p99, ms', addedMs[gatewayAt], TARGETS.addedChunkP99Ms, 3);
}
