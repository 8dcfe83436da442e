import { expect, it } from '@jest/globals';
import { programAnswer } from '../../support/platform/program-answer.js';

/** Most memory of the allocator that V8 held while it compiled many functions at once, in bytes. */
const peakBytes = async (...args: readonly string[]) => Number(await programAnswer('compiled-memory', args));

it('many functions compiled at once → less than half of the memory, only with the flag of ADR 0063', async () => {
  expect(await peakBytes()).toBeLessThan((await peakBytes('background')) / 2);
});
