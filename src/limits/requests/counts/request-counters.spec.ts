import { describe, expect, it } from '@jest/globals';
import type { LimitedCall } from '../limited-call.js';
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
  it('the same scope → the same counts; another user or application → others', () => {
    const counters = new RequestCounters(false);
    const alice = counters.ofUser(CALL, 'alice', NOON);
    expect(counters.ofUser(CALL, 'alice', NOON)).toBe(alice);
    expect(counters.ofUser(CALL, 'bob', NOON)).not.toBe(alice);
    expect(counters.ofUser(callOf('other'), 'alice', NOON)).not.toBe(alice);
    expect(counters.ofApp(CALL, NOON)).not.toBe(alice);
    expect([...counters.scopes()]).toHaveLength(4);
  });

  it('too many → those that nobody uses go; one in use stays, however many come', () => {
    const counters = new RequestCounters(false, 100);
    for (let user = 0; user < 90; user++) counters.ofUser(CALL, `idle-${user}`, NOON - 5);
    const alice = counters.ofUser(CALL, 'alice', NOON);
    for (let user = 0; user < 500; user++) counters.ofUser(CALL, `busy-${user}`, NOON);
    expect(counters.ofUser(CALL, 'alice', NOON)).toBe(alice);
    expect([...counters.scopes()]).toHaveLength(501);
    for (let user = 0; user < 2_000; user++) counters.ofUser(CALL, `later-${user}`, NOON + 5);
    expect([...counters.scopes()]).toHaveLength(2_000);
  });

  it('nobody else knows what was counted today → idle scopes stay until the day is over', () => {
    const counters = new RequestCounters(true, 100);
    const alice = counters.ofUser(CALL, 'alice', NOON);
    for (let user = 0; user < 500; user++) counters.ofUser(CALL, `user-${user}`, NOON + 300);
    expect(counters.ofUser(CALL, 'alice', NOON + 301)).toBe(alice);
  });

  it('the clock is set back by less than a window → what was counted is still there', () => {
    const counters = new RequestCounters(false);
    const scope = counters.ofApp(CALL, NOON);
    scope.inMinute(NOON, NOTHING_BEFORE).countOwn();
    scope.inMinute(NOON + 1, NOTHING_BEFORE).countOwn();
    expect(scope.inMinute(NOON, NOTHING_BEFORE)).toMatchObject({ own: 1, count: 1 });
    expect(scope.inMinute(NOON + 1, NOTHING_BEFORE)).toMatchObject({ own: 1, count: 1 });
    expect(scope.inMinute(NOON + 2, () => 7)).toMatchObject({ own: 0, count: 7, base: 7 });
    expect(scope.inMinute(NOON + 1, NOTHING_BEFORE)).toMatchObject({ own: 1 });
  });

  it('a day that is asked about while another begins → its answer goes to no other day', () => {
    const scope = new RequestCounters(false).ofApp(CALL, NOON);
    const first = scope.onDay(1);
    first.asking = Promise.resolve();
    scope.onDay(2);
    expect(scope.onDay(3)).not.toBe(first);
  });

  it('an application may have been changed → its days are to be asked for again', () => {
    const counters = new RequestCounters(false);
    const scope = counters.ofApp(CALL, NOON);
    const other = counters.ofApp(callOf('other'), NOON);
    counters.appChanged('app');
    counters.appChanged('unknown');
    expect([scope.app.changes, other.app.changes]).toEqual([1, 0]);
    counters.everythingChanged();
    expect([scope.app.changes, other.app.changes]).toEqual([2, 1]);
  });

  it('an application nobody has called for two days → what marks it in Redis is not expected any more', () => {
    const counters = new RequestCounters(false);
    const { app } = counters.ofApp(CALL, NOON);
    app.mark = 5;
    expect(counters.ofApp(CALL, NOON + DAY_MINUTES).app.mark).toBe(5);
    expect(counters.ofApp(CALL, NOON + 3 * DAY_MINUTES).app.mark).toBe(0);
  });
});
