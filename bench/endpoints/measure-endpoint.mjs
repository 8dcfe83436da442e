/** What a named endpoint costs beyond the proxy: the same bytes to both, of one application, in pairs of short rounds. */
import { responsesCall } from '../bodies.mjs';
import { COST_COLUMNS, costCells, costUs } from '../call-costs.mjs';
import { addApp, endpointPathOf, responsesPathOf } from '../gateway.mjs';
import { bearer, requireAnswer } from '../party.mjs';
import { number, printTable } from '../report.mjs';
import { median, percentile } from '../statistics.mjs';
import { TARGETS } from '../targets.mjs';
import { namedEndpoint } from './named-endpoint.mjs';

const CONNECTIONS = 64;
const FIRST_WARM_MS = 8_000;
const WARM_MS = 1_000;
/** A pair is short, so that what the machine does besides falls on both of it. */
const PAIRS_PER_ROUND = 3;
const SLUG = 'say';

/** @param {{ load: object, gateway: object, rounds: number, seconds: number, verdicts: object }} bench */
export async function measureEndpoint({ load, gateway, rounds, seconds, verdicts }) {
  const body = responsesCall();
  const targets = await targetsOf(gateway, body);
  const call = { body, connections: CONNECTIONS, durationMs: (seconds * 1e3) / rounds };
  for (const target of targets) await load.run('closedLoop', { target, ...call, warmMs: FIRST_WARM_MS });
  const runs = targets.map(() => []);
  for (let pair = 0; pair < rounds * PAIRS_PER_ROUND; pair += 1) {
    for (const i of pair % 2 === 0 ? [0, 1] : [1, 0]) {
      runs[i].push(await load.run('closedLoop', { target: targets[i], ...call, warmMs: WARM_MS }));
    }
  }
  const rows = targets.map(({ name }, i) => [name, ...costCells(runs[i])]);
  printTable(`1 KB Responses calls, closed loop, ${CONNECTIONS} connections`, ['calls', ...COST_COLUMNS], rows);
  validate(runs, verdicts);
}

/** The proxy first. */
async function targetsOf(gateway, body) {
  const { appId, appKey } = await addApp(gateway, { type: 'api_key' }, { [SLUG]: namedEndpoint('openai') });
  const { pid, port } = gateway;
  const targets = [
    { name: 'of the proxy', pid, port, path: responsesPathOf(appId), headers: bearer(appKey) },
    { name: 'of the endpoint', pid, port, path: endpointPathOf(appId, SLUG), headers: bearer(appKey) },
  ];
  for (const target of targets) await requireAnswer(target, body, 'response');
  return targets;
}

function validate([ofProxy, ofEndpoint], verdicts) {
  const ratios = ofEndpoint.map((run, pair) => costUs(run) / costUs(ofProxy[pair])).sort((a, b) => a - b);
  const shares = [0.25, 0.75, 0, 1].map((share) => number(percentile(ratios, share), 3));
  const columns = ['CPU, endpoint over proxy', 'median', 'lower quarter', 'upper quarter', 'least', 'most'];
  printTable('Pair by pair', columns, [[`${ratios.length} pairs`, number(median(ratios), 3), ...shares]]);
  verdicts.atMost('CPU of an endpoint call, times the proxy', median(ratios), TARGETS.endpointOfProxy);
}
