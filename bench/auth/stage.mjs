/**
 * The stage of authentication by itself: a gateway within this process, and requests as they really come in, proven
 * again and again by the guard that the proxy's entry asks.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import pg from 'pg';
import { startGateway } from '../../dist/src/bootstrap/start.js';
import { CallerGuard } from '../../dist/src/client-auth/callers/caller.guard.js';
import { GatewayTokens } from '../../dist/src/client-auth/callers/gateway-tokens.js';
import { addApp, addProvider, chatPathOf, gatewayEnvironment, managed } from '../gateway.mjs';
import { takeJobs } from '../jobs.mjs';
import { bearer, requireAnswer } from '../party.mjs';
import { freePort } from '../processes.mjs';
import { median } from '../statistics.mjs';
import { endUserOf } from './identity-provider.mjs';

const ROUNDS = 7;
const WARM_PROOFS = 100_000;
/** Tokens of as many users take turns. */
const TOKENS = 1_000;
/** Where nobody answers: the key set of an issuer is not needed for tokens of ours. */
const NOBODY = 'http://127.0.0.1:9';

let statements = 0;
const { query } = pg.Client.prototype;
pg.Client.prototype.query = function counted(...args) {
  statements += 1;
  return query.apply(this, args);
};

/** @returns per way to prove a call: CPU µs (median, least and most of the rounds) and database statements of one */
async function measureStage({ dir, upstreamPort }) {
  const port = await freePort();
  const env = { ...gatewayEnvironment(port, dir), DATA_DIR: `${dir}/stage` };
  const running = await startGateway(env, { log: () => {} });
  try {
    const gateway = { manage: (route, body) => managed(running.url, route, body) };
    await addProvider(gateway, upstreamPort);
    if (statements === 0) throw new Error('the statements of the start were not counted, so none would be');
    return await measureProofs(running.app, gateway, port);
  } finally {
    await running.stop('bench');
  }
}

async function measureProofs(app, gateway, port) {
  const tokens = app.get(GatewayTokens);
  const plain = await addApp(gateway, { type: 'api_key' });
  const signedIn = await addApp(gateway, { type: 'api_key', end_user: endUserOf(NOBODY) });
  const issueMany = () => Promise.all(Array.from({ length: TOKENS }, (_, i) => issueOne(tokens, signedIn, i)));
  const warm = await issueMany();
  const byKey = await caught(port, plain.appId, plain.appKey);
  const byToken = await caught(port, signedIn.appId, warm[0]);
  return [
    { name: 'an application key', ...(await measured(byKey, WARM_PROOFS, () => [plain.appKey])) },
    { name: 'a gateway token', isJudged: true, ...(await measured(byToken, WARM_PROOFS, () => warm)) },
    { name: 'a gateway token never seen', ...(await measured(byToken, TOKENS, issueMany)) },
  ];
}

function issueOne(tokens, { appId, appKeyId }, index) {
  return tokens.issue({ appId, userId: `user-${index}`, authMethod: 'api_key', apiKeyId: appKeyId });
}

/** What the entry hands to its guard when a call comes in: a request as the HTTP server made it, and its address. */
async function caught(port, appId, credential) {
  const { prove } = CallerGuard.prototype;
  let proof;
  CallerGuard.prototype.prove = function caughtProve(request, address) {
    proof = { guard: this, request, address };
    return prove.call(this, request, address);
  };
  const headers = { ...bearer(credential), 'x-app-version': '1.4.0' };
  await requireAnswer({ port, path: chatPathOf(appId), headers });
  CallerGuard.prototype.prove = prove;
  return proof;
}

/** Each round proves calls with the credentials that `credentialsFor` gives, in turn; a round before them warms up. */
async function measured({ guard, request, address }, proofs, credentialsFor) {
  const costsUs = [];
  let counted = 0;
  for (let round = 0; round <= ROUNDS; round += 1) {
    const sent = [...(await credentialsFor())].map((credential) => `Bearer ${credential}`);
    await nextTurn();
    const statementsBefore = statements;
    const start = process.cpuUsage();
    for (let i = 0; i < proofs; i += 1) {
      request.raw.headers.authorization = sent[i % sent.length];
      await guard.prove(request, address);
    }
    const { user, system } = process.cpuUsage(start);
    if (round === 0) continue;
    costsUs.push((user + system) / proofs);
    counted += statements - statementsBefore;
  }
  const [least, most] = [Math.min(...costsUs), Math.max(...costsUs)];
  // In thousandths: what memory renews every few seconds in the background is no call's.
  const statementsOfOne = Math.round((1e3 * counted) / ROUNDS / proofs) / 1e3;
  return { us: median(costsUs), least, most, statements: statementsOfOne };
}

takeJobs({ measureStage });
