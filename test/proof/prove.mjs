import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const MOST_SEED = 2 ** 31;
const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const WHOLE = /^[1-9][0-9]{0,9}$/;

/**
 * Reads the command line of a proof: `--<option> N --seed S`, and names. Ends the process when a number is none.
 *
 * @param {string} option how much of it, a whole number
 * @param {string} fallback its default
 */
export function readProof(option, fallback) {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      [option]: { type: 'string', default: fallback },
      seed: { type: 'string', default: String(1 + Math.floor(Math.random() * MOST_SEED)) },
    },
  });
  const { [option]: howMuch, seed } = values;
  if (!WHOLE.test(howMuch) || !WHOLE.test(seed)) {
    console.error(`--${option} and --seed are whole numbers, at least 1`);
    process.exit(2);
  }
  console.log(`--${option} ${howMuch} --seed ${seed}`);
  return { howMuch, seed, names: positionals };
}

/**
 * Runs suites with settings of a proof. Sets the exit code of this process when they fail.
 *
 * @param {'unit' | 'e2e'} project of the suites
 * @param {readonly string[]} suites patterns of their paths
 * @param {Readonly<Record<string, string>>} env what they are told
 */
export async function prove(project, suites, env) {
  const jest = ['node_modules/jest/bin/jest.js', '--config', 'test/jest.config.mjs', '--selectProjects', project];
  const child = spawn(
    process.execPath,
    ['--experimental-vm-modules', '--no-warnings', ...jest, '--runInBand', '--verbose=false', ...suites],
    { cwd: ROOT, stdio: 'inherit', env: { ...process.env, ...env } },
  );
  const [code] = await once(child, 'exit');
  if (code !== 0) process.exitCode = code ?? 1;
}
