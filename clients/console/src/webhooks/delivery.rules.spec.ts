import { describe, expect, it } from '@jest/globals';
import { answerText, type Delivery, markOf, testText } from './delivery.rules';

const TESTED: Delivery = {
  ...{ id: 1, event_id: 'evt_1', type: 'webhook.test', status: 'failed', attempts: 1 },
  ...{ response_status: 500, duration_ms: 40, created_at: '2026-11-28T12:00:00.000Z', next_attempt_at: null },
};

describe('description of a delivery', () => {
  it.each([
    ['delivered', 1, 'Delivered', 'good'],
    ['pending', 0, 'Pending', 'neutral'],
    ['pending', 2, 'Retrying', 'warn'],
    ['failed', 10, 'Failed', 'bad'],
    ['disabled', 3, 'Given up', 'neutral'],
  ] as const)('%s after %s attempts → %s, %s', (status, attempts, label, tone) => {
    expect(markOf({ status, attempts })).toEqual({ label, tone });
  });

  it.each([
    [0, null, null, '—'],
    [1, 204, 45, '204 in 45 ms'],
    [2, null, 15_000, 'no answer in 15.0 s'],
  ])('%s attempts, the last answered %s in %s ms → %s', (attempts, response_status, duration_ms, text) => {
    expect(answerText({ attempts, response_status, duration_ms })).toBe(text);
  });

  it.each([
    [{ status: 'delivered', response_status: 204 }, /answered 204 in 40 ms\. It accepts events\.$/],
    [{ response_status: 500 }, /answered 500 in 40 ms\. Only a status from 200 to 299 counts as delivered\.$/],
    [{ response_status: 302 }, /Redirects are not followed\.$/],
    [{ response_status: null }, /did not answer/],
  ] as const)('a test with %j → says whether it succeeded', (answer, text) => {
    expect(testText({ ...TESTED, ...answer })).toMatch(text);
  });
});
