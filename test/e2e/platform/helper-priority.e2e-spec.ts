import { expect, it } from '@jest/globals';
import { programAnswer } from '../../support/platform/program-answer.js';

it('ten seconds under load → the helper threads of the engine yield further, to a tenth of the share', async () => {
  const { first, last, seconds } = Object(await programAnswer('helper-priority'));
  expect({ first, last }).toEqual({ first: [5], last: [10] });
  expect(seconds).toBeGreaterThan(9);
});
