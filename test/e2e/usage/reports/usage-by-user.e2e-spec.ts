import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { DataSource } from 'typeorm';
import { Secret } from '../../../../src/common/log/secret.js';
import { createDataSource } from '../../../../src/platform/database/data-source.js';
import { UsageRetentionRepository } from '../../../../src/retention/usage-retention.repository.js';
import { UserSharesRepository } from '../../../../src/usage/reports/user-shares.repository.js';
import { dropDatabase, freshDatabase } from '../../../support/platform/database.js';
import { storeUsage, usageRows } from '../../../support/usage/recording/old-usage.js';
import { ALL_USERS_OUT_OF_STEP } from '../../../support/usage/recording/usage-sums.js';

const RUNS = Number(process.env.FUZZ_RUNS ?? 30);
const DAY_MS = 24 * 60 * 60 * 1000;
/** The first day that users are known of. */
const KEPT_FROM = '2026-08-22';
const FIRST_MS = Date.parse(KEPT_FROM);
const DAYS = 91;

let url: string;
let one: DataSource;
let other: DataSource;
let apps = 0;

beforeAll(async () => {
  url = await freshDatabase();
  const connect = () =>
    createDataSource({
      ...{ url: new Secret(url), applicationName: 'by-user', poolSize: 2, entities: [], migrations: [] },
    }).initialize();
  [one, other] = [await connect(), await connect()];
});

afterAll(async () => {
  await Promise.all([one, other].map((db) => db.destroy()));
  await dropDatabase(url);
});

/** A day after the first one that users are known of, `YYYY-MM-DD`. */
function dayAt(place: number): string {
  return new Date(FIRST_MS + place * DAY_MS).toISOString().slice(0, 10);
}

interface Use {
  readonly place: number;
  readonly user: string | undefined;
  readonly requests: number;
}

/** A new application with that usage, stored by two writers at once. */
async function appWith(uses: readonly Use[]): Promise<string> {
  const app_id = `app-${++apps}`;
  const rows = usageRows(
    uses.map(({ place, user, requests }) => {
      const who = user === undefined ? {} : { user_id: user };
      return { app_id, day: dayAt(place), requests, cost_nano_usd: requests * 3, status: 'ok', ...who };
    }),
  );
  const half = Math.ceil(rows.length / 2);
  await Promise.all([storeUsage(one, rows.slice(0, half)), storeUsage(other, rows.slice(half))]);
  return app_id;
}

async function sharesOf(app: string, from: string, to: string, limit: number): Promise<unknown[]> {
  const rows = await new UserSharesRepository(one).sumByUser(
    { organizationId: 'org-1', id: app },
    { from, to },
    limit,
    KEPT_FROM,
  );
  return rows.map(({ key, requests, cost_nano_usd }) => [key, Number(requests), Number(cost_nano_usd)]);
}

/** The same, added up here. */
function expectedShares(uses: readonly Use[], from: string, to: string, limit: number): unknown[] {
  const sums = new Map<string | null, number>();
  for (const { place, user = null, requests } of uses) {
    const day = dayAt(place);
    if (day >= from && day <= to) sums.set(user, (sums.get(user) ?? 0) + requests);
  }
  const inOrder = [...sums].sort(([a, x], [b, y]) => y - x || ((a ?? '\uffff') < (b ?? '\uffff') ? -1 : 1));
  return inOrder.slice(0, limit).map(([key, requests]) => [key, requests, requests * 3]);
}

/** Sixty users with little usage, and five with much, every third day. */
const TYPICAL: readonly Use[] = Array.from({ length: DAYS }, (_, place) => place)
  .filter((place) => place % 3 === 0)
  .flatMap((place) => [
    ...Array.from({ length: 60 }, (_, user) => ({ place, user: `calm-${user}`, requests: 1 + ((user + place) % 2) })),
    ...Array.from({ length: 5 }, (_, user) => ({ place, user: `busy-${user}`, requests: 900 + user * place })),
  ]);

/**
 * An impossible row: adding up all rows of the day finds it, searching for busy users does not.
 */
async function hide(app: string, user: string, place: number): Promise<void> {
  await one.query(
    `INSERT INTO usage_user_days SELECT organization_id, app_id, $2, $3, 1000000, 0, 0, 0, 0, 0, 0, 0
     FROM usage_user_days WHERE app_id = $1 LIMIT 1`,
    [app, user, dayAt(place)],
  );
}

