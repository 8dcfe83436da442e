import { expect, it } from '@jest/globals';
import { engineOptions } from '../../../src/bootstrap/engine-options.rules.js';
import { programAnswer } from '../../support/platform/program-answer.js';

/** Most memory of the allocator that V8 held while it compiled many functions at once, in bytes. */
const peakBytes = async (options: readonly string[]) => Number(await programAnswer('compiled-memory', [], options));

it('many functions compiled at once → less than half of the memory, only with the options of ADR 0063', async () => {
  const options = engineOptions(process.versions.node);
  const others = options.filter((option) => option !== '--no-maglev-destroy-on-background');
  expect(await peakBytes(options)).toBeLessThan((await peakBytes(others)) / 2);
});
