/**
 * What a fallback adds to a call beside the failed attempt itself: the time of a call whose first target fails, less
 * that of a call that goes to the second target at once, less that of the first target. All are timed by the same
 * client, in turn, at a moderate fixed rate.
 */
import { responsesCall } from '../bodies.mjs';
import { addApp, addProvider, endpointPathOf } from '../gateway.mjs';
import { bearer, requireAnswer, startUpstream } from '../party.mjs';
import { number, printTable } from '../report.mjs';
import { median, medianSummary } from '../statistics.mjs';
import { TARGETS } from '../targets.mjs';
import { namedEndpoint } from './named-endpoint.mjs';

const RATE_PER_TARGET = 100;
const WARM_MS = 500;
const RUN_IN = { connections: 64, warmMs: 4_000, durationMs: 100 };
/** Nobody listens there, and no outgoing connection ever takes that port. */
const REFUSING_PORT = 9;
const CASES = [
  { name: '503 at once', slug: 'fails-503', status: 503, delayMs: 0 },
  { name: '503 after 20 ms', slug: 'fails-503-late', status: 503, delayMs: 20 },
  { name: '429 at once', slug: 'fails-429', status: 429, delayMs: 0 },
  { name: 'connection refused', slug: 'refuses' },
];
const DIRECT = 'direct';

/** @param {{ load: object, gateway: object, rounds: number, seconds: number, verdicts: object }} bench */
export async function measureFallback({ load, gateway, rounds, seconds, verdicts }) {
  const body = responsesCall();
  const { direct, cases } = await targetsOf(gateway, body);
  const times = { ratePerTarget: RATE_PER_TARGET, warmMs: WARM_MS, durationMs: (seconds * 1e3) / rounds };
  for (const target of [direct, ...cases.map(({ chain }) => chain)]) {
    await load.run('closedLoop', { target, body, ...RUN_IN });
  }
  const measured = cases.map(() => []);
  for (let round = 0; round < rounds; round += 1) {
    for (const [i, { chain, failing }] of cases.entries()) {
      const targets = [direct, chain, ...(failing ? [failing] : [])];
      measured[i].push(roundOf(await load.run('openLoop', { targets, body, ...times })));
    }
  }
  const rows = cases.map(({ chain }, i) => ({ name: chain.name, ...medians(measured[i]) }));
  print(rows, rounds);
  const most = (member) => Math.max(...rows.map(({ added }) => added[member]));
  verdicts.atMost('a fallback beyond the failed attempt p50, ms', most('p50'), TARGETS.fallbackAddedMs);
  verdicts.atMost('a fallback beyond the failed attempt p99, ms', most('p99'), TARGETS.fallbackAddedMs);
}

/** An endpoint whose only target answers; and for each case one that falls back to it, and what fails there. */
async function targetsOf(gateway, body) {
  const upstream = await startUpstream();
  const endpoints = { [DIRECT]: namedEndpoint('openai') };
  for (const { slug, status, delayMs } of CASES) {
    const port = status ? upstream.port : REFUSING_PORT;
    const baseUrl = `http://127.0.0.1:${port}${failurePath(status, delayMs)}`;
    await addProvider(gateway, port, { slug, baseUrl });
    endpoints[slug] = namedEndpoint(slug, ['openai']);
  }
  const { appId, appKey } = await addApp(gateway, { type: 'api_key' }, endpoints);
  const { pid, port } = gateway;
  const target = (name, slug) => {
    return { name, pid, port, path: endpointPathOf(appId, slug), headers: bearer(appKey) };
  };
  const cases = CASES.map(({ name, slug, status, delayMs }) => {
    const path = `${failurePath(status, delayMs)}v1/responses`;
    return { chain: target(name, slug), failing: status && { ...upstream, name, path, status } };
  });
  const direct = target('no fallback', DIRECT);
  for (const each of [direct, ...cases.map(({ chain }) => chain)]) await requireAnswer(each, body, 'response');
  return { direct, cases };
}

function failurePath(status, delayMs) {
  return status ? `/bench-fail-${status}-${delayMs}/` : '/';
}

/**
 * A connection that is refused takes no time of its own here. The failing target counts with its median in both
 * figures: what it scatters is ours to answer for.
 */
function roundOf([direct, chain, failing]) {
  const ownMs = failing?.fromSent.p50 ?? 0;
  const added = (member) => chain.fromSent[member] - direct.fromSent[member] - ownMs;
  return {
    direct: direct.fromSent,
    chain: chain.fromSent,
    ownMs,
    added: { p50: added('p50'), p99: added('p99') },
    failed: direct.failed + chain.failed + (failing?.failed ?? 0),
  };
}

function medians(rounds) {
  const of = (member) => medianSummary(rounds.map((round) => round[member]));
  return {
    direct: of('direct'),
    chain: of('chain'),
    ownMs: median(rounds.map(({ ownMs }) => ownMs)),
    added: of('added'),
    failed: rounds.reduce((sum, { failed }) => sum + failed, 0),
  };
}

function print(rows, rounds) {
  const columns = ['first target, ms', 'itself', 'direct p50', 'p99', 'chain p50', 'p99', 'added p50', 'added p99'];
  const cells = rows.map(({ name, ownMs, direct, chain, added, failed }) => {
    const times = [ownMs, direct.p50, direct.p99, chain.p50, chain.p99, added.p50, added.p99];
    return [name, ...times.map((ms) => number(ms, 3)), failed];
  });
  const title = `Fallback, open loop, ${RATE_PER_TARGET} calls/s each, medians of ${rounds} rounds`;
  printTable(title, [...columns, 'failed'], cells);
}
