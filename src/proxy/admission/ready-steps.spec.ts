import { describe, expect, it } from '@jest/globals';
import { rejectionOf } from '../../../test/support/rejection-of.js';
import { inTurn, orElse } from './ready-steps.js';

const FAILURE = new Error('no');

describe('steps in turn', () => {
  it('none has to be waited for → all done at once, without a promise', () => {
    const done: number[] = [];
    expect(
      inTurn(
        () => void done.push(1),
        () => void done.push(2),
      ),
    ).toBeUndefined();
    expect(done).toEqual([1, 2]);
  });

  it('some have to be waited for → each begins when the one before is done', async () => {
    const done: number[] = [];
    const later = (step: number) => async () => {
      await Promise.resolve();
      done.push(step);
    };
    await inTurn(later(1), () => void done.push(2), later(3), later(4));
    expect(done).toEqual([1, 2, 3, 4]);
  });

  it('one fails → the next ones never begin', async () => {
    const done: number[] = [];
    const failed = inTurn(
      () => Promise.reject(FAILURE),
      () => void done.push(2),
    );
    expect([await rejectionOf(Promise.resolve(failed)), done]).toEqual([FAILURE, []]);
  });
});

describe('an attempt that may fail', () => {
  it('it succeeds → its value, and nothing is made up for', async () => {
    expect(
      orElse(
        () => 1,
        () => 2,
      ),
    ).toBe(1);
    expect(
      await orElse(
        async () => 1,
        () => 2,
      ),
    ).toBe(1);
  });

  it('it fails, now or later → what is made up for it', async () => {
    const fails = (): number => {
      throw FAILURE;
    };
    expect(orElse(fails, () => 2)).toBe(2);
    expect(
      await orElse<number>(
        async () => fails(),
        () => 2,
      ),
    ).toBe(2);
  });
});
