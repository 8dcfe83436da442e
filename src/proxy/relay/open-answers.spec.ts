import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { loadEnvironment } from '../../platform/config/environment.js';
import { type AbandonedAnswer, AbandonedAnswers, type OpenAnswer, OpenAnswers } from './open-answers.js';

beforeEach(() => void jest.useFakeTimers({ doNotFake: ['setImmediate', 'queueMicrotask', 'nextTick'] }));
afterEach(() => void jest.useRealTimers());

function setUp({ seconds = 30, max = 500 } = {}) {
  const environment = loadEnvironment({ ABORT_DRAIN_SECONDS: `${seconds}`, ABORT_DRAIN_MAX: `${max}` });
  const abandoned = new AbandonedAnswers(environment);
  const cancelled: string[] = [];
  const answer = (name: string): AbandonedAnswer => ({ cancel: () => void cancelled.push(name) });
  return { abandoned, cancelled, answer };
}

/** One event loop turn. */
const turn = () => new Promise((resolve) => setImmediate(resolve));

describe('answers whose client has disconnected', () => {
  it('within the time → still read; after it → cancelled once', async () => {
    const { abandoned, cancelled, answer } = setUp({ seconds: 30 });
    abandoned.take(answer('a'));
    jest.advanceTimersByTime(29_999);
    await turn();
    expect(cancelled).toEqual([]);
    jest.advanceTimersByTime(1);
    await turn();
    expect(cancelled).toEqual(['a']);
    jest.advanceTimersByTime(60_000);
    await turn();
    expect(cancelled).toEqual(['a']);
  });

  it('ended normally → never cancelled, no timer left', async () => {
    const { abandoned, cancelled, answer } = setUp();
    const one = answer('a');
    abandoned.take(one);
    abandoned.ended(one);
    expect(jest.getTimerCount()).toBe(0);
    jest.advanceTimersByTime(60_000);
    await turn();
    expect(cancelled).toEqual([]);
  });

  it('a kept answer → its own time limit, and takes the place of the oldest at the bound', async () => {
    const { abandoned, cancelled, answer } = setUp({ seconds: 0, max: 2 });
    abandoned.take(answer('a'), 60);
    abandoned.take(answer('b'), 60);
    await turn();
    expect(cancelled).toEqual([]);
    abandoned.take(answer('c'), 60);
    await turn();
    expect(cancelled).toEqual(['a']);
    jest.advanceTimersByTime(60_000);
    await turn();
    expect(cancelled).toEqual(['a', 'b', 'c']);
  });

  it('ended while waiting to be cancelled → not cancelled', async () => {
    const { abandoned, cancelled, answer } = setUp({ seconds: 0 });
    const [one, two] = [answer('a'), answer('b')];
    abandoned.take(one);
    abandoned.take(two);
    abandoned.ended(one);
    await turn();
    expect(cancelled).toEqual(['b']);
  });

  it('more than the bound → the newest are cancelled at once, the others are still read', async () => {
    const { abandoned, cancelled, answer } = setUp({ max: 2 });
    const first = answer('a');
    for (const one of [first, answer('b'), answer('c')]) abandoned.take(one);
    await turn();
    expect(cancelled).toEqual(['c']);
    abandoned.ended(first);
    abandoned.take(answer('d'));
    await turn();
    expect(cancelled).toEqual(['c']);
  });

  it('zero time or a zero bound → cancelled in the next turn, not within the call', async () => {
    for (const bounds of [{ seconds: 0 }, { max: 0 }]) {
      const { abandoned, cancelled, answer } = setUp(bounds);
      abandoned.take(answer('a'));
      expect(cancelled).toEqual([]);
      await turn();
      expect(cancelled).toEqual(['a']);
    }
  });

  it('thousands disconnect at once → 64 per turn, in order, each once', async () => {
    const { abandoned, cancelled, answer } = setUp({ seconds: 0 });
    const names = Array.from({ length: 200 }, (_unused, at) => `${at}`);
    for (const name of names) abandoned.take(answer(name));
    const counts: number[] = [];
    for (let at = 0; at < 5; at++) {
      await turn();
      counts.push(cancelled.length);
    }
    expect(counts).toEqual([64, 128, 192, 200, 200]);
    expect(cancelled).toEqual(names);
  });

  it('the service stops → every answer is cancelled at once, waiting ones included', async () => {
    const { abandoned, cancelled, answer } = setUp({ max: 1 });
    abandoned.take(answer('reading'));
    abandoned.take(answer('waiting'));
    abandoned.cancelAll();
    expect(cancelled).toEqual(['reading', 'waiting']);
    expect(jest.getTimerCount()).toBe(0);
    await turn();
    expect(cancelled).toHaveLength(2);
  });
});

describe('OpenAnswers', () => {
  it('the service stops → every open answer is ended once, even one that ends others; ended ones are not', () => {
    const open = new OpenAnswers();
    const ended: string[] = [];
    const answer = (name: string): OpenAnswer => ({
      ...{ older: undefined, newer: undefined, isLinked: false },
      interrupt() {
        ended.push(name);
        open.delete(this);
      },
    });
    const [first, second, third] = [answer('first'), answer('second'), answer('third')];
    for (const each of [first, second, third]) open.add(each);
    open.delete(second);
    expect(open.isStopping).toBe(false);
    open.interruptAll();
    expect([ended, open.isStopping]).toEqual([['first', 'third'], true]);
  });
});
