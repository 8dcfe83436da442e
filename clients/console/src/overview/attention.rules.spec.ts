import { expect, it } from '@jest/globals';
import { type AttentionItem, attentionText } from './attention.rules';

const item = (changed: Partial<AttentionItem>): AttentionItem => ({
  ...{ kind: 'app_budget', id: 'journal', name: 'Journal', app_id: 'journal', app_name: 'Journal', count: 1 },
  ...{ amount_usd: 4, budget_usd: 5, window: 'month', since: null },
  ...changed,
});

it.each([
  [item({}), 'Journal has used 80% of its budget', '/apps/journal/limits', false],
  [item({ amount_usd: 5 }), 'Journal has used 100% of its budget', '/apps/journal/limits', true],
  [
    item({ kind: 'user_budgets', count: 2 }),
    '2 users of Journal have used 80% of the budget or more',
    '/apps/journal/users?sort=budget&min_budget_percent=80',
    false,
  ],
  [
    item({ kind: 'user_budgets', amount_usd: 6 }),
    '1 user of Journal has used 80% of the budget or more',
    '/apps/journal/users?sort=budget&min_budget_percent=80',
    true,
  ],
  [item({ kind: 'provider_failing', name: 'OpenAI', count: 3 }), 'OpenAI is failing', '/providers', true],
  [
    item({ kind: 'unresolved_costs', count: 1_200 }),
    '1,200 calls of Journal have an unresolved cost',
    '/apps/journal/usage',
    false,
  ],
  [item({ kind: 'unused_app_key', name: 'Old' }), 'Key “Old” of Journal is unused', '/apps/journal/auth', false],
  [item({ kind: 'unused_management_key', name: 'CI' }), 'Management key “CI” is unused', '/access', false],
])('%j → what it is, and where to fix it', (of, title, to, isUrgent) => {
  expect(attentionText(of)).toMatchObject({ title, to, isUrgent });
});

it.each([
  ['day', 'today (UTC)'],
  ['week', 'this week (from Monday, UTC)'],
  ['month', 'this month (UTC)'],
  ['total', 'in total'],
] as const)('a budget by %s → says %s', (window, when) => {
  expect(attentionText(item({ window })).detail).toBe(`$4.00 of $5.00 ${when}.`);
  expect(attentionText(item({ kind: 'user_budgets', window })).detail).toBe(`The most is 80% of $5.00 ${when}.`);
});
