/**
 * Keeps the event loop half busy after `tuneEngine`, until the helper threads of the engine have a lower priority than at
 * first. Writes their niceness above that of the process, at first and at the end, and the seconds between.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { getPriority } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { tuneEngine } from '../../../dist/src/bootstrap/engine.js';

const [BUSY_MS, IDLE_MS, PATIENCE_MS] = [10, 10, 60_000];

function helperNiceness() {
  const helpers = readdirSync('/proc/self/task').filter((thread) => nameOf(thread) === 'V8Worker');
  return [...new Set(helpers.map((thread) => getPriority(Number(thread)) - getPriority()))];
}

function nameOf(thread) {
  return readFileSync(`/proc/self/task/${thread}/comm`, 'utf8').trim();
}

function compute(durationMs) {
  const untilMs = performance.now() + durationMs;
  while (performance.now() < untilMs);
}

tuneEngine();
const first = helperNiceness();
const startedMs = performance.now();
while (String(helperNiceness()) === String(first) && performance.now() < startedMs + PATIENCE_MS) {
  compute(BUSY_MS);
  await sleep(IDLE_MS);
}
process.stdout.write(JSON.stringify({ first, last: helperNiceness(), seconds: (performance.now() - startedMs) / 1e3 }));
process.exit();
