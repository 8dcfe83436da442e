import { describe, expect, it } from '@jest/globals';
import { RequestCounters } from '../counts/request-counters.js';
import { WINDOW_MS, windowIndex } from '../request-limit.rules.js';
import { carriedMinutes, handedCounts } from './handed-counts.rules.js';

const NOW = Date.UTC(2030, 0, 15, 12, 0, 20);
const MINUTE = windowIndex('minute', NOW);
const DAY = windowIndex('day', NOW);
const NOTHING_BEFORE = () => 0;
const callOf = (appId: string) => ({
  organizationId: 'org',
  appId,
  userId: null,
  user: undefined,
  app: undefined,
});

describe('counts that are handed over', () => {
  it('windows that are open or have just ended → only what this instance admitted, in the order of their keys', () => {
    const counters = new RequestCounters();
    const app = counters.ofApp(callOf('b'), MINUTE);
    const user = counters.ofUser(callOf('a'), 'alice', MINUTE);
    app.inMinute(MINUTE - 1, NOTHING_BEFORE).countOwn();
    app.inMinute(MINUTE, () => 40).countOwn();
    app.onDay(DAY).countOwn();
    user.inMinute(MINUTE - 2, NOTHING_BEFORE).countOwn();
    user.inMinute(MINUTE, () => 9);
    user.onDay(DAY).countOwn();
    const minute = { appId: 'b', userId: '', windowMs: WINDOW_MS.minute, requests: 1 };
    const day = { windowMs: WINDOW_MS.day, windowStartMs: DAY * WINDOW_MS.day, requests: 1 };
    expect(handedCounts(counters.scopes(), NOW)).toEqual([
      { ...day, appId: 'a', userId: 'alice' },
      { ...minute, windowStartMs: (MINUTE - 1) * WINDOW_MS.minute },
      { ...minute, windowStartMs: MINUTE * WINDOW_MS.minute },
      { ...day, appId: 'b', userId: '' },
    ]);
  });
});

describe('minutes that began in an earlier epoch', () => {
  const handed = { windowMs: WINDOW_MS.minute, windowStartMs: MINUTE * WINDOW_MS.minute, requests: 12 };
  const counts = [
    { ...handed, appId: 'app', userId: '' },
    { ...handed, appId: 'app', userId: 'alice', requests: 3 },
  ];

  it('begin with the counts handed over; later minutes begin at zero', () => {
    const baseOf = carriedMinutes({ counts, nowMs: NOW, unknownForMs: undefined });
    expect([baseOf('app', '', MINUTE), baseOf('app', 'alice', MINUTE), baseOf('app', 'bob', MINUTE)]).toEqual([
      12, 3, 0,
    ]);
    expect([baseOf('app', '', MINUTE + 1), baseOf('app', '', MINUTE + 60)]).toEqual([0, 0]);
  });

  it('an instance is lost with its counts → the minute in which it may have counted is full, the next is not', () => {
    const baseOf = carriedMinutes({ counts, nowMs: NOW, unknownForMs: 500 });
    expect(baseOf('app', 'bob', MINUTE)).toBe(Number.POSITIVE_INFINITY);
    expect(baseOf('app', 'bob', MINUTE + 1)).toBe(0);
    const later = carriedMinutes({ counts, nowMs: NOW, unknownForMs: 30_000 });
    expect([later('app', '', MINUTE - 1), later('app', '', MINUTE)]).toEqual([Number.POSITIVE_INFINITY, 12]);
  });
});
