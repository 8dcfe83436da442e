/** What it costs to exchange a device's signature for a gateway token: challenge and token call together. */
import { number, printTable } from '../report.mjs';
import { median } from '../statistics.mjs';
import { TARGETS } from '../targets.mjs';
import { giveOwnCore } from './pin.mjs';

/** More than the gateway keeps imported keys of, so that each signature is met by a key that is not. */
const PHONES = 2_500;
const BUSY_LINES = 24;
const FIRST_WARM_MS = 8_000;
const WARM_MS = 500;

/** @param {{ gateway: object, phones: object, authentications: object, addApp: Function, rounds: number, seconds: number, verdicts: object }} bench */
export async function measureExchange({ gateway, phones, authentications, addApp, rounds, seconds, verdicts }) {
  const hasOwnCore = giveOwnCore(gateway.pid, [phones.pid]);
  const { installs, users } = authentications;
  const kinds = [
    await newKind({ name: 'installs', isSignedIn: false, authentication: installs, gateway, phones, addApp }),
    await newKind({ name: 'signed-in users, RS256', isSignedIn: true, authentication: users, gateway, phones, addApp }),
  ];
  const run = ({ target }, lines, times) => phones.run('exchange', { ...target, lines, ...times });
  for (const kind of kinds) await run(kind, BUSY_LINES, { warmMs: FIRST_WARM_MS, durationMs: 100 });
  const times = { warmMs: WARM_MS, durationMs: (seconds * 1e3) / rounds };
  for (let round = 0; round < rounds; round += 1) {
    for (const kind of kinds) kind.busy.push(await run(kind, BUSY_LINES, times));
    for (const kind of kinds) kind.calm.push(await run(kind, 1, times));
  }
  for (const { name, busy } of kinds) {
    verdicts.atLeast(`exchanges per core second, ${name}`, median(busy.map(perCpuSecond)), TARGETS.exchangesPerCore, 0);
  }
  const where = hasOwnCore ? 'the gateway on a core of its own' : 'all on the same cores';
  const title = `Token exchanges, closed loop, ${BUSY_LINES} connections, ${PHONES} devices; ${where}`;
  printTable(title, COLUMNS, kinds.map(rowOf));
}

/** An application with phones that are registered. */
async function newKind({ name, isSignedIn, authentication, gateway, phones, addApp }) {
  const { appId } = await addApp(authentication);
  const target = { port: gateway.port, pid: gateway.pid, appId };
  const registered = await phones.run('register', { ...target, count: PHONES, isSignedIn });
  return { name, target, registered, busy: [], calm: [] };
}

const COLUMNS = [
  'exchanges of',
  'per s',
  'CPU %',
  'CPU ms',
  'database ms',
  'per CPU-s',
  'least',
  'most',
  'p50 ms',
  'p99 ms',
  'alone p50',
  'alone p99',
  'register CPU ms',
];

const perCpuSecond = ({ completed, cpuSeconds }) => completed / cpuSeconds;

function rowOf({ name, busy, calm, registered }) {
  const middle = (digits, of, runs = busy) => number(median(runs.map(of)), digits);
  const rates = busy.map(perCpuSecond);
  return [
    name,
    middle(0, ({ completed, seconds }) => completed / seconds),
    middle(0, ({ cpuSeconds, seconds }) => (100 * cpuSeconds) / seconds),
    middle(2, ({ completed, cpuSeconds }) => (1e3 * cpuSeconds) / completed),
    middle(2, ({ completed, cpuSecondsBelow }) => (1e3 * cpuSecondsBelow) / completed),
    number(median(rates)),
    number(Math.min(...rates)),
    number(Math.max(...rates)),
    middle(1, ({ exchange }) => exchange.p50),
    middle(1, ({ exchange }) => exchange.p99),
    middle(2, ({ exchange }) => exchange.p50, calm),
    middle(2, ({ exchange }) => exchange.p99, calm),
    number((1e3 * registered.cpuSeconds) / registered.completed, 2),
  ];
}
