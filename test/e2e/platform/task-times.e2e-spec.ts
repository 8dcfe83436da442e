import { expect, it } from '@jest/globals';
import { programAnswer } from '../../support/platform/program-answer.js';

/** Time of a task of `process.nextTick` after a full collection, relative to that before it. */
async function slowdown(args: readonly string[]): Promise<number> {
  const { before, after } = (await programAnswer('task-times', args, ['--expose-gc'])) as {
    before: number;
    after: number;
  };
  return after / before;
}

it('a task of nextTick after a full collection → as fast as before', async () => {
  expect(await slowdown(['kept'])).toBeLessThan(3);
});

it('the same without the task that ADR 0063 keeps → several times slower; otherwise the task could be removed', async () => {
  expect(await slowdown([])).toBeGreaterThan(3);
});
