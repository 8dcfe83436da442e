/**
 * Admission by itself: a gateway within this process, and a call as it really came in, admitted again and again, each
 * time for another user, by the service that the proxy asks. What it holds is given back, and both are counted.
 */
import pg from 'pg';
import { startGateway } from '../../dist/src/bootstrap/start.js';
import { limitedCallOf } from '../../dist/src/client-auth/callers/caller.js';
import { RequestLimits } from '../../dist/src/limits/requests/request-limits.service.js';
import { CallAdmission } from '../../dist/src/proxy/admission/call-admission.js';
import { addProvider, gatewayEnvironment, makeReachable, managed } from '../gateway.mjs';
import { takeJobs } from '../jobs.mjs';
import { freePort } from '../processes.mjs';
import { median, summary } from '../statistics.mjs';
import { AMPLE_LIMITS, addCaller, USER_HEADER } from './limited-caller.mjs';

const ROUNDS = 7;
const USERS = 1_000;
const ADMISSIONS = 100_000;
const TIMED_ADMISSIONS = 10_000;

let statements = 0;
const { query } = pg.Client.prototype;
pg.Client.prototype.query = function counted(...args) {
  statements += 1;
  return query.apply(this, args);
};

/** The admissions of calls that came in, milliseconds, and what the latest was about. */
let timesMs = [];
let latest;
const { admit } = CallAdmission.prototype;
CallAdmission.prototype.admit = function timed(...args) {
  const startedMs = performance.now();
  latest = { admission: this, args };
  const note = (held) => {
    timesMs.push(performance.now() - startedMs);
    return held;
  };
  const held = admit.apply(this, args);
  return held.then(note);
};

let running;

/** @returns whom to call */
async function open({ dir, upstreamPort, redisUrl }) {
  makeReachable(dir);
  const port = await freePort();
  const env = { ...gatewayEnvironment(port, dir), ...(redisUrl && { REDIS_URL: redisUrl }) };
  running = await startGateway(env, { log: () => {} });
  if (statements === 0) throw new Error('the statements of the start were not counted, so none would be');
  const manage = (route, body) => managed(running.url, route, body);
  const gateway = { pid: process.pid, port, manage };
  await addProvider(gateway, upstreamPort);
  const { path, headers } = await addCaller(gateway, 'the stage', AMPLE_LIMITS);
  return { port, path, headers: { ...headers, [USER_HEADER]: 'user-of-calls' } };
}

/** @returns CPU µs (median, least and most of the rounds) and database statements of one admission */
async function measureInLoop() {
  const costsUs = [];
  let counted = 0;
  const admitOne = admitterOf('in-loop');
  for (let round = 0; round <= ROUNDS; round += 1) {
    const statementsBefore = statements;
    const start = process.cpuUsage();
    for (let i = 0; i < ADMISSIONS; i += 1) {
      const admitted = admitOne(i);
      if (admitted instanceof Promise) await admitted;
    }
    const { user, system } = process.cpuUsage(start);
    if (round === 0) continue;
    costsUs.push((user + system) / ADMISSIONS);
    counted += statements - statementsBefore;
  }
  await requireCounted('in-loop', ((ROUNDS + 1) * ADMISSIONS) / USERS);
  // In thousandths: what memory renews every few seconds in the background is no call's.
  const statementsOfOne = Math.round((1e3 * counted) / ROUNDS / ADMISSIONS) / 1e3;
  return { us: median(costsUs), least: Math.min(...costsUs), most: Math.max(...costsUs), statements: statementsOfOne };
}

/** Milliseconds of admissions, each begun when the one before it had ended. The first ones warm up. */
async function timeOneByOne() {
  const admitOne = admitterOf('one-by-one');
  const durationsMs = [];
  for (let i = 0; i < 2 * TIMED_ADMISSIONS; i += 1) {
    const startedMs = performance.now();
    await admitOne(i);
    if (i >= TIMED_ADMISSIONS) durationsMs.push(performance.now() - startedMs);
  }
  await requireCounted('one-by-one', (2 * TIMED_ADMISSIONS) / USERS);
  return summary(durationsMs);
}

/** Admits the latest call once more, for one of many users, and gives back what it holds. */
function admitterOf(prefix) {
  const { admission, args } = latest;
  const [caller, ...others] = args;
  const callers = Array.from({ length: USERS }, (_, at) => ({ ...caller, userId: `${prefix}-${at}` }));
  const release = (held) => {
    if (held.length !== 2) throw new Error(`a call holds money of ${held.length} budgets, not of two`);
    for (const hold of held) hold.release();
  };
  return (i) => {
    const held = admit.call(admission, callers[i % USERS], ...others);
    return held.then(release);
  };
}

/** Throws unless a user's day counts exactly the admissions that were made for it. */
async function requireCounted(prefix, expected) {
  const [caller] = latest.args;
  const counted = await running.app.get(RequestLimits).countToday(limitedCallOf({ ...caller, userId: `${prefix}-0` }));
  if (counted !== expected) throw new Error(`${counted} admissions of a user were counted, not ${expected}`);
}

/** @returns summary, ms, of the admissions of calls since the last time it was asked */
function takeTimes() {
  const taken = timesMs;
  timesMs = [];
  return summary(taken);
}

async function close() {
  await running.stop('bench');
}

takeJobs({ open, measureInLoop, timeOneByOne, takeTimes, close });
