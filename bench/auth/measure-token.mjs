/** What proving the caller costs a proxied call: whole calls by credential, and the stage of authentication alone. */
import { jsonCall } from '../bodies.mjs';
import { COST_COLUMNS, costCells } from '../call-costs.mjs';
import { chatPathOf } from '../gateway.mjs';
import { LoadGenerator } from '../load-generator.mjs';
import { bearer, requireAnswer } from '../party.mjs';
import { number, printTable } from '../report.mjs';
import { TARGETS } from '../targets.mjs';

const CONNECTIONS = 64;
const FIRST_WARM_MS = 8_000;
const WARM_MS = 1_000;
const APP_VERSION = { 'x-app-version': '1.4.0' };

/** @param {{ dir: string, upstream: object, rounds: number, seconds: number, verdicts: object }} bench */
export async function measureToken(bench) {
  await measureCalls(bench);
  await measureStage(bench);
}

async function measureCalls({ gateway, phones, authentications, addApp, rounds, seconds }) {
  const load = await LoadGenerator.start();
  const targets = await callersOf({ gateway, phones, authentications, addApp });
  const call = { body: jsonCall(), connections: CONNECTIONS, durationMs: (seconds * 1e3) / rounds };
  for (const target of targets) await load.run('closedLoop', { target, ...call, warmMs: FIRST_WARM_MS });
  const runs = targets.map(() => []);
  for (let round = 0; round < rounds; round += 1) {
    for (const [i, target] of targets.entries()) {
      runs[i].push(await load.run('closedLoop', { target, ...call, warmMs: WARM_MS }));
    }
  }
  const rows = targets.map(({ name }, i) => [name, ...costCells(runs[i])]);
  const columns = ['calls with', ...COST_COLUMNS];
  printTable(`1 KB JSON calls by credential, closed loop, ${CONNECTIONS} connections`, columns, rows);
}

/** Applications of three kinds, each with a credential of theirs; the last one's comes from a real exchange. */
async function callersOf({ gateway, phones, authentications, addApp }) {
  const plain = await addApp({ type: 'api_key' });
  const named = await addApp({ type: 'api_key', end_user: { source: 'header', header: 'x-user' } });
  const signedIn = await addApp(authentications.backend);
  const token = await phones.run('exchangeKey', { port: gateway.port, ...signedIn, userId: 'ada' });
  const callers = [
    ['an application key', plain, bearer(plain.appKey)],
    ['an application key, user named', named, { ...bearer(named.appKey), 'x-user': 'ada' }],
    ['a gateway token', signedIn, bearer(token)],
  ].map(([name, { appId }, headers]) => {
    return {
      name,
      pid: gateway.pid,
      port: gateway.port,
      path: chatPathOf(appId),
      headers: { ...headers, ...APP_VERSION },
    };
  });
  for (const caller of callers) await requireAnswer(caller);
  return callers;
}

async function measureStage({ dir, upstream, verdicts }) {
  const stage = await LoadGenerator.start('auth/stage.mjs');
  const measured = await stage.run('measureStage', { dir, upstreamPort: upstream.port });
  const rows = measured.map(({ name, us, least, most, statements }) => {
    return [name, number(us, 2), number(least, 2), number(most, 2), number(statements, 3)];
  });
  const columns = ['the stage alone', 'CPU us', 'least', 'most', 'database statements'];
  printTable('Authentication of one call, in a loop within the process', columns, rows);
  const token = measured.find(({ isJudged }) => isJudged);
  verdicts.atMost('authentication of a call by token, CPU us', token.us, TARGETS.authenticationUs, 1);
  verdicts.atMost('database statements for it', token.statements, TARGETS.authenticationStatements, 3);
}
