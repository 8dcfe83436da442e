import { describe, expect, it } from '@jest/globals';
import { countedAtMost, isTooHigh, isTooLow, type ScopeRequests } from './counter-ledger.rules.js';

const NONE: ScopeRequests = {
  ...{ userId: 'ann', recorded: 0, sinceChange: 0, unheard: 0, fromBefore: 0, open: 0, unsent: 0, kept: undefined },
};
const known = (some: Partial<ScopeRequests>): ScopeRequests => ({ ...NONE, ...some });

describe('counter of requests', () => {
  it.each([
    ['as many as events', 5, { recorded: 5, sinceChange: 5 }, false],
    ['one less', 4, { recorded: 5, sinceChange: 5 }, true],
    ['one less, which ran when counting began', 4, { recorded: 5, sinceChange: 5, unheard: 1 }, false],
    ['less, and nobody has called since the application was changed', 0, { recorded: 5 }, false],
    ['more', 6, { recorded: 5, sinceChange: 5 }, false],
  ])('too low? %s', (_name, counter, some, expected) => {
    expect(isTooLow(counter, known(some))).toBe(expected);
  });

  it.each([
    ['as many as events', 5, { recorded: 5 }, 0, false],
    ['one more', 6, { recorded: 5 }, 0, true],
    ['one more, which is open', 6, { recorded: 5, open: 1 }, 0, false],
    ['one more, which was never sent', 6, { recorded: 5, unsent: 1 }, 0, false],
    ['one more, which began before midnight', 6, { recorded: 5, fromBefore: 1 }, 0, false],
    ['one more, which may be open elsewhere', 6, { recorded: 5 }, 1, false],
    ['one more than all of that', 10, { recorded: 5, open: 1, unsent: 1, fromBefore: 1 }, 1, true],
  ])('too high? %s', (_name, counter, some, elsewhere, expected) => {
    expect(isTooHigh(counter, known(some), elsewhere)).toBe(expected);
  });

  it('the expected value → every known request', () => {
    expect(countedAtMost(known({ recorded: 5, open: 2, unsent: 1, fromBefore: 4 }))).toBe(8);
  });
});
