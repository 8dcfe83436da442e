import { expect, it } from '@jest/globals';
import { programAnswer } from '../support/platform/program-answer.js';

const codeOf = (...args: readonly string[]) => programAnswer('kept-code', args, ['--allow-natives-syntax']);

it('a function whose objects were collected in an idle process → still optimized, only with the flag of ADR 0063', async () => {
  const [tuned, untuned] = await Promise.all([codeOf('tuned'), codeOf()]);
  expect(tuned).toEqual({ before: true, after: true, wasCollected: true });
  expect(untuned).toEqual({ before: true, after: false, wasCollected: true });
});
