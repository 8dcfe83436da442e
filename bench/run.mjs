/**
 * The ratio benchmark: `npm run bench -- [--quick] [--only=json,latency,…] [--seconds=N]`; SUITES lists what there is.
 * With `--pinned` the measured process has a core for itself (pinned/pinned-bench.mjs).
 *
 * Every party runs as its own process on the loopback; what counts is the CPU time of the measured process, because a
 * ratio of CPU times survives a busy machine and a wall-clock rate does not. Missed targets are printed, not fatal; the
 * exit code is 1 only when this gateway could not be measured. Nothing is written to the repository.
 */
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { measureAuthentication } from './auth/auth-bench.mjs';
import { startCaddy } from './caddy.mjs';
import { measureEndpoints } from './endpoints/endpoints-bench.mjs';
import { startGateway } from './gateway.mjs';
import { measureAdmission } from './limits/measure-admission.mjs';
import { measureLimits } from './limits/measure-limits.mjs';
import { measureWorkers } from './limits/measure-workers.mjs';
import { measureWriting } from './limits/measure-writing.mjs';
import { LoadGenerator } from './load-generator.mjs';
import { measureHeld } from './measure-held.mjs';
import { measureJson } from './measure-json.mjs';
import { measureLatency } from './measure-latency.mjs';
import { measureStreams } from './measure-streams.mjs';
import { measureSyncing } from './measure-syncing.mjs';
import { requireAnswer, startPassThrough, startUpstream } from './party.mjs';
import { measurePinned, PINNED_SUITES } from './pinned/pinned-bench.mjs';
import { startPortkey } from './portkey.mjs';
import { stopChildren } from './processes.mjs';
import { Verdicts } from './report.mjs';
import { measureTranscriptions } from './transcription-memory.mjs';
import { warmUp } from './warm-up.mjs';

/** Suites that share a start with others, and those that have their own. */
const TOGETHER = ['json', 'latency', 'stream', 'memory', 'leave'];
const APART = [
  { suites: ['token', 'exchange'], what: 'authentication', measure: measureAuthentication },
  { suites: ['endpoint', 'fallback'], what: 'endpoints', measure: measureEndpoints },
  { suites: ['transcription'], what: 'transcription', measure: measureTranscriptions },
  { suites: ['limits'], what: 'limits', measure: measureLimits },
  { suites: ['admission'], what: 'admission', measure: measureAdmission },
  { suites: ['workers'], what: 'workers', measure: measureWorkers },
  { suites: ['writing'], what: 'writing', measure: measureWriting },
  { suites: ['syncing'], what: 'syncing', measure: measureSyncing },
];
const SUITES = [...TOGETHER, ...APART.flatMap(({ suites }) => suites)];
const QUICK = { rounds: 2, seconds: 4, streams: 2_000 };
const FULL = { rounds: 3, seconds: 12, streams: 9_000 };
const LONGEST_RUN_MS = 30 * 60_000;
/** A proxy holds two sockets for each stream, and some files of its own. */
const SPARE_FILES = 200;

function readOptions() {
  const { values } = parseArgs({
    options: {
      quick: { type: 'boolean', default: false },
      pinned: { type: 'boolean', default: false },
      against: { type: 'string' },
      only: { type: 'string' },
      seconds: { type: 'string' },
    },
  });
  const suites = values.pinned ? PINNED_SUITES : SUITES;
  const wants = new Set(values.only?.split(',') ?? suites);
  const unknown = [...wants].filter((suite) => !suites.includes(suite));
  if (unknown.length > 0) throw new Error(`--only knows ${suites.join(', ')}, not ${unknown.join(', ')}`);
  const size = values.quick ? QUICK : FULL;
  const seconds = Number(values.seconds ?? size.seconds);
  if (!(seconds >= 1 && seconds <= 120)) throw new Error('--seconds takes 1 to 120');
  return { ...size, seconds, wants, isPinned: values.pinned, against: values.against && path.resolve(values.against) };
}

/** The open-file limit Node will have raised itself to; unlimited where the shell cannot tell. */
function openFileLimit() {
  const answer = spawnShell('ulimit -Hn');
  return /^\d+$/.test(answer) ? Number(answer) : Number.POSITIVE_INFINITY;
}

function spawnShell(command) {
  return process.platform === 'win32' ? '' : execFileSync('sh', ['-c', command], { encoding: 'utf8' }).trim();
}

