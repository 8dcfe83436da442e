/**
 * Proves at length what `npm test` proves in short: `npm run prove -- <name> [options]`. Without a name, lists the
 * names. Each proof runs suites with environment variables for the size, and the seed that repeats it.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { parserRuns } from './parsers/parsers.mjs';

/**
 * @typedef {object} SuiteRun Suites, and their environment.
 * @property {'unit' | 'e2e'} project
 * @property {readonly string[]} suites patterns of their paths
 * @property {Readonly<Record<string, string>>} env
 *
 * @typedef {object} Proof
 * @property {string} about what it proves, in one line
 * @property {string} option its option for the size
 * @property {string} usual how much without that option, a whole number
 * @property {(howMuch: string, seed: string, parts: readonly string[]) => readonly SuiteRun[]} runs
 */

/** @type {Readonly<Record<string, Proof>>} */
const PROOFS = {
  budgets: {
    about: 'budgets hold while instances are killed, and Redis and Postgres fail',
    option: 'runs',
    usual: '10',
    runs: (runs, seed) => e2e(['test/e2e/budgets/budget-proof'], { BUDGET_RUNS: runs, BUDGET_SEED: seed }),
  },
  kills: {
    about: 'the records hold every call, however often the service is killed under load',
    option: 'kills',
    usual: '1000',
    runs: (kills, seed) => e2e(['test/e2e/usage/recording/usage-kill'], { KILLS: kills, KILL_SEED: seed }),
  },
  soak: {
    about: 'records, sums and memory stay in order under mixed traffic, while Redis and Postgres come and go',
    option: 'minutes',
    usual: '60',
    runs: (minutes, seed) => e2e(['test/e2e/platform/soak.e2e-spec.ts'], { SOAK_MINUTES: minutes, SOAK_SEED: seed }),
  },
  approvals: {
    about: 'logins and consents end once, and hand their key over once, while instances are killed',
    option: 'steps',
    usual: '5000',
    runs: (steps, seed) => e2e(['test/e2e/consent/approval-model'], { FUZZ_RUNS: steps, FUZZ_SEED: seed }),
  },
  creations: {
    about: 'creations sent again are as if one request came after the other, while instances are killed',
    option: 'seconds',
    usual: '60',
    runs: (seconds, seed) =>
      e2e(['test/e2e/idempotency/idempotent-creation-history'], {
        ...{ CREATION_RUN_MS: `${seconds}000`, CREATION_SEED: seed },
      }),
  },
  streams: {
    about: 'a resumed answer is the answer, to the byte, or says that it is lost; one call, one event, one price',
    option: 'cuts',
    usual: '100000',
    runs: (cuts, seed) =>
      e2e(['test/e2e/proxy/streams/streams-proof'], {
        ...{ STREAM_CUTS: cuts, STREAM_SEED: seed, STREAM_RUNS: String(Math.max(9, Math.ceil(Number(cuts) / 1_000))) },
      }),
  },
  webhooks: {
    about: 'each event, crossed budgets too, is delivered under one id while instances and the receiver are killed',
    option: 'events',
    usual: '12000',
    runs: (events, seed) => e2e(['test/e2e/webhooks/webhook-proof'], { WEBHOOK_EVENTS: events, WEBHOOK_SEED: seed }),
  },
  parsers: {
    about: 'no input breaks a parser; further arguments choose suites by a part of their path',
    option: 'runs',
    usual: '1000000',
    runs: parserRuns,
  },
  enforcement: {
    about: 'the preview of enforcement names exactly the attempts of devices that enforcement then refuses',
    option: 'devices',
    usual: '100000',
    runs: (devices, seed) =>
      e2e(['test/e2e/client-auth/preview/enforcement-preview'], { DEVICES: devices, DEVICE_SEED: seed }),
  },
  responses: {
    about: 'no hostile answer of a provider is read but as Node reads it, and none reaches another request',
    option: 'responses',
    usual: '1000000',
    runs: (responses, seed) => [
      unit('src/proxy/round-trip/hostile-responses', { FUZZ_RUNS: responses, FUZZ_SEED: seed }),
      unit('src/proxy/connections/origin-pool-model', {
        ...{ FUZZ_RUNS: String(Math.max(Math.ceil(Number(responses) / 100), 1_000)), FUZZ_SEED: seed },
      }),
    ],
  },
  requests: {
    about: 'no hostile request breaks the service, or gets more than a refusal',
    option: 'runs',
    usual: '50000',
    runs: (runs, seed) =>
      e2e(['test/e2e/accounts/management-hostile', 'test/e2e/accounts/management-raw'], {
        ...{ FUZZ_RUNS: runs, FUZZ_SEED: seed },
      }),
  },
};

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const MOST_SEED = 2 ** 31;
const WHOLE = /^[1-9][0-9]{0,9}$/;
const MISUSE = 2;

