import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { DataSource } from 'typeorm';
import { stepsOf } from '../../../src/budgets/budget.rules.js';
import { type BudgetKey, BudgetsRepository, type BudgetTake } from '../../../src/budgets/budgets.repository.js';
import { Secret } from '../../../src/common/log/secret.js';
import { ConfigChanges } from '../../../src/platform/database/config-changes.js';
import { createDataSource } from '../../../src/platform/database/data-source.js';
import { BudgetBook, FakeBudgetsRepository } from '../../support/budgets/budget-book.js';
import { dropDatabase, freshDatabase } from '../../support/platform/database.js';

const RUNS = Number(process.env.FUZZ_RUNS ?? 60);
const MONTH = '2026-11-01';
const INSTANCES = ['one', 'two', 'three'];

let url: string;
let db: DataSource;
let real: BudgetsRepository;
let apps = 0;

beforeAll(async () => {
  url = await freshDatabase();
  db = await createDataSource({
    ...{ url: new Secret(url), applicationName: 'test', poolSize: 8, entities: [], migrations: [] },
  }).initialize();
  real = new BudgetsRepository(db, new ConfigChanges({ url: new Secret(url), onTrouble: () => undefined }));
});

afterAll(async () => {
  await db.destroy();
  await dropDatabase(url);
});

function aKey(userId = ''): BudgetKey {
  return { appId: `app-${++apps}`, userId, month: MONTH };
}

async function spend({ appId, userId, month }: BudgetKey, nanoUsd: number): Promise<void> {
  await db.query(
    `INSERT INTO budget_months AS known (organization_id, app_id, user_id, month, spent_nano_usd)
     VALUES ('org-1', $1, $2, $3, $4) ON CONFLICT (app_id, user_id, month)
     DO UPDATE SET spent_nano_usd = known.spent_nano_usd + excluded.spent_nano_usd`,
    [appId, userId, month, nanoUsd],
  );
}

/** What the tables say of a budget: the sum as it is kept, and each row. */
async function stateOf({ appId, userId, month }: BudgetKey) {
  const [sum] = await db.query(
    `SELECT spent_nano_usd AS spent, granted_nano_usd AS granted FROM budget_months
     WHERE app_id = $1 AND user_id = $2 AND month = $3`,
    [appId, userId, month],
  );
  const rows: { id: string; granted: string }[] = await db.query(
    `SELECT instance_id AS id, granted_nano_usd AS granted FROM budget_grants
     WHERE app_id = $1 AND user_id = $2 AND month = $3`,
    [appId, userId, month],
  );
  const grants = Object.fromEntries(rows.map(({ id, granted }) => [id, Number(granted)]));
  return { spent: Number(sum?.spent ?? 0), granted: Number(sum?.granted ?? 0), grants };
}

function take(key: BudgetKey, asked: Partial<BudgetTake> & { readonly needs?: number[] } = {}): BudgetTake {
  const { needs = [10], ...rest } = asked;
  return { ...key, row: 0, inUse: 0, budget: 100, parts: 0, steps: stepsOf(needs), ...rest };
}

const someTake = fc.record({
  kind: fc.constant('take' as const),
  instance: fc.constantFrom(...INSTANCES),
  needs: fc.array(fc.integer({ min: 1, max: 60 }), { minLength: 1, maxLength: 5 }),
  budget: fc.integer({ min: 1, max: 200 }),
  parts: fc.constantFrom(0, 2, 8),
  inUse: fc.nat({ max: 80 }),
  isRowKnown: fc.boolean(),
});
const someReturn = fc.record({
  kind: fc.constant('return' as const),
  instance: fc.constantFrom(...INSTANCES),
  inUse: fc.nat({ max: 30 }),
  remove: fc.boolean(),
  isRowKnown: fc.boolean(),
});
const someSpending = fc.record({ kind: fc.constant('spend' as const), nanoUsd: fc.nat({ max: 50 }) });
const someEnd = fc.record({ kind: fc.constant('forget' as const), instance: fc.constantFrom(...INSTANCES) });
const someRows = fc.record({ kind: fc.constant('rows' as const), instance: fc.constantFrom(...INSTANCES) });

