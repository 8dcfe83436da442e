import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { DataSource } from 'typeorm';
import type { BudgetHold } from '../../../src/budgets/budget-hold.js';
import { BudgetsRepository } from '../../../src/budgets/budgets.repository.js';
import { Budgets } from '../../../src/budgets/budgets.service.js';
import { SystemClock } from '../../../src/common/clock.js';
import { GatewayError } from '../../../src/common/errors/gateway-error.js';
import { Log } from '../../../src/common/log/log.js';
import { Secret } from '../../../src/common/log/secret.js';
import { ConfigChanges } from '../../../src/platform/database/config-changes.js';
import { createDataSource } from '../../../src/platform/database/data-source.js';
import { Metrics } from '../../../src/platform/metrics/metrics.js';
import { FakeRegistry } from '../../support/budgets/offline-budgets.js';
import { eventually } from '../../support/eventually.js';
import { dropDatabase, freshDatabase } from '../../support/platform/database.js';
import { storeEvents } from '../../support/usage/recording/usage-events.js';

const BUDGET = 1_000_000;
const clock = new SystemClock();

let url: string;
let db: DataSource;
let instances: Awaited<ReturnType<typeof anInstance>>[];
let apps = 0;

/** Budgets as in a separate process: with its own connections and notifications. */
async function anInstance(id: string, others: readonly string[]) {
  const log = new Log(clock, 'error', () => undefined);
  const dataSource = await createDataSource({
    ...{ url: new Secret(url), applicationName: 'test', poolSize: 4, entities: [], migrations: [] },
  }).initialize();
  const changes = new ConfigChanges({ url: new Secret(url), onTrouble: () => undefined });
  changes.open();
  const registry = new FakeRegistry(id, clock, log);
  registry.others = others;
  const budgets = new Budgets(new BudgetsRepository(dataSource, changes), registry, changes, clock, log, new Metrics());
  await eventually(() => changes.connected, { withinMs: 10_000 });
  return {
    ...{ id, budgets },
    async stop() {
      await budgets.leave();
      await changes.close();
      await dataSource.destroy();
    },
  };
}

beforeAll(async () => {
  url = await freshDatabase();
  db = await createDataSource({
    ...{ url: new Secret(url), applicationName: 'test', poolSize: 4, entities: [], migrations: [] },
  }).initialize();
  instances = [await anInstance('one', ['two']), await anInstance('two', ['one'])];
});

afterAll(async () => {
  for (const instance of instances) await instance.stop();
  await db.destroy();
  await dropDatabase(url);
});

function aScope() {
  const appId = `app-${++apps}`;
  return { organizationId: 'org-1', appId, scope: 'app', subject: '', window: 'month', limit: BUDGET } as const;
}

type Scope = ReturnType<typeof aScope>;

/** A refused call is undefined. */
async function call(at: number, scope: Scope, worst: number): Promise<BudgetHold | undefined> {
  try {
    return await instances[at % instances.length]?.budgets.hold(scope, worst, clock.nowMs());
  } catch (error) {
    if (error instanceof GatewayError && error.code === 'app_budget_exhausted') return undefined;
    throw error;
  }
}

/** Ends a call and stores its event, as the recorder does. */
async function end(hold: BudgetHold, cost: number): Promise<void> {
  hold.settle(cost);
  const { organizationId, appId } = hold.budget;
  await storeEvents(db, {
    ...{ organization_id: organizationId, app_id: appId, created_at_ms: clock.nowMs(), cost_nano_usd: cost },
  });
  hold.stored();
}

async function spentOf({ appId }: Scope): Promise<number> {
  const [row] = await db.query(
    "SELECT spent_nano_usd AS spent FROM budget_periods WHERE app_id = $1 AND window_name = 'month'",
    [appId],
  );
  return Number(row?.spent ?? 0);
}

describe('budgets on two instances and one Postgres', () => {
  it.each([1_000, 7_000, 400_000])(
    '200 calls at once, each at most %i of 1 000 000 → less than one call over the budget',
    async (worst) => {
      const scope = aScope();
      const holds = await Promise.all(Array.from({ length: 200 }, (_, at) => call(at, scope, worst)));
      const held = holds.filter((hold) => hold !== undefined);
      const most = Math.ceil(BUDGET / worst);
      expect(held.length).toBeGreaterThan(0);
      expect(held.length).toBeLessThanOrEqual(most);
      await Promise.all(held.map((hold) => end(hold, worst)));
      expect(await spentOf(scope)).toBeLessThan(BUDGET + worst);
    },
  );

  it('one call at a time, on either instance → served until the budget is used up', async () => {
    const scope = aScope();
    const cost = 45_000;
    let served = 0;
    for (let at = 0; ; at++) {
      const hold = await call(at, scope, 300_000);
      if (hold === undefined) break;
      served++;
      await end(hold, cost);
    }
    expect([served, await spentOf(scope)]).toEqual([Math.ceil(BUDGET / cost), Math.ceil(BUDGET / cost) * cost]);
  });

  it('all calls have ended and all instances stop → no grants remain', async () => {
    const scope = aScope();
    const holds = await Promise.all(Array.from({ length: 10 }, (_, at) => call(at, scope, 10_000)));
    await Promise.all(holds.map((hold) => hold && end(hold, 100)));
    for (const { budgets } of instances) await budgets.leave();
    expect(await db.query('SELECT * FROM budget_grants')).toEqual([]);
    expect(await db.query('SELECT * FROM budget_periods WHERE granted_nano_usd <> 0')).toEqual([]);
  });
});
