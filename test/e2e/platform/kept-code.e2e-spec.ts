import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from '@jest/globals';

const PROGRAM = fileURLToPath(new URL('../../support/platform/kept-code.mjs', import.meta.url));

async function codeOf(...args: readonly string[]): Promise<unknown> {
  const { stdout } = await promisify(execFile)(process.execPath, ['--allow-natives-syntax', PROGRAM, ...args]);
  return JSON.parse(stdout);
}

it('a function whose objects were collected in an idle process → still optimized, only with the flag of ADR 0073', async () => {
  const [tuned, untuned] = await Promise.all([codeOf('tuned'), codeOf()]);
  expect(tuned).toEqual({ before: true, after: true, wasCollected: true });
  expect(untuned).toEqual({ before: true, after: false, wasCollected: true });
});
