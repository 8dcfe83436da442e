import { expect, it } from '@jest/globals';
import { inOrder } from './search-order.rules';

const found = [
  { group: 'Decisions', terms: ['budget'], is: 'decision' },
  { group: 'Reference', terms: ['budgets'], is: 'reference' },
  { group: 'Guides', terms: ['budgie'], is: 'misspelt' },
  { group: 'Guides', terms: ['budget'], is: 'guide' },
];
const order = (text: string) => inOrder(found, text).map(({ is }) => is);

it('a word → guides, reference, decisions, then other spellings', () => {
  expect(order('Budget')).toEqual(['guide', 'reference', 'decision', 'misspelt']);
});

it.each(['app_not_found', 'limits.per_user', 'budget:read'])('the name %s → the best match first', (name) => {
  expect(order(name)).toEqual(found.map(({ is }) => is));
});
