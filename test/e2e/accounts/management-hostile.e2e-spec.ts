import { randomInt } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { AnswerJudge } from '../../proof/requests/answer-judge.js';
import { HostileGround } from '../../proof/requests/hostile-ground.js';
import { type HostileRequest, HostileRequests } from '../../proof/requests/hostile-requests.js';
import { shownRequest } from '../../proof/requests/shown-request.js';
import { fuzzRuns } from '../../support/jest/fuzz-runs.js';
import { openTarget, read } from '../../support/proxy/proxy-client.js';

const RUNS = fuzzRuns(2_000);
const SEED = Number(process.env.FUZZ_SEED ?? randomInt(2 ** 31));
/** Few enough to examine a failure of all together. */
const AT_ONCE = 12;
const BATCHES_BEFORE_TIDYING = 50;
/** The timeout for an answer. */
const BOUND_MS = 20_000;
/** Maximum number of reported failures. */
const MOST_FAILURES = 5;

let ground: HostileGround;
let judge: AnswerJudge;

beforeAll(async () => {
  ground = await HostileGround.start();
  judge = new AnswerJudge(ground.world.check, ground.secrets);
});

afterAll(() => ground.stop());

/** How a request ended. */
interface Outcome {
  readonly request: HostileRequest;
  /** 0: without an answer. */
  readonly status: number;
  readonly problems: readonly string[];
}

async function ask(request: HostileRequest): Promise<Outcome> {
  const { method, target, headers, body } = request;
  const call = openTarget(ground.world, target, { method, headers, ...(body && { body }) });
  const timer = setTimeout(() => call.request.destroy(new Error(`no answer within ${BOUND_MS} ms`)), BOUND_MS);
  try {
    const answer = await read(await call.head);
    return { request, status: answer.status, problems: judge.problemsOf(request, answer) };
  } catch (error) {
    return { request, status: 0, problems: [String(error)] };
  } finally {
    clearTimeout(timer);
  }
}

/** Problems in the log: there is one line for each refusal, and no line reports failures or contains secrets. */
function logProblems(outcomes: readonly Outcome[]): string[] {
  const lines = ground.world.logs.splice(0);
  const text = JSON.stringify(lines);
  const trouble = lines.filter(({ level, code }) => level === 'error' && code !== 'provider_not_configured');
  const written = lines.filter(({ message }) => message === 'gateway_error').length;
  const refused = outcomes.filter(({ status }) => status >= 400).length;
  return [
    ...trouble.map((line) => `in the log: ${JSON.stringify(line)}`),
    ...ground.secrets.filter((secret) => text.includes(secret)).map((secret) => `the log holds ${secret}`),
    ...(written === refused ? [] : [`${refused} refusals with ${written} lines`]),
  ];
}

/** Sends several requests at once; returns what went wrong. */
async function askAll(requests: readonly HostileRequest[]): Promise<string[]> {
  ground.world.logs.length = 0;
  const before = await ground.ownState();
  const outcomes = await Promise.all(requests.map(ask));
  const served = outcomes.filter(({ request: { method }, status }) => status < 400 && method !== 'GET');
  const isChanged = before !== (await ground.ownState());
  const ofAll = [...logProblems(outcomes), ...(isChanged && served.length === 0 ? ['the account has changed'] : [])];
  for (const { request } of served) ground.parts.forget(request.operation, request.caller);
  const ofOne = outcomes.filter(({ problems }) => problems.length > 0);
  return [
    ...ofOne.map(({ request, problems }) => `${problems.join('; ')}\n${shownRequest(request)}`),
    ...(ofAll.length > 0 ? [`${ofAll.join('\n')}\nafter all of these:\n${requests.map(shownRequest).join('\n')}`] : []),
  ];
}

describe(`${RUNS} hostile requests to all operations, seed ${SEED}`, () => {
  it(
    'refused with an error envelope, or answered as documented',
    async () => {
      const requests = new HostileRequests(ground, SEED);
      const theirs = await ground.theirState();
      const failures: string[] = [];
      for (let at = 0, batches = 1; at < RUNS && failures.length < MOST_FAILURES; at += AT_ONCE, batches++) {
        const batch: HostileRequest[] = [];
        for (let index = at; index < Math.min(at + AT_ONCE, RUNS); index++) batch.push(await requests.at(index));
        failures.push(...(await askAll(batch)));
        if (batches % BATCHES_BEFORE_TIDYING === 0) await ground.tidy();
      }
      if (failures.length > 0) throw new Error(`FUZZ_SEED=${SEED} FUZZ_RUNS=${RUNS}\n\n${failures.join('\n\n')}`);
      expect(await ground.theirState()).toBe(theirs);
      expect((await ground.world.as(undefined).get('/v1/readyz')).status).toBe(200);
    },
    30_000 + RUNS * 50,
  );
});
