import { describe, expect, it } from '@jest/globals';
import { parseRecall, recallKey } from './budget-recall.rules.js';

describe('recall keys', () => {
  it.each([
    ['a budget', { scope: 'user', subject: 'a\n"b', window: 'week', periodStart: '2026-11-23' }],
    ['every budget of an application', null],
  ] as const)('%s → read as written', (_name, budget) => {
    const recall = { instanceId: 'one', appId: 'app', budget };
    expect(parseRecall(recallKey(recall))).toEqual(recall);
  });

  it.each([
    'not JSON',
    '{}',
    '[]',
    '["one"]',
    '["one","app","user"]',
    '["one","app","user","ann","month",1]',
    '["one","app","planet","ann","month","2026-11-01"]',
    '["one","app","user","ann","year","2026-11-01"]',
    '["one","app","user","ann","month"]',
  ])('%s → everything is recalled', (text) => {
    expect(parseRecall(text)).toBeUndefined();
  });
});