const unit = (suite, env) => ({ project: 'unit', suites: [suite], env });
const e2e = (suites, env) => [{ project: 'e2e', suites, env }];

function usage() {
  const lines = Object.entries(PROOFS).map(([name, { about, option, usual }]) => {
    return `  ${name.padEnd(11)} --${option} N (${usual})`.padEnd(39) + about;
  });
  return `npm run prove -- <name> [--<option> N] [--seed S]\n\n${lines.join('\n')}\n`;
}

/** Ends the process. @param {string} problem what is wrong with the command line */
function refuse(problem) {
  console.error(`${problem}\n\n${usage()}`);
  process.exit(MISUSE);
}

/** @param {string} option @param {string[]} args */
function optionsOf(option, args) {
  const options = { [option]: { type: 'string' }, seed: { type: 'string' } };
  try {
    return parseArgs({ args, allowPositionals: true, options });
  } catch (error) {
    return refuse(`${error.message.split('. ')[0]}.`);
  }
}

/** Runs a program of the repository. @returns its exit code */
async function run(args, env = {}) {
  const child = spawn(process.execPath, args, { cwd: ROOT, stdio: 'inherit', env: { ...process.env, ...env } });
  const [code] = await once(child, 'exit');
  return code ?? 1;
}

/** @param {SuiteRun} suiteRun @returns the exit code */
function runSuites({ project, suites, env }) {
  const jest = ['node_modules/jest/bin/jest.js', '--config', 'test/jest.config.mjs', '--selectProjects', project];
  const args = ['--experimental-vm-modules', '--no-warnings', ...jest, '--runInBand', '--verbose=false', ...suites];
  return run(args, env);
}

const [name, ...args] = process.argv.slice(2);
if (name === undefined || name === '--help' || args.includes('--help')) {
  console.log(usage());
  process.exit(0);
}
if (!Object.hasOwn(PROOFS, name)) refuse(`There is no proof "${name}". Choose one of these.`);
const { option, usual, runs } = PROOFS[name];
const { values, positionals } = optionsOf(option, args);
const { [option]: howMuch = usual, seed = String(1 + Math.floor(Math.random() * MOST_SEED)) } = values;
if (!WHOLE.test(howMuch) || !WHOLE.test(seed)) refuse(`--${option} and --seed are whole numbers, at least 1.`);
if (positionals.length > 0 && runs !== parserRuns) refuse(`The proof "${name}" takes options alone.`);
const suiteRuns = runs(howMuch, seed, positionals);
if (suiteRuns.length === 0) refuse(`No suite of "${name}" has a path with ${positionals.join(' or ')} in it.`);

console.log(`--${option} ${howMuch} --seed ${seed}`);
process.exitCode = await run(['tools/build.mjs']);
if (process.exitCode === 0) {
  for (const suiteRun of suiteRuns) process.exitCode = (await runSuites(suiteRun)) || process.exitCode;
}
