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
  const builds = [{ name: 'this build' }, ...(against ? [{ name: 'other build', dist: against }] : [])];
  const rows = [];
  const others = [
    ['pass-through', () => startPassThrough(upstream.port)],
    ['empty application of the same packages', async () => startEmptyApplication(await databases.create())],
  ];
  for (const [name, start] of others) {
    const other = await start();
    await sleep(SETTLE_MS);
    rows.push([name, '-', '-', number(residentBytes(other.pid) / 2 ** 20)]);
    await other.stop();
  }
  for (const { name, dist } of builds) {
    const databaseUrl = await databases.create();
    const start = () => startGateway({ dir: `${dir}/start-${name.replace(' ', '-')}`, databaseUrl, dist });
    const first = await start();
    await first.stop();
    const readyMs = [];
    let idleMib = 0;
    for (let at = 0; at < STARTS; at += 1) {
      const gateway = await start();
      readyMs.push(gateway.readyMs);
      if (at === STARTS - 1) {
        await sleep(SETTLE_MS);
        idleMib = residentBytes(gateway.pid) / 2 ** 20;
      }
      await gateway.stop();
    }
    rows.push([name, number(median(readyMs)), number(Math.max(...readyMs)), number(idleMib)]);
    if (name !== 'this build') continue;
    verdicts.atMost('ready after, ms (migrated database)', median(readyMs), TARGETS.readyMs, 0);
    verdicts.atMost('idle resident memory, MiB', idleMib, TARGETS.idleMib, 0);
  }
  printTable(`Start, ${STARTS} times`, ['', 'ready, ms', 'slowest', 'idle, MiB'], rows);
}