describe('usage by user', () => {
  it('random usage, days and limits → the sums of the events, in order', async () => {
    const use = fc.record({
      place: fc.nat({ max: DAYS - 1 }),
      user: fc.option(
        fc.nat({ max: 12 }).map((user) => `user-${user}`),
        { nil: undefined, freq: 8 },
      ),
      requests: fc.oneof(fc.integer({ min: 1, max: 5 }), fc.integer({ min: 1, max: 900 })),
    });
    const range = fc.tuple(fc.nat({ max: DAYS - 1 }), fc.nat({ max: DAYS - 1 }), fc.integer({ min: 1, max: 15 }));
    const plan = fc.record({
      uses: fc.array(use, { minLength: 1, maxLength: 120 }),
      ranges: fc.array(range, { minLength: 5, maxLength: 5 }),
    });
    await fc.assert(
      fc.asyncProperty(plan, async ({ uses, ranges }) => {
        const app = await appWith(uses);
        for (const [one, two, limit] of [...ranges, [0, DAYS - 1, 13] as const, [10, 39, 3] as const]) {
          const [from, to] = [dayAt(Math.min(one, two)), dayAt(Math.max(one, two))];
          expect(await sharesOf(app, from, to, limit)).toEqual(expectedShares(uses, from, to, limit));
        }
      }),
      { numRuns: RUNS },
    );
    expect(await one.query(ALL_USERS_OUT_OF_STEP)).toEqual([]);
  });

  it.each([
    ['thirty days', 60, 89],
    ['ninety days', 0, 89],
    ['a whole month', 10, 39],
    ['a week', 70, 76],
  ])(
    'users who stand out, %s → found among the busiest, whatever others did on those days',
    async (_days, first, last) => {
      const app = await appWith(TYPICAL);
      const [from, to] = [dayAt(first), dayAt(last)];
      const expected = expectedShares(TYPICAL, from, to, 5);
      expect(await sharesOf(app, from, to, 5)).toEqual(expected);
      await hide(app, 'nobody', last - (last % 3));
      expect(await sharesOf(app, from, to, 5)).toEqual(expected);
    },
  );

  it('more users requested than are prominent → all are summed', async () => {
    const app = await appWith(TYPICAL);
    const [from, to] = [dayAt(60), dayAt(89)];
    expect(await sharesOf(app, from, to, 20)).toEqual(expectedShares(TYPICAL, from, to, 20));
    await hide(app, 'nobody', 60);
    expect((await sharesOf(app, from, to, 20))[0]).toEqual(['nobody', 1_000_000, 0]);
  });

  it('a month whose first days are deleted → its remaining days, not the original month', async () => {
    const uses = [1, 8, 12, 20, 45].map((place) => ({ place, user: 'ann', requests: 500 }));
    const app = await appWith(uses);
    await one.query('DELETE FROM usage_user_days WHERE app_id = $1 AND day < $2', [app, dayAt(8)]);
    expect(await sharesOf(app, dayAt(0), dayAt(89), 5)).toEqual([
      ['ann', 2_000, 6_000],
      [null, 500, 1_500],
    ]);
    expect(await one.query(ALL_USERS_OUT_OF_STEP)).toEqual([]);
  });

  it('days deleted while their late events are stored → the total of all users stays the sum of each', async () => {
    const app_id = `app-${++apps}`;
    const late = (round: number) =>
      usageRows(
        Array.from({ length: 12 }, (_, n) => ({
          app_id,
          day: dayAt(n % 3),
          user_id: `user-${round}-${n}`,
          requests: n + 1,
        })),
      );
    const retention = new UsageRetentionRepository();
    const forget = async () => {
      for (let round = 0; round < 25; round++)
        await retention.deleteDetailDays(other.manager, 'usage_user_days', dayAt(2), 5);
    };
    const store = async (db: DataSource, offset: number) => {
      for (let round = 0; round < 20; round++) await storeUsage(db, late(offset + round));
    };
    await Promise.all([store(one, 0), store(other, 100), forget(), store(one, 200), forget()]);
    expect(await one.query(ALL_USERS_OUT_OF_STEP)).toEqual([]);
    await retention.deleteDetailDays(other.manager, 'usage_user_days', dayAt(90), 10_000);
    expect(await one.query('SELECT * FROM usage_all_users_days WHERE app_id = $1', [app_id])).toEqual([]);
  });
});
