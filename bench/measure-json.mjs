/** Calls per CPU second on 1 KB JSON calls. Parties take turns in rounds; ratios are taken within a round. */
import { jsonCall } from './bodies.mjs';
import { number, printTable } from './report.mjs';
import { median } from './statistics.mjs';
import { TARGETS } from './targets.mjs';

const CONNECTIONS = 64;
const FIRST_WARM_MS = 3_000;
const LATER_WARM_MS = 300;

/** @param {{ load: object, parties: import('./party.mjs').Party[], rounds: number, seconds: number, verdicts: object }} bench */
export async function measureJson({ load, parties, rounds, seconds, verdicts }) {
  const body = jsonCall();
  const runs = new Map(parties.map((party) => [party, []]));
  for (let round = 0; round < rounds; round += 1) {
    for (const target of parties) {
      const warmMs = round === 0 ? FIRST_WARM_MS : LATER_WARM_MS;
      const durationMs = (seconds * 1e3) / rounds;
      runs
        .get(target)
        .push(await load.run('closedLoop', { target, body, connections: CONNECTIONS, warmMs, durationMs }));
    }
  }
  const ratio = ratioOver(runs);
  const rows = parties.map((party) => row(party, runs.get(party), ratio(party, 'pass-through')));
  const columns = ['1 KB JSON call', 'calls/s', 'CPU %', 'calls/CPU-s', 'of pass-through', 'failed', 'children CPU %'];
  printTable(`JSON, closed loop, ${CONNECTIONS} connections`, columns, rows);
  judge(parties, ratio, verdicts);
}

function row(party, runs, ofPassThrough) {
  const total = (member) => runs.reduce((sum, run) => sum + run[member], 0);
  return [
    party.name,
    number(total('completed') / total('seconds')),
    number((100 * total('cpuSeconds')) / total('seconds')),
    number(median(runs.map(efficiency))),
    number(ofPassThrough, 3),
    total('failed'),
    number((100 * total('cpuSecondsBelow')) / total('seconds')),
  ];
}

const efficiency = (run) => run.completed / run.cpuSeconds;

/** The median over rounds of one party's efficiency divided by another's in the same round; NaN when one is absent. */
function ratioOver(runs) {
  return (party, otherName) => {
    const other = [...runs.keys()].find(({ name }) => name.startsWith(otherName));
    if (!party || !other) return Number.NaN;
    return median(runs.get(party).map((run, round) => efficiency(run) / efficiency(runs.get(other)[round])));
  };
}

function judge(parties, ratio, verdicts) {
  const gateway = parties.find(({ name }) => name === 'this gateway');
  verdicts.atLeast('JSON calls per CPU-s, of pass-through', ratio(gateway, 'pass-through'), TARGETS.jsonOfPassThrough);
  verdicts.atLeast('JSON calls per CPU-s, times Portkey', ratio(gateway, 'portkey'), TARGETS.jsonOfPortkey);
  verdicts.atLeast('JSON calls per CPU-s, times Caddy', ratio(gateway, 'caddy'), TARGETS.jsonOfCaddy);
}
