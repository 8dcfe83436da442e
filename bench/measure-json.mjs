/** Calls per CPU second on 1 KB JSON calls. Parties take turns in rounds; ratios are taken within a round. */
import { jsonCall } from './bodies.mjs';
import { Efficiency } from './efficiency.mjs';
import { TARGETS } from './targets.mjs';

const CONNECTIONS = 64;
const WARM_MS = 1_000;

/** @param {{ load: object, parties: import('./party.mjs').Party[], rounds: number, seconds: number, verdicts: object }} bench */
export async function measureJson({ load, parties, rounds, seconds, verdicts }) {
  const efficiency = new Efficiency('completed');
  const call = { body: jsonCall(), connections: CONNECTIONS, warmMs: WARM_MS, durationMs: (seconds * 1e3) / rounds };
  for (let round = 0; round < rounds; round += 1) {
    for (const target of parties) efficiency.add(target, await load.run('closedLoop', { target, ...call }));
  }
  efficiency.print(`1 KB JSON calls, closed loop, ${CONNECTIONS} connections`, 'calls');
  const times = (name) => efficiency.ratio('this gateway', name);
  verdicts.atLeast('JSON calls per CPU-s, of pass-through', times('pass-through'), TARGETS.jsonOfPassThrough);
  verdicts.atLeast('JSON calls per CPU-s, times Portkey', times('portkey'), TARGETS.jsonOfPortkey);
  verdicts.atLeast('JSON calls per CPU-s, times Caddy', times('caddy'), TARGETS.jsonOfCaddy);
}
