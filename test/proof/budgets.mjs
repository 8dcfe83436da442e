/**
 * Proves budgets with many seeds on real processes: `npm run prove-budgets -- [--runs N] [--seed S]`. Each run prints
 * what it came to on one line of JSON; a run that fails names its seed. Needs `redis-server` on the PATH and, unless
 * `DATABASE_URL` names a Postgres, starts one of its own.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const DEFAULT_RUNS = '10';
const MOST_SEED = 2 ** 31;
const ROOT = fileURLToPath(new URL('../..', import.meta.url));

const { values } = parseArgs({
  options: {
    runs: { type: 'string', default: DEFAULT_RUNS },
    seed: { type: 'string', default: String(Math.floor(Math.random() * MOST_SEED)) },
  },
});
const isWhole = (text) => /^[0-9]{1,10}$/.test(text);
if (!isWhole(values.runs) || values.runs === '0' || !isWhole(values.seed)) {
  console.error('--runs and --seed are whole numbers, --runs at least 1');
  process.exit(2);
}

console.log(`${values.runs} runs from seed ${values.seed}`);
const jest = ['node_modules/jest/bin/jest.js', '--config', 'test/jest.config.mjs', '--selectProjects', 'e2e'];
const child = spawn(
  process.execPath,
  ['--experimental-vm-modules', '--no-warnings', ...jest, '--runInBand', '--verbose=false', 'budget-proof'],
  { cwd: ROOT, stdio: 'inherit', env: { ...process.env, BUDGET_RUNS: values.runs, BUDGET_SEED: values.seed } },
);
const [code] = await once(child, 'exit');
process.exitCode = code ?? 1;
