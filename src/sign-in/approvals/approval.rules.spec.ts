import { expect, it } from '@jest/globals';
import { instantOf } from '../../common/clock.js';
import { stateAt } from './approval.rules.js';

it.each([
  ['pending', 1, 'pending'],
  ['pending', 0, 'expired'],
  ['completed', 0, 'completed'],
  ['completed', -8_000, 'completed'],
  ['denied', 0, 'denied'],
  ['denied', -8_000, 'denied'],
] as const)('%s with %i ms left → %s', (state, leftMs, expected) => {
  expect(stateAt({ state, expiresAt: instantOf(10_000 + leftMs) }, 10_000)).toBe(expected);
});
