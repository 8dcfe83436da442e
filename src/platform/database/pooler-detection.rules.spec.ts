import { expect, it } from '@jest/globals';
import { haveSessions } from './pooler-detection.rules.js';

it.each([
  ['a backend each', [7, 7, 7], [8, 8, 8], true],
  ['one backend for both', [7, 7], [7, 7], false],
  ['one that changes its backend', [7, 7, 9], [8, 8, 8], false],
  ['both, taking turns', [7, 8], [8, 7], false],
  ['no answer', [], [], false],
])('%s → sessions: %4$p', (_name, one, other, expected) => {
  expect(haveSessions(one, other)).toBe(expected);
});
