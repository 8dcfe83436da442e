import { describe, expect, it } from '@jest/globals';
import { FakeClock } from '../../../../test/support/clock.js';
import { aCall, type TestLimits } from '../../../../test/support/limits/requests/limited-calls.js';
import type { RecordedScope } from '../../../usage/recording/recorded-requests.service.js';
import { applyBaseAlone, applyBaseInShare, DayBases } from '../counts/day-bases.js';
import { RequestCounters } from '../counts/request-counters.js';
import { windowIndex } from '../request-limit.rules.js';
import { LocalCounting } from './local-counting.js';

const NOON = Date.UTC(2030, 0, 15, 12, 0, 20);
const MINUTE_MS = 60_000;

/** A backend with recorded requests; `asked` collects its queries. */
function counting({ recorded = 0, instances = 1, rank = 0 } = {}) {
  const clock = new FakeClock(NOON);
  const counters = new RequestCounters();
  const asked: (string | null)[] = [];
  const countOn = async ({ userId }: RecordedScope) => {
    asked.push(userId);
    return recorded;
  };
  const apply = instances === 1 ? applyBaseAlone : applyBaseInShare(() => counters.hasEvicted);
  const agreed = new Map<string, number>();
  const agree = async (_app: string, user: string, _day: number, known: number) => agreed.get(user) ?? known;
  const backend = new LocalCounting({
    ...{ clock, counters, instances, rank },
    dayBases: new DayBases({ countOn }, apply, agree),
    minuteBases: () => 0,
  });
  const outcome = async (user: string | null, limits: TestLimits) => {
    try {
      await backend.admit(aCall('app', user, limits));
      return 'passed';
    } catch (error) {
      return error instanceof Error && 'reason' in error ? error.reason : error;
    }
  };
  const users = () => [...counters.scopes()].map(({ userId }) => userId).filter((user) => user !== '');
  return { clock, counters, backend, asked, agreed, outcome, users };
}

describe('unknown users', () => {
  it.each([
    ['minute', { user: { perMinute: 5, perDay: 5 }, app: { perMinute: 2 } }],
    ['day', { user: { perMinute: 5, perDay: 5 }, app: { perDay: 2 } }],
  ])(
    'the application’s %s is full → a thousand of them are refused, and nothing is stored or queried',
    async (kind, limits) => {
      const { outcome, users, asked } = counting();
      expect([await outcome('ann', limits), await outcome('ben', limits)]).toEqual(['passed', 'passed']);
      const before = asked.length;
      for (let user = 0; user < 1_000; user++) {
        expect(await outcome(`user-${user}`, limits)).toBe(`app_${kind}_limit_reached`);
      }
      expect(users()).toEqual(['ann', 'ben']);
      expect(asked).toHaveLength(before);
    },
  );

  it('the application’s daily limit was reached before the first call → one query, for the application', async () => {
    const { outcome, users, asked } = counting({ recorded: 7 });
    const limits = { user: { perDay: 50 }, app: { perDay: 7 } };
    for (const user of ['ann', 'ben', 'cleo']) expect(await outcome(user, limits)).toBe('app_day_limit_reached');
    expect([users(), asked]).toEqual([[], [null]]);
  });

  it('a known user above its own limit → refused by that limit, even when the application is at its limit', async () => {
    const { outcome } = counting();
    const limits = { user: { perMinute: 1 }, app: { perMinute: 1 } };
    expect(await outcome('ann', limits)).toBe('passed');
    expect(await outcome('ann', limits)).toBe('user_minute_limit_reached');
    expect(await outcome('ben', limits)).toBe('app_minute_limit_reached');
  });

  it('only read → nothing is stored', async () => {
    const { backend, users, asked } = counting({ recorded: 4 });
    expect(await backend.countToday(aCall('app', 'ann', { user: { perDay: 9 } }))).toBe(4);
    expect([users(), asked]).toEqual([[], ['ann']]);
  });

  it('refused by the application → their own limit is reported; of a thousand made-up users in a second, ten are queried', async () => {
    const { backend, users, asked, clock } = counting({ recorded: 4 });
    const isTold = async (user: string) => {
      const told = Promise.resolve().then(() => backend.require(aCall('app', user, { user: { perDay: 4 } })));
      return told.then(
        () => false,
        () => true,
      );
    };
    expect(await isTold('ann')).toBe(true);
    for (let user = 0; user < 1_000; user++) await isTold(`user-${user}`);
    expect([users(), asked.length]).toEqual([[], 10]);
    expect(await isTold('ben')).toBe(false);
    clock.advance(1_000);
    expect(await isTold('ben')).toBe(true);
  });
});

describe('a scope that calls again after its eviction', () => {
  const limits = { user: { perDay: 12 } };

  async function leftAfter(calls: number, options: Parameters<typeof counting>[0]) {
    const { clock, counters, outcome, agreed } = counting(options);
    for (let call = 0; call < calls; call++) expect(await outcome('ann', limits)).toBe('passed');
    clock.advance(5 * MINUTE_MS);
    const minute = windowIndex('minute', clock.nowMs());
    counters.evict(counters.idle(minute), minute);
    agreed.set('ann', calls);
    let passed = 0;
    while ((await outcome('ann', limits)) === 'passed') passed++;
    return passed;
  }

  it('single instance → continues from the stored count', async () => {
    expect(await leftAfter(5, {})).toBe(7);
  });

  it.each([0, 1, 2])('within a share, rank %i → never more than its share, whichever scope calls', async (rank) => {
    expect(await leftAfter(3, { instances: 3, rank })).toBe(1);
    expect(await leftAfter(4, { instances: 3, rank })).toBe(0);
  });
});
