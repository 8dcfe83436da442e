import { describe, expect, it } from '@jest/globals';
import { FakeClock } from '../../../test/support/clock.js';
import { backoffMs, retryUnreachable } from './retry-unreachable.js';

const refused = () => Object.assign(new Error('refused'), { code: 'ECONNREFUSED' });

/** An action that fails with these errors, then succeeds; records its attempts and waits. */
function anAction(failures: unknown[], clock = new FakeClock(), passingMs = 0) {
  const waits: [number, string][] = [];
  let attempts = 0;
  const done = retryUnreachable(
    async () => {
      attempts++;
      clock.advance(passingMs);
      const failure = failures.shift();
      if (failure !== undefined) throw failure;
      return 'done';
    },
    { clock, waitMs: 1_000, onWait: (attempt, reason) => waits.push([attempt, reason]) },
  );
  return { done, waits, attempts: () => attempts };
}

describe('work that needs Postgres while it is unreachable', () => {
  it('reachable → done once, nothing logged', async () => {
    const { done, waits, attempts } = anAction([]);
    expect(await done).toBe('done');
    expect([attempts(), waits]).toEqual([1, []]);
  });

  it('twice unreachable → done at the third attempt, each wait logged with its reason', async () => {
    const { done, waits } = anAction([refused(), new Error('Connection terminated unexpectedly')]);
    expect(await done).toBe('done');
    expect(waits).toEqual([
      [1, 'ECONNREFUSED'],
      [2, 'no_answer'],
    ]);
  });

  it('an error that a retry does not solve → thrown at once', async () => {
    const { done, attempts } = anAction([new Error('syntax')]);
    await expect(done).rejects.toThrow('syntax');
    expect(attempts()).toBe(1);
  });

  it('unreachable for longer than the wait → thrown, without one more pause', async () => {
    const { done, attempts } = anAction([refused(), refused(), refused()], new FakeClock(), 480);
    await expect(done).rejects.toThrow('refused');
    expect(attempts()).toBe(2);
  });
});

describe('back-off', () => {
  it('failure after failure → 100 ms, doubling, at most 2 s', () => {
    expect([1, 2, 3, 4, 5, 6, 7, 1_000].map((failures) => backoffMs(failures))).toEqual([
      100, 200, 400, 800, 1_600, 2_000, 2_000, 2_000,
    ]);
  });

  it('other bounds → kept', () => {
    expect([1, 2, 3].map((failures) => backoffMs(failures, { minMs: 10, maxMs: 25 }))).toEqual([10, 20, 25]);
  });
});
