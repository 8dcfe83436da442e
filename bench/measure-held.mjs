/** Thousands of slow streams: memory for each, whether it stays flat, and what their leaving at once does to others. */
import { setTimeout as sleep } from 'node:timers/promises';
import { streamCall } from './bodies.mjs';
import { HealthWatch } from './health-watch.mjs';
import { number, printTable } from './report.mjs';
import { residentBytes } from './resources.mjs';
import { TARGETS } from './targets.mjs';

const CHUNK_EVERY_MS = 2_000;
const FOREVER_CHUNKS = 1_000_000;
const WARM_STREAMS = 200;
const SETTLE_MS = 3_000;
const WATCH_AFTER_LEAVING_MS = 8_000;
const KIB = 1024;

/** @param {{ load: object, parties: import('./party.mjs').Party[], streams: number, seconds: number, wants: Set<string>, verdicts: object }} bench */
export async function measureHeld({ load, parties, streams, seconds, wants, verdicts }) {
  const held = [];
  for (const party of parties.filter(({ healthPath }) => healthPath)) {
    held.push({ name: party.name, ...(await holdAndLeave(load, party, streams, seconds)) });
  }
  const gateway = held.find(({ name }) => name === 'this gateway');
  if (wants.has('memory')) printMemory(held, streams, seconds, gateway, verdicts);
  if (wants.has('leave')) printLeave(held, gateway, verdicts);
}

async function holdAndLeave(load, party, streams, seconds) {
  const body = streamCall(FOREVER_CHUNKS, CHUNK_EVERY_MS);
  await load.run('holdStreams', { target: party, body, count: WARM_STREAMS });
  await load.run('leaveStreams', {});
  await sleep(SETTLE_MS);
  const idle = residentBytes(party.pid);
  const { opened, refused } = await load.run('holdStreams', { target: party, body, count: streams });
  await sleep(SETTLE_MS);
  const full = residentBytes(party.pid);
  await sleep(seconds * 1e3);
  const later = residentBytes(party.pid);
  const watch = new HealthWatch(party.port, party.healthPath);
  await sleep(1_000);
  const calmMs = watch.longestMs();
  const { left } = await load.run('leaveStreams', {});
  await sleep(WATCH_AFTER_LEAVING_MS);
  const stallMs = watch.longestMs();
  watch.stop();
  return { idle, full, later, gone: residentBytes(party.pid), opened, refused, left, calmMs, stallMs };
}

const perStreamKib = ({ idle, opened }, bytes) => (bytes - idle) / KIB / opened;

function printMemory(held, streams, seconds, gateway, verdicts) {
  const mib = (bytes) => number(bytes / KIB / KIB, 1);
  const rows = held.map((party) => {
    const sizes = [mib(party.idle), mib(party.full), mib(party.later), mib(party.gone)];
    const each = [number(perStreamKib(party, party.full), 1), number(perStreamKib(party, party.later), 1)];
    return [party.name, party.opened, party.refused, ...sizes, ...each];
  });
  const columns = [
    'resident MiB',
    'open',
    'refused',
    'idle',
    'all open',
    `${seconds} s later`,
    'all left',
    'KiB each',
    'later',
  ];
  printTable(`Memory, ${streams} open streams, a chunk every ${CHUNK_EVERY_MS} ms`, columns, rows);
  if (!gateway) return;
  verdicts.atLeast('streams held', gateway.opened, streams, 0);
  verdicts.atMost('memory per open stream, KiB', perStreamKib(gateway, gateway.later), TARGETS.kibPerStream, 1);
  const drift = perStreamKib(gateway, gateway.later) - perStreamKib(gateway, gateway.full);
  verdicts.atMost('growth per stream while open, KiB', drift, TARGETS.driftKibPerStream, 1);
}

function printLeave(held, gateway, verdicts) {
  const rows = held.map(({ name, left, calmMs, stallMs }) => [name, left, number(calmMs, 1), number(stallMs, 1)]);
  const columns = ['longest health answer, ms', 'clients leaving', 'before', 'after'];
  printTable('All clients leave at once', columns, rows);
  if (gateway) verdicts.atMost('stall when all clients leave, ms', gateway.stallMs, TARGETS.stallMs, 0);
}
