import { describe, expect, it } from '@jest/globals';
import { BudgetStorm } from '../../proof/budgets/budget-storm.js';
import type { StormFaults } from '../../proof/budgets/storm-report.js';
import { describeBreakingRedis } from '../../support/platform/redis.js';

/** `npm run prove -- budgets` sets more of them, and a seed to repeat them. */
const RUNS = Number(process.env.BUDGET_RUNS ?? 1);
const SEED = Number(process.env.BUDGET_SEED ?? Math.floor(Math.random() * 2 ** 31));
const CLIENTS = 200;
const IS_LONG = RUNS > 1;
const STORM_MS = IS_LONG ? 12_000 : 4_000;
const ALL_AT_ONCE: [string, StormFaults][] = [['all of it at once', { kills: true, redis: true, postgres: true }]];
const PATIENCE_MS = 180_000;

const seeds = Array.from({ length: RUNS }, (_, run) => SEED + run * 1_000);

describeBreakingRedis('budgets of two instances, as processes', () => {
  describe.each(seeds)('seed %i', (seed) => {
    it.each<[string, StormFaults]>([
      ['nothing goes wrong', {}],
      ['instances are killed and started again', { kills: true }],
      ['Redis and Postgres come and go', { redis: true, postgres: true }],
      ...(IS_LONG ? ALL_AT_ONCE : []),
    ])(
      `${CLIENTS} clients, %s → a budget is exceeded by at most one call, each call is recorded once, no money is lost`,
      async (name, faults) => {
        const storm = { seed, clients: CLIENTS, forMs: STORM_MS, faults, waitsForQuiet: IS_LONG };
        const report = await BudgetStorm.run(storm);
        process.stderr.write(`${JSON.stringify({ name, ...report })}\n`);
        expect(report.violations).toEqual([]);
        expect(report.unseen).toBeLessThanOrEqual(Math.ceil(report.kills / 5));
      },
      PATIENCE_MS,
    );
  });
});
