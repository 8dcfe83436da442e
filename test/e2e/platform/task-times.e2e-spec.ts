import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from '@jest/globals';

const PROGRAM = fileURLToPath(new URL('../../support/platform/task-times.mjs', import.meta.url));

/** Time of a task of `process.nextTick` after a full collection, relative to that before it. */
async function slowdown(args: readonly string[]): Promise<number> {
  const { stdout } = await promisify(execFile)(process.execPath, [PROGRAM, ...args]);
  const { before, after } = JSON.parse(stdout);
  return after / before;
}

it('a task of nextTick after a full collection → as fast as before', async () => {
  expect(await slowdown(['tuned'])).toBeLessThan(3);
});

it('the same without the task that ADR 0071 keeps → several times slower; otherwise it need not be kept', async () => {
  expect(await slowdown([])).toBeGreaterThan(3);
});
