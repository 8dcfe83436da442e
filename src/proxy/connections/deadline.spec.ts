import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Deadline } from './deadline.js';

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

function setUp() {
  let expired = 0;
  const deadline = new Deadline(() => expired++);
  return { deadline, expired: () => expired };
}

describe('a restartable time limit', () => {
  it('started → expires once, after its time; started again → expires again', () => {
    const { deadline, expired } = setUp();
    for (const count of [1, 2]) {
      deadline.start(100);
      jest.advanceTimersByTime(99);
      expect(expired()).toBe(count - 1);
      jest.advanceTimersByTime(1);
      expect(expired()).toBe(count);
      jest.advanceTimersByTime(1_000);
      expect(expired()).toBe(count);
    }
  });

  it('started again before it expires → its full time from then on, with the same timer', () => {
    const { deadline, expired } = setUp();
    for (let at = 0; at < 5; at++) {
      deadline.start(100);
      expect(jest.getTimerCount()).toBe(1);
      jest.advanceTimersByTime(60);
    }
    expect(expired()).toBe(0);
    jest.advanceTimersByTime(40);
    expect(expired()).toBe(1);
  });

  it('stopped → does not expire, whenever it starts again', () => {
    const { deadline, expired } = setUp();
    deadline.start(100);
    jest.advanceTimersByTime(50);
    deadline.stop();
    jest.advanceTimersByTime(10);
    deadline.start(100);
    jest.advanceTimersByTime(99);
    expect(expired()).toBe(0);
    jest.advanceTimersByTime(1);
    expect(expired()).toBe(1);
  });

  it.each([
    [100, 30],
    [30, 100],
  ])('%i ms and then %i ms → the second applies', (firstMs, secondMs) => {
    const { deadline, expired } = setUp();
    deadline.start(firstMs);
    deadline.start(secondMs);
    jest.advanceTimersByTime(secondMs - 1);
    expect(expired()).toBe(0);
    jest.advanceTimersByTime(1);
    expect(expired()).toBe(1);
  });

  it('0 → no limit', () => {
    const { deadline, expired } = setUp();
    deadline.start(100);
    deadline.start(0);
    jest.advanceTimersByTime(1_000);
    expect(expired()).toBe(0);
  });

  it('ended → no timer is left', () => {
    const { deadline, expired } = setUp();
    deadline.start(100);
    deadline.end();
    expect(jest.getTimerCount()).toBe(0);
    jest.advanceTimersByTime(1_000);
    expect(expired()).toBe(0);
  });
});
