/** What a call costs as work grows: with more users and applications in memory, and with larger bodies. */
import { jsonCall } from '../bodies.mjs';
import { AMPLE_LIMITS, addCaller } from '../limits/limited-caller.mjs';
import { number, printTable } from '../report.mjs';
import { median } from '../statistics.mjs';
import { TARGETS } from '../targets.mjs';
import { startCallers, startGateway, startPassThrough } from './parties.mjs';
import { medianRatio, rounds, window } from './windows.mjs';

const CONNECTIONS = 64;
const LARGE_CONNECTIONS = 4;
const WARM_MS = 8_000;
const ROUND_WARM_MS = 500;
/** A window begins with grants for users that had none: shorter windows would measure little else. */
const WINDOW_MS = 4_000;
const APPS = 1_000;

const costUs = ({ completed, cpuSeconds: seconds }) => (1e6 * seconds) / completed;

export async function measureGrowth({ dir, databases, upstream, load, seconds, verdicts }) {
  const bare = await startPassThrough(upstream.port);
  const started = await startGateway({ dir: `${dir}/growth`, databaseUrl: await databases.create() });
  const gateway = await startCallers(started, upstream.port, [{ name: 'limits in memory', limits: AMPLE_LIMITS }]);
  const [caller] = gateway.callers;
  const targets = [caller];
  while (targets.length < APPS) targets.push(await addCaller(gateway, `app-${targets.length}`, AMPLE_LIMITS));
  const calls = (name, job, first) => ({ name, party: gateway, target: caller, body: jsonCall(), first, ...job });
  const small = calls('64 users of one application', {});
  const cases = [
    small,
    calls('1 000 users', { users: 1_000 }, small),
    calls('100 000 users', { users: 100_000 }, small),
    calls(`64 users of each of ${APPS} applications`, { targets }, small),
    ...[100 * 1024, 2 * 1024 * 1024].flatMap((bytes) => {
      const job = { body: jsonCall(bytes), connections: LARGE_CONNECTIONS };
      const passed = { name: `pass-through, ${bytes / 1024} KB`, party: bare, target: bare.callers[0], ...job };
      return [passed, calls(`${bytes / 1024} KB`, job, passed)];
    }),
  ];
  const loop = ({ name, party, first, ...job }, warmMs, durationMs) =>
    load.run('closedLoop', { connections: CONNECTIONS, ...job, warmMs, durationMs });
  for (const one of cases) await loop(one, WARM_MS, 100);
  const measure = (one) => window(one.party, () => loop(one, ROUND_WARM_MS, WINDOW_MS));
  const windows = await rounds(seconds, cases, measure, WINDOW_MS);
  const cost = (one) => median(windows.get(one).map(costUs));
  const rows = cases.map((one) => {
    const relative = one.first && medianRatio(windows.get(one), windows.get(one.first), costUs);
    const isGrowth = one.first === small;
    if (isGrowth) verdicts.atMost(`pinned: CPU of a call, ${one.name}`, relative, TARGETS.pinnedGrowth);
    return [one.name, number(cost(one), 1), number(relative ?? Number.NaN, 3), one.first?.name ?? '-'];
  });
  printTable('CPU of a call as work grows', ['', 'us', 'ratio', 'to that of'], rows);
  for (const party of [bare, gateway]) await party.stop();
}
