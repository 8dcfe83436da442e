import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import { Clock, SystemClock } from './clock.js';

class BackwardClock extends Clock {
  readonly #instantsMs = [1_700_000_000_000, 1_600_000_000_000];

  nowMs(): number {
    return this.#instantsMs.shift() ?? 0;
  }

  monotonicMs(): number {
    return 0;
  }
}

describe('Clock', () => {
  it('now → the instant of nowMs, read again each time', () => {
    const clock = new BackwardClock();
    expect(clock.now().toISOString()).toBe('2023-11-14T22:13:20.000Z');
    expect(clock.now().toISOString()).toBe('2020-09-13T12:26:40.000Z');
  });

  it('system clock → the machine’s time in milliseconds', () => {
    const beforeMs = Date.now();
    const atMs = new SystemClock().nowMs();
    expect(atMs).toBeGreaterThanOrEqual(beforeMs);
    expect(atMs).toBeLessThanOrEqual(Date.now());
  });

  it('system monotonic clock → milliseconds that never decrease', async () => {
    const clock = new SystemClock();
    const outsideMs = performance.now();
    const startMs = clock.monotonicMs();
    await sleep(20);
    const passedMs = clock.monotonicMs() - startMs;
    expect(passedMs).toBeGreaterThan(15);
    expect(passedMs).toBeLessThanOrEqual(performance.now() - outsideMs);
  });
});
