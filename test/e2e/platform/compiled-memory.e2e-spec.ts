import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from '@jest/globals';

const PROGRAM = fileURLToPath(new URL('../../support/platform/compiled-memory.mjs', import.meta.url));

/** Most memory of the allocator that V8 held while it compiled many functions at once, in bytes. */
async function peakBytes(...args: readonly string[]): Promise<number> {
  const { stdout } = await promisify(execFile)(process.execPath, [PROGRAM, ...args]);
  return JSON.parse(stdout);
}

it('many functions compiled at once → less than half of the memory, only with the flag of ADR 0074', async () => {
  expect(await peakBytes()).toBeLessThan((await peakBytes('background')) / 2);
});
