import { describe, expect, it } from '@jest/globals';
import { heldBy } from '../../../test/support/proxy/counted-holds.js';
import type { CallBudget } from '../../budgets/budget-hold.js';
import { GrowingHolds } from './growing-holds.js';

const app: CallBudget = {
  ...{ organizationId: 'org-1', appId: 'app', scope: 'app', subject: '', window: 'month', limit: 1e9 },
};
const user: CallBudget = { ...app, scope: 'user', subject: 'ann' };

/** Funds of a call that holds 100 in each of two budgets; `empty` grants no more. */
function funds(empty?: CallBudget) {
  const told: string[] = [];
  const ends: string[][] = [];
  const money = {
    holdMore: (budget: CallBudget, amount: number) => {
      told.push(`${budget.scope} ${amount}`);
      if (budget === empty) return undefined;
      const more = heldBy(amount, budget);
      ends.push(more.ends);
      return more.holds[0];
    },
  };
  const held = [...heldBy(100, user).holds, ...heldBy(100, app).holds];
  return { funds: new GrowingHolds(held, money, 0), told, ends };
}

describe('money that a request needs later (ADR 0017)', () => {
  it('the hold is sufficient → no statement', () => {
    const { funds: call, told } = funds();
    expect([call.cover(100), told, call.holds.length]).toEqual([true, [], 2]);
  });

  it('the hold is insufficient → the missing amount from each budget, and nothing the next time', () => {
    const { funds: call, told } = funds();
    expect([call.cover(130), call.cover(120), call.cover(150)]).toEqual([true, true, true]);
    expect(told).toEqual(['user 30', 'app 30', 'user 20', 'app 20']);
    expect(call.holds.map(({ amount }) => amount)).toEqual([100, 100, 30, 30, 20, 20]);
  });

  it('the second budget has nothing → the amount from the first is returned, and the holds are unchanged', () => {
    const { funds: call, ends } = funds(app);
    expect([call.cover(130), call.holds.length, ends]).toEqual([false, 2, [['released 30']]]);
  });

  it('no budget → nothing has to be held', () => {
    const call = new GrowingHolds([], { holdMore: () => undefined }, 0);
    expect(call.cover(1e12)).toBe(true);
  });
});
