/** How long a start takes on a migrated database, and how much memory an idle process holds. */
import { setTimeout as sleep } from 'node:timers/promises';
import { number, printTable } from '../report.mjs';
import { residentBytes } from '../resources.mjs';
import { median } from '../statistics.mjs';
import { TARGETS } from '../targets.mjs';
import { startEmptyApplication, startGateway, startPassThrough } from './parties.mjs';

const STARTS = 5;
const SETTLE_MS = 10_000;

export async function measureStart({ dir, databases, upstream, against, verdicts }) {
  const emptyUrl = await databases.create();
  const rows = [
    rowOf('pass-through', await startsOf(() => startPassThrough(upstream.port))),
    rowOf('empty application of the same packages', await startsOf(() => startEmptyApplication(emptyUrl))),
  ];
  const builds = [{ name: 'this build' }, ...(against ? [{ name: 'other build', dist: against }] : [])];
  for (const { name, dist } of builds) {
    const databaseUrl = await databases.create();
    const start = () => startGateway({ dir: `${dir}/start-${name.replace(' ', '-')}`, databaseUrl, dist });
    const first = await start();
    await first.stop();
    const starts = await startsOf(start);
    rows.push(rowOf(name, starts));
    if (name !== 'this build') continue;
    verdicts.atMost('ready after, ms (migrated database)', median(starts.readyMs), TARGETS.readyMs, 0);
    verdicts.atMost('idle resident memory, MiB', starts.idleMib, TARGETS.idleMib, 0);
  }
  printTable(`Start, ${STARTS} times`, ['', 'ready, ms', 'slowest', 'idle, MiB'], rows);
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
  const idleMib = residentBytes(party.pid) / 2 ** 20;
  await party.stop();
  return { readyMs, idleMib };
}

function rowOf(name, { readyMs, idleMib }) {
  return [name, number(median(readyMs)), number(Math.max(...readyMs)), number(idleMib)];
}
