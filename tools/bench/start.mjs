/** How long a start takes on a migrated database, and how much memory an idle process holds. */
import { setTimeout as sleep } from 'node:timers/promises';
import { residentMib } from './meter.mjs';
import { number, printTable } from './report.mjs';
import { median } from './statistics.mjs';
import { TARGETS } from './targets.mjs';

const STARTS = 5;
const SETTLE_MS = 10_000;

export async function measureStart(bench) {
  const [emptyUrl, databaseUrl] = [await bench.createDatabase(), await bench.createDatabase()];
  const startBuild = (dist) => () => bench.startGateway({ databaseUrl, dist });
  await (await startBuild()()).stop();
  const ours = await startsOf(startBuild());
  const rows = [
    rowOf('pass-through', await startsOf(() => bench.startPassThrough())),
    rowOf('empty application of the same packages', await startsOf(() => bench.startEmptyApplication(emptyUrl))),
    rowOf('this build', ours),
  ];
  if (bench.against) rows.push(rowOf('other build', await startsOf(startBuild(bench.against))));
  printTable(`Start, ${STARTS} times`, ['', 'ready, ms', 'slowest', 'idle, MiB'], rows);
  bench.verdicts.atMost('ready after, ms (migrated database)', median(ours.readyMs), TARGETS.readyMs, 0);
  bench.verdicts.atMost('idle resident memory, MiB', ours.idleMib, TARGETS.idleMib, 0);
}

/** @returns how long each start took, milliseconds, and what the last of these processes holds while it is idle */
async function startsOf(start) {
  const readyMs = [];
  let party;
  for (let at = 0; at < STARTS; at += 1) {
    await party?.stop();
    party = await start();
    readyMs.push(party.readyMs);
  }
  await sleep(SETTLE_MS);
  const idleMib = residentMib(party.pid);
  await party.stop();
  return { readyMs, idleMib };
}

function rowOf(name, { readyMs, idleMib }) {
  return [name, number(median(readyMs)), number(Math.max(...readyMs)), number(idleMib)];
}
