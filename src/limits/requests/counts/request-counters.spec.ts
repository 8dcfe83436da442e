import { describe, expect, it } from '@jest/globals';
import type { LimitedCall } from '../request-counting.js';
import { RequestCounters } from './request-counters.js';

const DAY_MINUTES = 1_440;
const NOON = 1_000 * DAY_MINUTES + 720;
const NOTHING_BEFORE = () => 0;

const callOf = (appId: string): LimitedCall => ({
  organizationId: 'org',
  appId,
  userId: null,
  user: undefined,
  app: undefined,
});

const CALL = callOf('app');

describe('request counters', () => {
  it('the same scope → the same counts; another user or application → other counts', () => {
    const counters = new RequestCounters();
    const alice = counters.ofUser(CALL, 'alice', NOON);
    expect(counters.ofUser(CALL, 'alice', NOON)).toBe(alice);
    expect(counters.ofUser(CALL, 'bob', NOON)).not.toBe(alice);
    expect(counters.ofUser(callOf('other'), 'alice', NOON)).not.toBe(alice);
    expect(counters.ofApp(CALL, NOON)).not.toBe(alice);
    expect([...counters.scopes()]).toHaveLength(4);
  });

  it('full → reports it for each further scope; scopes without calls in this or the previous minute are idle', () => {
    let told = 0;
    const counters = new RequestCounters({ crowdedAt: 3, onCrowded: () => told++ });
    counters.ofUser(CALL, 'idle', NOON - 2);
    counters.ofUser(CALL, 'recent', NOON - 1);
    expect([counters.isCrowded, told]).toEqual([false, 0]);
    counters.ofUser(CALL, 'busy', NOON);
    counters.ofUser(CALL, 'busy', NOON);
    expect([counters.isCrowded, told]).toEqual([true, 0]);
    counters.ofUser(CALL, 'new', NOON);
    expect(told).toBe(1);
    expect(counters.idle(NOON).map(({ userId }) => userId)).toEqual(['idle']);
  });

  it('idle scopes are released → no longer known; one that is in use again stays', () => {
    const counters = new RequestCounters({ crowdedAt: 3 });
    const busy = counters.ofUser(CALL, 'busy', NOON - 5);
    counters.ofUser(CALL, 'idle', NOON - 5);
    counters.ofApp(CALL, NOON - 5);
    const idle = counters.idle(NOON);
    expect(idle).toHaveLength(3);
    expect(counters.findUser(CALL, 'busy', NOON)).toBe(busy);
    expect(counters.hasEvicted).toBe(false);
    counters.evict(idle, NOON);
    expect([...counters.scopes()]).toEqual([busy]);
    expect([counters.hasEvicted, counters.isCrowded]).toEqual([true, false]);
  });

  it('the maximum number is in use → no further scope is added, and all of them stay', () => {
    const counters = new RequestCounters({ maxScopes: 50 });
    const alice = counters.ofUser(CALL, 'alice', NOON);
    const make = (user: string) => () => counters.ofUser(CALL, user, NOON);
    for (let user = 1; user < 50; user++) make(`user-${user}`)();
    for (let user = 0; user < 500; user++) {
      expect(make(`further-${user}`)).toThrow(expect.objectContaining({ reason: 'request_counters_full' }));
    }
    expect(() => counters.ofApp(CALL, NOON)).toThrow(expect.objectContaining({ status: 503, retryAfterSeconds: 60 }));
    expect([...counters.scopes()]).toHaveLength(50);
    expect(counters.ofUser(CALL, 'alice', NOON)).toBe(alice);
    counters.evict(counters.idle(NOON + 2), NOON + 2);
    expect(make('further-1')().userId).toBe('further-1');
  });

  it('a user is only looked up or read → takes no place', () => {
    const counters = new RequestCounters();
    expect(counters.findUser(CALL, 'alice', NOON)).toBeUndefined();
    expect(counters.temporaryUser(CALL, 'alice', NOON).userId).toBe('alice');
    expect([...counters.scopes()]).toEqual([]);
  });

  it('the clock is set back by less than a window → earlier counts are still there', () => {
    const counters = new RequestCounters();
    const scope = counters.ofApp(CALL, NOON);
    scope.inMinute(NOON, NOTHING_BEFORE).countOwn();
    scope.inMinute(NOON + 1, NOTHING_BEFORE).countOwn();
    expect(scope.inMinute(NOON, NOTHING_BEFORE)).toMatchObject({ own: 1, count: 1 });
    expect(scope.inMinute(NOON + 1, NOTHING_BEFORE)).toMatchObject({ own: 1, count: 1 });
    expect(scope.inMinute(NOON + 2, () => 7)).toMatchObject({ own: 0, count: 7, base: 7 });
    expect(scope.inMinute(NOON + 1, NOTHING_BEFORE)).toMatchObject({ own: 1 });
  });

  it('a new day begins during a query → its answer counts only for the old day', () => {
    const scope = new RequestCounters().ofApp(CALL, NOON);
    const first = scope.onDay(1);
    first.loading = Promise.resolve();
    scope.onDay(2);
    expect(scope.onDay(3)).not.toBe(first);
  });

  it('an application may have been changed → its daily counts are queried again', () => {
    const counters = new RequestCounters();
    const scope = counters.ofApp(CALL, NOON);
    const other = counters.ofApp(callOf('other'), NOON);
    counters.appChanged('app');
    counters.appChanged('unknown');
    expect([scope.app.changes, other.app.changes]).toEqual([1, 0]);
    counters.everythingChanged();
    expect([scope.app.changes, other.app.changes]).toEqual([2, 1]);
  });

  it('an application without a call for two days → its Redis marker is no longer expected', () => {
    const counters = new RequestCounters();
    const { app } = counters.ofApp(CALL, NOON);
    app.mark = 5;
    expect(counters.ofApp(CALL, NOON + DAY_MINUTES).app.mark).toBe(5);
    expect(counters.ofApp(CALL, NOON + 3 * DAY_MINUTES).app.mark).toBe(0);
  });
});