/** Starts one party and tries one call; a party that cannot run is named with the reason and left out. */
async function tryStart(name, start) {
  try {
    const party = await start();
    await requireAnswer(party);
    return [party];
  } catch (error) {
    console.log(`skipped: ${name}: ${error.message}`);
    return [];
  }
}

function freshDirectory(tempDir) {
  const dir = mkdtempSync(path.join(tempDir, 'run-'));
  /** The embedded database may run as another user, who must be able to reach its directory below this one. */
  chmodSync(dir, 0o711);
  return dir;
}

/** Fresh processes on a fresh data directory. */
async function startAll(tempDir, { isCompared }) {
  const dir = freshDirectory(tempDir);
  const upstream = await startUpstream();
  const parties = [
    await startPassThrough(upstream.port),
    ...(await tryStart('this gateway', () => startGateway(upstream.port, dir))),
    ...(isCompared ? await tryStart('portkey', () => startPortkey(upstream.port)) : []),
    ...(isCompared ? await tryStart('caddy', () => startCaddy(upstream.port, dir)) : []),
  ];
  return { upstream, parties, load: await LoadGenerator.start() };
}

async function measureCalls(options, tempDir, verdicts) {
  const bench = { ...options, ...(await startAll(tempDir, { isCompared: true })), verdicts };
  await warmUp(bench);
  if (options.wants.has('json')) await measureJson(bench);
  if (options.wants.has('latency')) await measureLatency(bench);
  if (options.wants.has('stream')) await measureStreams(bench);
  await stopChildren();
  return bench.parties;
}

/** In processes of their own: a heap that grew under load would swallow the streams and make them look free. */
async function measureHolding(options, tempDir, verdicts) {
  const files = openFileLimit();
  const streams = Math.min(options.streams, Math.floor((files - SPARE_FILES) / 2));
  if (streams < options.streams) console.log(`only ${streams} streams: raise the open-file limit for more (ulimit -n)`);
  const bench = { ...options, streams, ...(await startAll(tempDir, { isCompared: false })), verdicts };
  await measureHeld(bench);
  await stopChildren();
  return bench.parties;
}

/** What cannot be measured is named; the verdicts on the rest are printed all the same. */
async function measureApart(what, measure, { options, tempDir, verdicts }) {
  try {
    return await measure({ ...options, dir: freshDirectory(tempDir), verdicts });
  } catch (error) {
    console.log(`skipped: ${what}: ${error.message}`);
    return [];
  } finally {
    await stopChildren();
  }
}

async function main(tempDir) {
  const options = readOptions();
  console.log(`node ${process.version}, ${os.cpus().length} x ${os.cpus()[0]?.model}, ${openFileLimit()} open files`);
  const verdicts = new Verdicts();
  if (options.isPinned) {
    await measurePinned({ ...options, dir: freshDirectory(tempDir), verdicts });
    verdicts.print();
    return 0;
  }
  const wantsAny = (...suites) => suites.some((suite) => options.wants.has(suite));
  const measured = [];
  if (wantsAny('json', 'latency', 'stream')) measured.push(await measureCalls(options, tempDir, verdicts));
  if (wantsAny('memory', 'leave')) measured.push(await measureHolding(options, tempDir, verdicts));
  const apart = { options, tempDir, verdicts };
  for (const { suites, what, measure } of APART) {
    if (wantsAny(...suites)) measured.push(await measureApart(what, measure, apart));
  }
  verdicts.print();
  return measured.every((parties) => parties.some(({ name }) => name === 'this gateway')) ? 0 : 1;
}

const tempDir = mkdtempSync(path.join(os.tmpdir(), 'gateway-bench-'));
chmodSync(tempDir, 0o711);

let isFinishing = false;

async function finish(exitCode) {
  if (isFinishing) return;
  isFinishing = true;
  await stopChildren();
  rmSync(tempDir, { recursive: true, force: true });
  process.exit(exitCode);
}

// Ctrl-C under npm arrives twice: from the terminal and from npm.
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => finish(130));
setTimeout(() => {
  console.error('the bench took too long and was stopped');
  return finish(2);
}, LONGEST_RUN_MS).unref();

main(tempDir).then(finish, (error) => {
  console.error(error.message);
  return finish(1);
});
