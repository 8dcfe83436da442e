import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { auditEnd, storedBudgets } from '../../proof/budgets/budget-audit.js';
import { BudgetFleet, MODEL } from '../../proof/budgets/budget-fleet.js';
import { SerialClient, tokensCost } from '../../proof/budgets/budget-serial.js';
import { isRefusedAsSpent, PaidClient } from '../../proof/budgets/paid-client.js';
import { eventually } from '../../support/eventually.js';
import { describeBreakingRedis } from '../../support/platform/redis.js';

/** `npm run prove -- budgets` sets a larger size, and a seed to repeat it. */
const RUNS = Number(process.env.BUDGET_RUNS ?? 1);
const SEED = Number(process.env.BUDGET_SEED ?? Math.floor(Math.random() * 2 ** 31));
const SERIAL_CLIENTS = 8;
const REPRICES = 6 * RUNS;
const MONTH = new Date().toISOString().slice(0, 'YYYY-MM'.length);
const MOST_HELD_SECONDS = 10;
const STORED = { withinMs: 20_000 };
const PATIENCE_MS = 60_000 * (RUNS + 1);

const namesOf = (count: number) => Array.from({ length: count }, (_, at) => `user-${at}`);

describeBreakingRedis(`budgets of two instances, one call at a time (BUDGET_SEED=${SEED})`, () => {
  let fleet: BudgetFleet;
  let client: PaidClient;

  beforeAll(async () => {
    fleet = await BudgetFleet.start(SEED);
    client = new PaidClient(fleet);
  }, PATIENCE_MS);
  afterAll(() => fleet?.end());

  /** Clients of an application, each alone with its budget, until each is refused. */
  async function proveServedUntilSpent(ofUsers: boolean, seed: number): Promise<void> {
    const users = namesOf(ofUsers ? SERIAL_CLIENTS : 1);
    const app = await fleet.app(
      ofUsers ? tokensCost(8_000) : undefined,
      ofUsers ? undefined : tokensCost(8_000),
      users,
    );
    const ends = await Promise.all(
      users.map(async (user, at) => {
        const serial = new SerialClient(fleet, client, app, user, seed + at);
        return { ...(await serial.untilRefused()), serial };
      }),
    );
    for (const { refusal, served, serial } of ends) {
      const standing = fleet.calls.standing(app.id, ofUsers ? refusal.call.userId : '');
      expect([seed, served, refusal.code, refusal.scope]).toEqual([
        ...[seed, served, 'app_budget_exhausted', ofUsers ? 'user' : 'app'],
      ]);
      expect(standing?.committed).toBeGreaterThanOrEqual(tokensCost(8_000));
      // Until the cost of the last call is stored, the other instance sends Retry-After.
      let last = refusal;
      const isOver = async () => {
        if (!isRefusedAsSpent(last)) last = await serial.next();
        expect(last.status).toBe(429);
        return isRefusedAsSpent(last);
      };
      await eventually(isOver, STORED);
    }
  }

  it.each([
    ['users', true],
    ['the application', false],
  ] as const)(
    'a client of %s that alternates between instances → served until the budget is spent, then 429 until the period ends',
    async (_, ofUsers) => {
      for (let run = 0; run < RUNS; run++) await proveServedUntilSpent(ofUsers, SEED + run * 100);
    },
    PATIENCE_MS,
  );

  it(
    'the same during a Redis outage → the same: budgets do not use Redis',
    async () => {
      await fleet.redis.kill();
      try {
        await proveServedUntilSpent(true, SEED + 50);
      } finally {
        await fleet.redis.revive();
      }
    },
    PATIENCE_MS,
  );

  it(
    'money held by a call at one instance → the other sends Retry-After, and serves after it',
    async () => {
      for (let run = 0; run < RUNS; run++) {
        const app = await fleet.app(undefined, tokensCost(100), []);
        const gate = Promise.withResolvers<void>();
        fleet.provider.holdBack(gate.promise);
        const plan = { app, userId: 'ann', treatment: 'whole', mostTokens: 90 } as const;
        const first = client.call({ ...plan, instance: run % 2 });
        await eventually(
          () => fleet.calls.underWay === 0 || Boolean([...fleet.calls.all.values()].at(-1)?.seen),
          STORED,
        );
        const refusals = await Promise.all(namesOf(20).map((_, at) => client.call({ ...plan, instance: at % 2 })));
        gate.resolve();
        fleet.provider.holdBack(Promise.resolve());
        expect((await first).status).toBe(200);
        for (const { status, code, retryAfter, call } of refusals) {
          expect([status, code, call.seen]).toEqual([429, 'app_budget_exhausted', 0]);
          expect([retryAfter >= 1, retryAfter <= MOST_HELD_SECONDS]).toEqual([true, true]);
        }
        // The real time that the refusal names: holds are returned by then, whatever happens meanwhile.
        await sleep((refusals[0]?.retryAfter ?? 0) * 1_000);
        expect((await client.call({ ...plan, instance: (run + 1) % 2 })).status).toBe(200);
        expect(isRefusedAsSpent(await client.call({ ...plan, instance: run % 2 }))).toBe(true);
      }
    },
    PATIENCE_MS,
  );

  it(
    'prices that change and are applied to the month repeatedly during calls → the next call at either instance uses them; sums are exact',
    async () => {
      const app = await fleet.app(tokensCost(1_000), undefined, ['ann', 'bob']);
      const plan = { app, userId: 'ann', treatment: 'whole' } as const;
      for (const instance of [0, 1])
        expect((await client.call({ ...plan, instance, mostTokens: 100 })).status).toBe(200);
      // Events that are not stored yet are not repriced.
      const stored = "SELECT FROM usage_events WHERE app_id = $1 AND user_id = 'ann'";
      await eventually(async () => (await fleet.query(stored, [app.id])).length === 2, STORED);
      let isOver = false;
      const others = namesOf(6).map(async (_, at) => {
        while (!isOver) {
          await client.call({ ...plan, userId: 'bob', instance: at % 2, mostTokens: 1 + at });
          await sleep(10);
        }
      });
      try {
        for (let turn = 0; turn < REPRICES; turn++) {
          const isDear = turn % 2 === 0;
          await reprice(app.id, isDear ? 10 : 1, turn % 4 < 2 ? 0 : 1);
          const answers = await Promise.all(
            [0, 1].map((instance) => client.call({ ...plan, instance, mostTokens: 1 })),
          );
          expect([turn, ...answers.map(isRefusedAsSpent)]).toEqual([turn, isDear, isDear]);
          if (!isDear) expect(answers.map(({ status }) => status)).toEqual([200, 200]);
        }
      } finally {
        isOver = true;
        await Promise.all(others);
      }
      expect(await fleet.ledgerDifferences()).toEqual([]);
      await reprice(app.id, 1, 0);
    },
    PATIENCE_MS,
  );

  it(
    'all of this → each call is recorded once at its price, and no grant remains',
    async () => {
      await fleet.stop();
      const counts = await auditEnd(fleet);
      expect(fleet.calls.violations).toEqual([]);
      expect([counts.events, counts.unseen]).toEqual([counts.seen, 0]);
      expect(await storedBudgets(fleet)).not.toEqual([]);
    },
    PATIENCE_MS,
  );

  /** @param at the instance that gets the request. */
  async function reprice(appId: string, factor: number, at: number): Promise<void> {
    await fleet.price(factor, at);
    const order = { provider: 'openai', model: MODEL, month: MONTH, apply: true };
    await fleet.manage('POST', `/v1/admin/apps/${appId}/usage/reprice`, order, at);
  }
});
