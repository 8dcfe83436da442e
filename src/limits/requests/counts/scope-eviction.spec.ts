import { describe, expect, it } from '@jest/globals';
import { FakeClock } from '../../../../test/support/clock.js';
import { reportedCounts, type UnreportedWindow } from '../epochs/handed-counts.rules.js';
import { windowIndex } from '../request-limit.rules.js';
import { RequestCounters, ScopeEviction } from './request-counters.js';

const NOON = Date.UTC(2030, 0, 15, 12, 0, 20);
const MINUTE_MS = 60_000;
const CALL = { organizationId: 'org', appId: 'app', userId: null, user: undefined, app: undefined };

function crowded() {
  const clock = new FakeClock(NOON);
  const counters = new RequestCounters({ crowdedAt: 2 });
  const eviction = new ScopeEviction(counters, clock);
  const minute = () => windowIndex('minute', clock.nowMs());
  const callBy = (user: string) => {
    const scope = counters.ofUser(CALL, user, minute());
    scope.inMinute(minute(), () => 0).countOwn();
    scope.onDay(windowIndex('day', clock.nowMs())).countOwn();
  };
  const known = () => [...counters.scopes()].map(({ userId }) => userId);
  const reported: unknown[] = [];
  const report = async (windows: readonly UnreportedWindow[]) => {
    reported.push(...reportedCounts(windows).map(({ userId, requests }) => [userId, requests]));
    return true;
  };
  return { clock, counters, eviction, callBy, known, reported, report };
}

describe('eviction of scopes', () => {
  it('crowded → idle scopes are evicted after their daily use is reported; the others stay', async () => {
    const { clock, eviction, callBy, known, reported, report } = crowded();
    callBy('idle');
    callBy('idle');
    clock.advance(2 * MINUTE_MS);
    callBy('busy');
    await eviction.run(report);
    expect([known(), reported]).toEqual([['busy'], [['idle', 2]]]);
  });

  it('not crowded → all scopes stay, and nothing is reported', async () => {
    const { clock, eviction, callBy, known, reported, report } = crowded();
    callBy('idle');
    clock.advance(2 * MINUTE_MS);
    await eviction.run(report);
    expect([known(), reported]).toEqual([['idle'], []]);
  });

  it.each([
    ['is refused', async () => false],
    [
      'fails',
      async () => {
        throw new Error('away');
      },
    ],
  ])('reporting %s → all scopes stay, and their use is reported the next time', async (_how, refuse) => {
    const { clock, eviction, callBy, known, reported, report } = crowded();
    callBy('one');
    callBy('two');
    clock.advance(2 * MINUTE_MS);
    await eviction.run(refuse).catch(() => undefined);
    expect(known()).toEqual(['one', 'two']);
    clock.advance(1_000);
    await eviction.run(report);
    expect(known()).toEqual([]);
    expect(reported).toEqual([
      ['one', 1],
      ['two', 1],
    ]);
  });

  it('called while its count is reported → stays, and only later calls are reported the next time', async () => {
    const { clock, eviction, callBy, known, reported, report } = crowded();
    callBy('one');
    callBy('two');
    clock.advance(2 * MINUTE_MS);
    await eviction.run(async (windows) => {
      const isReported = await report(windows);
      callBy('one');
      return isReported;
    });
    expect(known()).toEqual(['one']);
    callBy('two');
    clock.advance(2 * MINUTE_MS);
    await eviction.run(report);
    expect(reported).toEqual([
      ['one', 1],
      ['two', 1],
      ['one', 1],
      ['two', 1],
    ]);
  });

  it('called for every request → checks once a second', async () => {
    const { clock, eviction, callBy, known, report } = crowded();
    callBy('one');
    callBy('two');
    await eviction.run(report);
    clock.advance(2 * MINUTE_MS);
    await eviction.run(report);
    callBy('three');
    callBy('four');
    await eviction.run(async () => Promise.reject(new Error('a look too many')));
    expect(known()).toEqual(['three', 'four']);
  });
});
