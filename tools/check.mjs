/**
 * Runs the checks of `tools/checks.json`: `npm run check`, or `npm run check -- types` for the named ones. As many in
 * parallel as there are cores, in the order of the file, longest first. Each reports its result when it ends, with all
 * its output if it fails. All of them run, even if some fail.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { delimiter, join } from 'node:path';
import process from 'node:process';

/** A script has children: as a group they can be ended together. Windows has no groups. */
const HAS_GROUPS = process.platform !== 'win32';

const root = join(import.meta.dirname, '..');
const checks = JSON.parse(readFileSync(join(root, 'tools/checks.json'), 'utf8'));
const names = process.argv.slice(2);
const unknown = names.filter((name) => !(name in checks));
if (unknown.length > 0) {
  process.stderr.write(`Unknown check: ${unknown.join(', ')}. Choose of ${Object.keys(checks).join(', ')}.\n`);
  process.exit(1);
}
const waiting = Object.entries(checks).filter(([name]) => names.length === 0 || names.includes(name));
/** Commands of packages, even if not run by npm. */
const env = { ...process.env, PATH: [join(root, 'node_modules/.bin'), process.env.PATH].join(delimiter) };
const running = new Set();

async function runWaiting() {
  for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) await run(...next);
}

async function run(name, command) {
  const startedAt = performance.now();
  const child = spawn(command, {
    ...{ cwd: root, env },
    shell: true,
    detached: HAS_GROUPS,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  running.add(child);
  const output = [];
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (bytes) => output.push(bytes));
  const [code] = await once(child, 'close');
  running.delete(child);
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
  if (code === 0) return void process.stdout.write(`${name}: passed in ${seconds} s\n`);
  process.exitCode = 1;
  process.stdout.write(`\n${Buffer.concat(output)}\n${name}: FAILED in ${seconds} s (npm run check -- ${name})\n\n`);
}

function end(signal) {
  for (const child of running) {
    if (HAS_GROUPS) process.kill(-child.pid, signal);
    else child.kill(signal);
  }
  process.kill(process.pid, signal);
}

for (const signal of ['SIGTERM', 'SIGINT']) process.once(signal, end);
await Promise.all(Array.from({ length: availableParallelism() }, runWaiting));
