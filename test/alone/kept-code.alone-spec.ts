import { isDeepStrictEqual } from 'node:util';
import { expect, it } from '@jest/globals';
import { engineOptions } from '../../src/bootstrap/engine-options.rules.js';
import { programAnswer } from '../support/platform/program-answer.js';

const ATTEMPTS = 3;
const KEPT = { before: true, after: true, wasCollected: true };

const codeOf = (...options: readonly string[]) =>
  programAnswer('kept-code', [], ['--allow-natives-syntax', ...options]);

/** The first attempt that kept the code, or the last: V8 may collect once more while the process fills its memory. */
async function bestOf(...options: readonly string[]): Promise<unknown> {
  let answer: unknown;
  for (let attempt = 0; attempt < ATTEMPTS && !isDeepStrictEqual(answer, KEPT); attempt++) {
    answer = await codeOf(...options);
  }
  return answer;
}

it('a function whose objects were collected in an idle process → still optimized, only with the options of ADR 0063', async () => {
  const options = engineOptions(process.versions.node);
  const others = options.filter((option) => option !== '--no-memory-reducer-favors-memory');
  const [tuned, untuned] = await Promise.all([bestOf(...options), bestOf(...others)]);
  expect(tuned).toEqual(KEPT);
  expect(untuned).toEqual({ ...KEPT, after: false });
});
