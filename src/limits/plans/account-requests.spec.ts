import { describe, expect, it } from '@jest/globals';
import { FakeClock } from '../../../test/support/clock.js';
import { rejectionOf } from '../../../test/support/rejection-of.js';
import { epochMsOf } from '../../common/clock.js';
import type { RecordedAccountRequests } from '../../usage/recording/recorded-requests.service.js';
import { AccountRequests } from './account-requests.js';

const NOW = epochMsOf('2026-11-20T12:00:00Z');
const DAY_MS = 86_400_000;

/** A fake source of recorded requests that logs its queries. */
class FakeRecorded implements Pick<RecordedAccountRequests, 'countSince'> {
  readonly questions: string[] = [];
  stored = 0;
  fails = false;
  /** Runs during a query. */
  meanwhile: () => void = () => {};

  async countSince(organizationId: string, day: string): Promise<number> {
    this.questions.push(`${organizationId} ${day}`);
    const answer = this.stored;
    await Promise.resolve();
    this.meanwhile();
    if (this.fails) throw new Error('away');
    return answer;
  }
}

function counting() {
  const recorded = new FakeRecorded();
  const clock = new FakeClock(NOW);
  return { recorded, clock, requests: new AccountRequests(recorded, clock) };
}

/** Waits for background work. */
const settled = () => new Promise((resolve) => setImmediate(resolve));

describe('AccountRequests', () => {
  it('first calls → wait for one answer, later calls pass at once', async () => {
    const { recorded, requests } = counting();
    recorded.stored = 7;
    const counts = await Promise.all([requests.of('a', 1), requests.of('a', 1), requests.of('a', 1)]);
    expect(recorded.questions).toEqual(['a 2026-11-01']);
    expect(counts.map(({ used }) => used)).toEqual([7, 7, 7]);
    expect(requests.of('a', 1)).not.toBeInstanceOf(Promise);
  });

  it('limit → exactly as many calls pass as are left', async () => {
    const { recorded, requests } = counting();
    recorded.stored = 7;
    const count = await requests.of('a', 1);
    expect(Array.from({ length: 5 }, () => count.add(10))).toEqual([true, true, true, false, false]);
    expect(count.used).toBe(10);
  });

  it('calls of this instance that are not stored yet → still count after the next answer', async () => {
    const { recorded, clock, requests } = counting();
    const count = await requests.of('a', 1);
    for (let call = 0; call < 5; call++) count.add(100);
    recorded.stored = 3;
    clock.advance(3_000);
    await requests.of('a', 1);
    await settled();
    expect(recorded.questions).toHaveLength(2);
    expect(count.used).toBe(5);
  });

  it('calls stored by other instances → known after three seconds, by one query in the background', async () => {
    const { recorded, clock, requests } = counting();
    const count = await requests.of('a', 1);
    recorded.stored = 40;
    clock.advance(2_999);
    await requests.of('a', 1);
    expect(recorded.questions).toHaveLength(1);
    clock.advance(1);
    recorded.meanwhile = () => count.add(100);
    expect([requests.of('a', 1), requests.of('a', 1)]).toEqual([count, count]);
    await settled();
    expect(recorded.questions).toHaveLength(2);
    expect(count.used).toBe(40);
  });

  it('a slow answer → the next query waits twenty times as long', async () => {
    const { recorded, clock, requests } = counting();
    recorded.meanwhile = () => clock.advance(1_000);
    await requests.of('a', 1);
    clock.advance(19_999);
    await requests.of('a', 1);
    expect(recorded.questions).toHaveLength(1);
    clock.advance(1);
    await requests.of('a', 1);
    expect(recorded.questions).toHaveLength(2);
  });

  it('withdrawn → no longer counted, even by an earlier query; an account without a count → no effect', async () => {
    const { requests } = counting();
    const count = await requests.of('a', 1);
    count.add(1);
    requests.withdraw('a');
    requests.withdraw('a');
    requests.withdraw('b');
    expect([count.used, count.add(1), count.add(1)]).toEqual([0, true, false]);
  });

  it('end of the period → a new count from the stored calls; the clock goes back → the new count stays', async () => {
    const { recorded, clock, requests } = counting();
    (await requests.of('a', 21)).add(1);
    clock.advance(DAY_MS);
    const next = await requests.of('a', 21);
    expect(recorded.questions).toEqual(['a 2026-10-21', 'a 2026-11-21']);
    expect(next.used).toBe(0);
    next.add(1);
    clock.advance(-DAY_MS);
    expect(await requests.of('a', 21)).toBe(next);
  });

  it('another anchor day → another period, queried at once', async () => {
    const { recorded, requests } = counting();
    await requests.of('a', 1);
    await requests.of('a', 10);
    expect(recorded.questions).toEqual(['a 2026-11-01', 'a 2026-11-10']);
  });

  it('first query fails → waiting calls get the error, the next call queries again', async () => {
    const { recorded, requests } = counting();
    recorded.fails = true;
    await rejectionOf(Promise.resolve(requests.of('a', 1)));
    recorded.fails = false;
    recorded.stored = 2;
    expect((await requests.of('a', 1)).used).toBe(2);
  });

  it('a later query fails → calls continue, and the query is repeated after three seconds', async () => {
    const { recorded, clock, requests } = counting();
    const count = await requests.of('a', 1);
    recorded.fails = true;
    clock.advance(3_000);
    for (let call = 0; call < 3; call++) {
      expect(requests.of('a', 1)).toBe(count);
      await settled();
    }
    expect(recorded.questions).toHaveLength(2);
    clock.advance(3_000);
    expect(requests.of('a', 1)).toBe(count);
    expect(recorded.questions).toHaveLength(3);
    await settled();
  });

  it('a person asks → the answer shows what is stored now', async () => {
    const { recorded, clock, requests } = counting();
    await requests.freshOf('a', 1);
    recorded.stored = 9;
    clock.advance(3_000);
    expect((await requests.freshOf('a', 1)).used).toBe(9);
  });

  it('two instances → each sees what the other stored, and neither counts a request twice', async () => {
    const recorded = new FakeRecorded();
    const clock = new FakeClock(NOW);
    const instances = [new AccountRequests(recorded, clock), new AccountRequests(recorded, clock)];
    let admitted = 0;
    let refused = 0;
    while (refused < 4) {
      let passed = 0;
      for (const instance of instances) {
        const count = await instance.of('a', 1);
        for (let call = 0; call < 3; call++) {
          if (count.add(50)) passed++;
          else refused++;
        }
      }
      admitted += passed;
      recorded.stored = admitted;
      clock.advance(3_000);
      for (const instance of instances) void instance.of('a', 1);
      await settled();
    }
    expect(admitted).toBeGreaterThanOrEqual(50);
    // The calls that the other instance admits within one round.
    expect(admitted).toBeLessThanOrEqual(50 + 3);
  });
});
