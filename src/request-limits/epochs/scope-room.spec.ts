import { describe, expect, it } from '@jest/globals';
import { FakeClock } from '../../../test/support/clock.js';
import { RequestCounters } from '../counts/request-counters.js';
import { windowIndex } from '../request-limit.rules.js';
import { toldCounts, type UntoldWindow } from './handed-counts.rules.js';
import { ScopeRoom } from './scope-room.js';

const NOON = Date.UTC(2030, 0, 15, 12, 0, 20);
const MINUTE_MS = 60_000;
const CALL = { organizationId: 'org', appId: 'app', userId: null, user: undefined, app: undefined };

function crowded() {
  const clock = new FakeClock(NOON);
  const counters = new RequestCounters({ crowdedAt: 2 });
  const room = new ScopeRoom(counters, clock);
  const minute = () => windowIndex('minute', clock.nowMs());
  const callBy = (user: string) => {
    const scope = counters.ofUser(CALL, user, minute());
    scope.inMinute(minute(), () => 0).countOwn();
    scope.onDay(windowIndex('day', clock.nowMs())).countOwn();
  };
  const known = () => [...counters.scopes()].map(({ userId }) => userId);
  const told: unknown[] = [];
  const tell = async (windows: readonly UntoldWindow[]) => {
    told.push(...toldCounts(windows).map(({ userId, requests }) => [userId, requests]));
    return true;
  };
  return { clock, counters, room, callBy, known, told, tell };
}

describe('room for scopes', () => {
  it('crowded → who is idle leaves, after what it used of the day is told; who is not stays', async () => {
    const { clock, room, callBy, known, told, tell } = crowded();
    callBy('idle');
    callBy('idle');
    clock.advance(2 * MINUTE_MS);
    callBy('busy');
    await room.make(tell);
    expect([known(), told]).toEqual([['busy'], [['idle', 2]]]);
  });

  it('not crowded → everybody stays, and nobody is told', async () => {
    const { clock, room, callBy, known, told, tell } = crowded();
    callBy('idle');
    clock.advance(2 * MINUTE_MS);
    await room.make(tell);
    expect([known(), told]).toEqual([['idle'], []]);
  });

  it.each([
    ['is refused', async () => false],
    [
      'fails',
      async () => {
        throw new Error('away');
      },
    ],
  ])('telling %s → everybody stays, and what they used is told the next time', async (_how, refuse) => {
    const { clock, room, callBy, known, told, tell } = crowded();
    callBy('one');
    callBy('two');
    clock.advance(2 * MINUTE_MS);
    await room.make(refuse).catch(() => undefined);
    expect(known()).toEqual(['one', 'two']);
    clock.advance(1_000);
    await room.make(tell);
    expect(known()).toEqual([]);
    expect(told).toEqual([
      ['one', 1],
      ['two', 1],
    ]);
  });

  it('called while its count is told → stays, and only what came since is told later', async () => {
    const { clock, room, callBy, known, told, tell } = crowded();
    callBy('one');
    callBy('two');
    clock.advance(2 * MINUTE_MS);
    await room.make(async (windows) => {
      const isTold = await tell(windows);
      callBy('one');
      return isTold;
    });
    expect(known()).toEqual(['one']);
    callBy('two');
    clock.advance(2 * MINUTE_MS);
    await room.make(tell);
    expect(told).toEqual([
      ['one', 1],
      ['two', 1],
      ['one', 1],
      ['two', 1],
    ]);
  });

  it('asked at every call → looks once a second', async () => {
    const { clock, room, callBy, known, tell } = crowded();
    callBy('one');
    callBy('two');
    await room.make(tell);
    clock.advance(2 * MINUTE_MS);
    await room.make(tell);
    callBy('three');
    callBy('four');
    await room.make(async () => Promise.reject(new Error('a look too many')));
    expect(known()).toEqual(['three', 'four']);
  });
});
