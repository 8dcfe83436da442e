import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  chargesOf,
  grantParts,
  heldFor,
  heldRetrySeconds,
  mayHold,
  secondsToPeriodEnd,
  stepsOf,
} from './budget.rules.js';
import type { CallBudget } from './budget-hold.js';
import { budgetPeriodOf } from './budget-period.rules.js';

const at = (instant: string) => Date.parse(instant);

describe('holding', () => {
  it.each([
    ['free enough, nothing spent', 50, 50, 100, 10, true],
    ['less free than the call may cost', 9, 50, 100, 10, false],
    ['exactly that', 10, 50, 100, 10, true],
    ['spent and held elsewhere: one below the budget', 10, 109, 100, 10, true],
    ['spent and held elsewhere: the budget', 10, 110, 100, 10, false],
    ['not known what is spent', 50, Number.POSITIVE_INFINITY, 100, 10, false],
  ])('%s: free %i, committed %i, budget %i, call %i → %s', (_name, free, committed, budget, call, expected) => {
    expect(mayHold(free, committed, budget, call)).toBe(expected);
  });

  it.each([
    [0, 1],
    [0.2, 1],
    [41.2, 42],
    [1e20, 1e14],
  ])('a call that may cost %d → %d is held', (maxCost, held) => {
    expect(heldFor(maxCost)).toBe(held);
  });

  it('shares: half when alone, one in 4n among n, and nothing that cannot be recalled', () => {
    expect([grantParts(0, false), grantParts(1, false), grantParts(3, true), grantParts(3, false)]).toEqual([
      2, 2, 12, 0,
    ]);
  });

  it('steps: what is needed before each call, and with the call itself', () => {
    expect(stepsOf([5, 1, 7])).toEqual({ before: [0, 5, 6], upTo: [5, 6, 13] });
  });
});

describe('what a call charges to each of its holds (ADR 0017)', () => {
  const budgetOf = (userId: string | null): CallBudget => ({
    ...{ organizationId: 'org-1', appId: 'app', window: 'month', limit: 100 },
    scope: userId === null ? 'app' : 'user',
    subject: userId ?? '',
  });
  const hold = (userId: string | null, amount: number) => ({ budget: budgetOf(userId), amount });
  const ofTeam = { scope: 'group', subject: 'team:blue', window: 'minute_requests' } as const;
  const requestsOfTeam = { budget: { ...budgetOf(null), ...ofTeam }, amount: 1 };

  it.each<[string, { budget: CallBudget; amount: number }[], number, number[]]>([
    ['one hold of each budget → the whole of it', [hold('ann', 5), hold(null, 5)], 7, [7, 7]],
    [
      'more was held later → in their order',
      [hold('ann', 5), hold(null, 5), hold('ann', 4), hold(null, 4)],
      7,
      [5, 5, 2, 2],
    ],
    ['beyond all of them → the last one', [hold(null, 5), hold(null, 4)], 12, [5, 7]],
    ['nothing → nothing', [hold(null, 5), hold(null, 4)], 0, [0, 0]],
    ['no budget', [], 7, []],
    [
      'budgets of tokens and requests → their own measures',
      [hold('ann', 5), { budget: { ...budgetOf('ann'), window: 'day_tokens' }, amount: 9 }, requestsOfTeam],
      7,
      [7, 3, 1],
    ],
  ])('%s', (_name, holds, charged, expected) => {
    expect(chargesOf(holds, { money: charged, tokens: 3, requests: 1 })).toEqual(expected);
  });

  it('any holds → each budget is charged once, and only the last hold may be charged more than it holds', () => {
    const holds = fc.array(fc.record({ budget: fc.constantFrom(budgetOf(null), budgetOf('ann')), amount: fc.nat() }), {
      maxLength: 8,
    });
    fc.assert(
      fc.property(holds, fc.nat(), (held, charged) => {
        const charges = chargesOf(held, { money: charged, tokens: 0, requests: 0 });
        for (const subject of ['', 'ann']) {
          const places = [...held.keys()].filter((at) => held[at]?.budget.subject === subject);
          const sum = places.reduce((total, at) => total + (charges[at] ?? 0), 0);
          expect(sum).toBe(places.length === 0 ? 0 : charged);
          for (const at of places.slice(0, -1)) expect(charges[at]).toBeLessThanOrEqual(held[at]?.amount ?? 0);
        }
      }),
    );
  });
});

describe('Retry-After', () => {
  it.each([
    ['2026-11-30T23:59:59.001Z', 1],
    ['2026-11-30T23:59:58.000Z', 2],
    ['2026-11-30T23:59:58.999Z', 2],
    ['2026-12-01T00:00:00Z', 1],
    ['2026-11-01T00:00:00Z', 30 * 86_400],
  ])('budget spent at %s → %i s until the next month', (instant, seconds) => {
    expect(secondsToPeriodEnd(budgetPeriodOf('month', at('2026-11-20')), at(instant))).toBe(seconds);
  });

  it.each([
    [0, 1],
    [1_001, 2],
    [9_500, 10],
    [3_600_000, 10],
  ])('held by other calls for %i ms → %i s', (heldMs, seconds) => {
    expect(heldRetrySeconds(heldMs)).toBe(seconds);
  });
});
