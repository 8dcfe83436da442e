import { describe, expect, it } from '@jest/globals';
import { counterName } from './address-limit.rules.js';
import { WindowCounters } from './window-counters.js';

const FIRST = 60_000;
const SECOND = 120_000;
const THIRD = 180_000;

const nameOf = (address: number) => counterName('app_auth_token', { subject: String(address), app: 'app' });

function fill(counters: WindowCounters, names: number): void {
  for (let at = 0; at < names; at++) counters.increment(FIRST, nameOf(at));
}

describe('window counters', () => {
  it('the same name → 1, 2, 3; another name, another window → from 1', () => {
    const counters = new WindowCounters();
    expect([1, 2, 3].map(() => counters.increment(FIRST, 'a').count)).toEqual([1, 2, 3]);
    expect(counters.increment(FIRST, 'b')).toEqual({ name: 'b', count: 1 });
    expect(counters.increment(SECOND, 'a').count).toBe(1);
  });

  it('the clock is set back into the previous window and forward again → both counts continue', () => {
    const counters = new WindowCounters();
    const counted = [FIRST, SECOND, FIRST, SECOND, SECOND].map((window) => counters.increment(window, 'a').count);
    expect(counted).toEqual([1, 1, 2, 2, 3]);
  });

  it('a third window → the oldest is dropped', () => {
    const counters = new WindowCounters();
    const counted = [FIRST, SECOND, THIRD, SECOND, FIRST].map((window) => counters.increment(window, 'a').count);
    expect(counted).toEqual([1, 1, 1, 2, 1]);
  });

  it('more names than fit → those counted before keep their counts, further ones share buckets', () => {
    const counters = new WindowCounters(10);
    fill(counters, 1_000);
    expect(counters.increment(FIRST, nameOf(3))).toEqual({ name: nameOf(3), count: 2 });
    expect(counters.increment(FIRST, nameOf(500))).toEqual({
      name: expect.stringMatching(/^bucket:\d+$/),
      count: expect.any(Number),
    });
  });

  it('a bucket → never counts less than the calls of each of its callers', () => {
    const counters = new WindowCounters(0);
    fill(counters, 100_000);
    for (let asked = 2; asked <= 5; asked++) {
      expect(counters.increment(FIRST, nameOf(77)).count).toBeGreaterThanOrEqual(asked);
    }
  });

  it('many more names than fit → all buckets are used about equally often', () => {
    const counters = new WindowCounters(0);
    let most = 0;
    for (let at = 0; at < 65_536; at++) most = Math.max(most, counters.increment(FIRST, nameOf(at)).count);
    expect(most).toBeLessThan(15);
  });

  it('the next window → exact again', () => {
    const counters = new WindowCounters(1);
    fill(counters, 10);
    expect(counters.increment(SECOND, 'a')).toEqual({ name: 'a', count: 1 });
  });
});
