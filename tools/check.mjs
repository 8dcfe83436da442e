/**
 * Runs every `check:*` script of package.json: `npm run check`. As many at once as there are cores, in the order of
 * package.json, where the longest are first. Each tells its result when it ends, with all its output if it fails. All of
 * them run, whatever fails.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';

/** A script has children of its own: as a group they can be ended together. Windows has no groups. */
const HAS_GROUPS = process.platform !== 'win32';

const root = join(import.meta.dirname, '..');
const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const waiting = Object.entries(scripts).filter(([name]) => name.startsWith('check:'));
const running = new Set();

async function runWaiting() {
  for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) await run(...next);
}

async function run(name, script) {
  const startedAt = performance.now();
  const child = spawn(script, {
    cwd: root,
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
  process.stdout.write(`\n${Buffer.concat(output)}\n${name}: FAILED in ${seconds} s (npm run ${name})\n\n`);
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