describe('budget statements', () => {
  it('any history of statements → Postgres answers and keeps what the fake does, and sums are the sum of rows', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.oneof(someTake, someTake, someRows, someReturn, someSpending, someEnd), { maxLength: 14 }),
        async (steps) => {
          const key = aKey('u');
          const book = new BudgetBook();
          const fake = new FakeBudgetsRepository(book);
          await db.query('DELETE FROM budget_grants');
          for (const step of steps) {
            if (step.kind === 'spend') {
              await spend(key, step.nanoUsd);
              book.spend(key, step.nanoUsd);
              continue;
            }
            const known = book.of(key).get(step.instance) ?? 0;
            const answers = [];
            for (const repository of [real, fake]) {
              if (step.kind === 'rows') answers.push(await repository.addRows(key, step.instance, 'org-1'));
              else if (step.kind === 'forget') answers.push(await repository.dropInstanceGrants(step.instance));
              else if (step.kind === 'take') {
                const row = step.isRowKnown ? known : known + 1;
                answers.push(await repository.take(step.instance, take(key, { ...step, row })));
              } else {
                const row = step.isRowKnown ? known : known + 1;
                answers.push(await repository.giveBack(step.instance, [{ ...key, ...step, row }]));
              }
            }
            expect(answers[0]).toEqual(answers[1]);
          }
          const state = await stateOf(key);
          expect(state.grants).toEqual(Object.fromEntries(book.of(key)));
          expect(state.spent).toBe(book.spentOf(key));
          expect(state.granted).toBe(book.grantedOf(key));
        },
      ),
      { numRuns: RUNS },
    );
  });

  it('50 instances take at once → the budget is crossed by one call at most, granted is the sum of rows', async () => {
    const key = aKey();
    const ids = Array.from({ length: 50 }, (_, at) => `i-${at}`);
    await Promise.all(ids.map((id) => real.addRows(key, id, 'org-1')));
    const answers = await Promise.all(ids.map((id) => real.take(id, take(key, { needs: [30], budget: 100 }))));
    expect(answers.filter((answer) => answer?.target === 30)).toHaveLength(4);
    const { granted, grants } = await stateOf(key);
    expect([granted, Object.values(grants).reduce((sum, one) => sum + one, 0)]).toEqual([120, 120]);
  });

  it('taking, giving back, storing and forgetting at once, on the same rows in any order → no deadlock, sums in step', async () => {
    const keys = ['', 'a', 'b', 'c'].map((userId) => ({ appId: 'busy', userId, month: MONTH }));
    const work = Array.from({ length: 60 }, async (_, round) => {
      const id = `busy-${round % 6}`;
      const [key = aKey()] = [keys[round % keys.length]];
      if (round % 5 === 4) return real.dropInstanceGrants(id);
      if (round % 5 === 3) {
        const back = keys.toReversed().map((one) => ({ ...one, row: 7, inUse: 0, remove: true }));
        return real.giveBack(id, back);
      }
      await real.addRows(key, id, 'org-1');
      await spend(key, 1);
      return real.take(id, take(key, { needs: [7], budget: 1_000_000 }));
    });
    await Promise.all(work);
    for (const key of keys) {
      const { granted, grants } = await stateOf(key);
      expect(granted).toBe(Object.values(grants).reduce((sum, one) => sum + one, 0));
    }
  });

  it('a statement waits for another that changes the same rows → it decides by what that one left', async () => {
    const key = aKey();
    await real.addRows(key, 'one', 'org-1');
    await real.addRows(key, 'two', 'org-1');
    const runner = db.createQueryRunner();
    await runner.startTransaction();
    try {
      const other = new BudgetsRepository(
        Object.assign(Object.create(db), { query: runner.query.bind(runner) }),
        new ConfigChanges({ url: new Secret(url), onTrouble: () => undefined }),
      );
      await other.take('one', take(key, { needs: [95] }));
      const waiting = [
        real.take('two', take(key, { needs: [50] })),
        real.giveBack('one', [{ ...key, row: 95, inUse: 20, remove: false }]),
      ] as const;
      await new Promise((resolve) => setTimeout(resolve, 100));
      await runner.commitTransaction();
      const [taken, back] = await Promise.all(waiting);
      expect(taken).toMatchObject({ elsewhere: expect.any(Number), target: 50 });
      expect(back).toEqual([95]);
    } finally {
      await runner.release();
    }
    expect(await stateOf(key)).toEqual({ spent: 0, granted: 70, grants: { one: 20, two: 50 } });
  });

  it('the row was taken away by others while a statement waited → nothing is granted by what was there', async () => {
    const key = aKey();
    await real.addRows(key, 'one', 'org-1');
    await real.take('one', take(key, { needs: [40] }));
    const runner = db.createQueryRunner();
    await runner.startTransaction();
    try {
      await runner.query('SELECT FROM budget_months WHERE app_id = $1 FOR UPDATE', [key.appId]);
      const waiting = real.take('one', take(key, { row: 40, inUse: 40, needs: [10] }));
      await new Promise((resolve) => setTimeout(resolve, 100));
      await runner.query('DELETE FROM budget_grants WHERE app_id = $1', [key.appId]);
      await runner.query('UPDATE budget_months SET granted_nano_usd = 0 WHERE app_id = $1', [key.appId]);
      await runner.commitTransaction();
      expect(await waiting).toBeUndefined();
    } finally {
      await runner.release();
    }
    expect(await stateOf(key)).toEqual({ spent: 0, granted: 0, grants: {} });
  });

  it('instances without a heartbeat → unknown ones, and those silent for five minutes', async () => {
    await db.query('DELETE FROM budget_grants');
    const key = aKey();
    for (const id of ['unknown', 'silent', 'alive']) await real.addRows(key, id, 'org-1');
    const add = `INSERT INTO gateway_instances (id, host, pid, process_started, uses_redis, seen_at)
      VALUES ($1, 'h', 1, 'x', true, now() - $2 * interval '1 second')`;
    await db.query(add, ['silent', 301]);
    await db.query(add, ['alive', 299]);
    const lapsed = await real.listLapsed();
    expect(lapsed.toSorted((a, b) => a.id.localeCompare(b.id))).toEqual([
      { id: 'silent', isUnknown: false },
      { id: 'unknown', isUnknown: true },
    ]);
  });
});
