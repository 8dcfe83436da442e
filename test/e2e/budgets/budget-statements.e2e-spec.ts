import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { DataSource } from 'typeorm';
import { stepsOf } from '../../../src/budgets/budget.rules.js';
import type { BudgetFirstTake, BudgetKey, BudgetTake } from '../../../src/budgets/budget-grants.js';
import { BudgetsRepository } from '../../../src/budgets/budgets.repository.js';
import { Secret } from '../../../src/common/log/secret.js';
import { ConfigChanges } from '../../../src/platform/database/config-changes.js';
import { createDataSource } from '../../../src/platform/database/data-source.js';
import { BudgetBook, FakeBudgetsRepository } from '../../support/budgets/fake-budgets-repository.js';
import { dropDatabase, freshDatabase } from '../../support/platform/database.js';
import { untilStatementWaits } from '../../support/platform/lock-waits.js';

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

function aKey(subject = ''): BudgetKey {
  return {
    appId: `app-${++apps}`,
    scope: subject === '' ? 'app' : 'user',
    subject,
    window: 'month',
    periodStart: MONTH,
  };
}

const KEY = 'app_id, scope, subject, window_name, period_start';
const IS_KEY = `(${KEY}) = ($1, $2, $3, $4, $5::date)`;
const SPEND = `INSERT INTO budget_periods AS known (organization_id, ${KEY}, spent_nano_usd)
  VALUES ('org-1', $1, $2, $3, $4, $5, $6) ON CONFLICT (${KEY})
  DO UPDATE SET spent_nano_usd = known.spent_nano_usd + excluded.spent_nano_usd`;

function valuesOf({ appId, scope, subject, window, periodStart }: BudgetKey) {
  return [appId, scope, subject, window, periodStart];
}

async function spend(key: BudgetKey, nanoUsd: number): Promise<void> {
  await db.query(SPEND, [...valuesOf(key), nanoUsd]);
}

/** The content of the tables for a budget: the stored sum, and each row. */
async function stateOf(key: BudgetKey) {
  const [sum] = await db.query(
    `SELECT spent_nano_usd AS spent, granted_nano_usd AS granted FROM budget_periods WHERE ${IS_KEY}`,
    valuesOf(key),
  );
  const rows: { id: string; granted: string }[] = await db.query(
    `SELECT instance_id AS id, granted_nano_usd AS granted FROM budget_grants WHERE ${IS_KEY}`,
    valuesOf(key),
  );
  const grants = Object.fromEntries(rows.map(({ id, granted }) => [id, Number(granted)]));
  return { spent: Number(sum?.spent ?? 0), granted: Number(sum?.granted ?? 0), grants };
}

function take(key: BudgetKey, asked: Partial<BudgetTake> & { readonly needs?: number[] } = {}): BudgetTake {
  const { needs = [10], ...rest } = asked;
  return { ...key, row: 0, inUse: 0, budget: 100, parts: 0, steps: stepsOf(needs), ...rest };
}

function firstTake(key: BudgetKey, asked: Partial<BudgetTake> & { readonly needs?: number[] } = {}): BudgetFirstTake {
  return { ...take(key, asked), organizationId: 'org-1' };
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
const someFirst = fc.record({
  kind: fc.constant('first' as const),
  instance: fc.constantFrom(...INSTANCES),
  needs: fc.array(fc.integer({ min: 1, max: 60 }), { maxLength: 5 }),
  budget: fc.integer({ min: 1, max: 200 }),
  parts: fc.constantFrom(0, 2, 8),
  inUse: fc.nat({ max: 80 }),
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
  it('any sequence of statements → Postgres returns and stores the same as the fake, and sums equal the sum of rows', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.oneof(someTake, someTake, someFirst, someFirst, someRows, someReturn, someSpending, someEnd), {
          maxLength: 14,
        }),
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
              else if (step.kind === 'first') {
                const takes = [firstTake(aKey('z')), firstTake(key, step), firstTake(aKey('a'))];
                answers.push(await repository.takeFirst(step.instance, takes));
              } else if (step.kind === 'take') {
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

  it('50 instances take grants at once → the budget is exceeded by at most one call, and granted is the sum of rows', async () => {
    const key = aKey();
    const ids = Array.from({ length: 50 }, (_, at) => `i-${at}`);
    await Promise.all(ids.map((id) => real.addRows(key, id, 'org-1')));
    const answers = await Promise.all(ids.map((id) => real.take(id, take(key, { needs: [30], budget: 100 }))));
    expect(answers.filter((answer) => answer?.target === 30)).toHaveLength(4);
    const { granted, grants } = await stateOf(key);
    expect([granted, Object.values(grants).reduce((sum, one) => sum + one, 0)]).toEqual([120, 120]);
  });

  it('taking, returning, storing and deleting at once, on the same rows in any order → no deadlock, and sums stay consistent', async () => {
    const keys = ['', 'a', 'b', 'c'].map((subject) => ({ ...aKey(subject), appId: 'busy' }));
    const work = Array.from({ length: 60 }, async (_, round) => {
      const id = `busy-${round % 6}`;
      const [key = aKey()] = [keys[round % keys.length]];
      if (round % 5 === 4) return real.dropInstanceGrants(id);
      if (round % 5 === 3) {
        const back = keys.toReversed().map((one) => ({ ...one, row: 7, inUse: 0, remove: true }));
        return real.giveBack(id, back);
      }
      await spend(key, 1);
      if (round % 5 === 2) {
        const takes = keys.toSorted(() => Math.random() - 0.5).map((one) => firstTake(one, { budget: 1_000_000 }));
        return real.takeFirst(id, takes);
      }
      await real.addRows(key, id, 'org-1');
      return real.take(id, take(key, { needs: [7], budget: 1_000_000 }));
    });
    await Promise.all(work);
    for (const key of keys) {
      const { granted, grants } = await stateOf(key);
      expect(granted).toBe(Object.values(grants).reduce((sum, one) => sum + one, 0));
    }
  });

  it('first takes of many budgets → those locked by another statement or with an existing row are skipped at once', async () => {
    const [free, known, held, own] = [aKey('free'), aKey('known'), aKey('held'), aKey('own')];
    await spend(known, 20);
    await real.addRows(known, 'two', 'org-1');
    await real.take('two', take(known, { needs: [30] }));
    await spend(held, 20);
    await real.addRows(own, 'one', 'org-1');
    const runner = db.createQueryRunner();
    await runner.startTransaction();
    try {
      await runner.query('SELECT FROM budget_periods WHERE app_id = $1 FOR UPDATE', [held.appId]);
      const takes = [own, held, known, free].map((key) => firstTake(key, { needs: [10], parts: 2 }));
      expect(await real.takeFirst('one', takes)).toEqual([
        undefined,
        undefined,
        { spent: 20, estimated: 0, elsewhere: 30, row: 0, target: 30 },
        { spent: 0, estimated: 0, elsewhere: 0, row: 0, target: 55 },
      ]);
    } finally {
      await runner.rollbackTransaction();
      await runner.release();
    }
    expect(await stateOf(free)).toEqual({ spent: 0, granted: 55, grants: { one: 55 } });
    expect(await stateOf(known)).toEqual({ spent: 20, granted: 60, grants: { one: 30, two: 30 } });
    expect(await stateOf(held)).toEqual({ spent: 20, granted: 0, grants: {} });
    expect(await stateOf(own)).toEqual({ spent: 0, granted: 0, grants: { one: 0 } });
  });

  it('first takes beside a transaction that inserts a budget and then changes the next one → no deadlock', async () => {
    const added = aKey('a');
    const changed = { ...added, subject: 'b' };
    await spend(changed, 20);
    const runner = db.createQueryRunner();
    await runner.startTransaction();
    try {
      const charge = (key: BudgetKey) => runner.query(SPEND, [...valuesOf(key), 5]);
      await charge(added);
      const taking = real.takeFirst('one', [firstTake(changed), firstTake(added)]);
      await untilStatementWaits(db, 'budget_periods');
      await charge(changed);
      await runner.commitTransaction();
      expect(await taking).toMatchObject([{ spent: 25, elsewhere: 0, target: 10 }, undefined]);
    } finally {
      await runner.release();
    }
    expect(await stateOf(changed)).toEqual({ spent: 25, granted: 10, grants: { one: 10 } });
    expect(await stateOf(added)).toEqual({ spent: 5, granted: 0, grants: {} });
  });

  it('first takes of many instances at once → the budget is exceeded by at most one call, and granted is the sum of rows', async () => {
    const keys = Array.from({ length: 20 }, () => aKey('new'));
    const ids = Array.from({ length: 20 }, (_, at) => `i-${at}`);
    const ask = (id: string) =>
      real.takeFirst(
        id,
        keys.toSorted(() => Math.random() - 0.5).map((key) => firstTake(key, { needs: [30] })),
      );
    await Promise.all(ids.map(ask));
    for (const key of keys) {
      const { granted, grants } = await stateOf(key);
      expect(granted).toBe(Object.values(grants).reduce((sum, one) => sum + one, 0));
      expect([30, 60, 90, 120]).toContain(granted);
    }
  });

  it('a statement waits for another that changes the same rows → it decides on the resulting rows', async () => {
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
      await untilStatementWaits(db, 'budget_periods', 2);
      await runner.commitTransaction();
      const [taken, back] = await Promise.all(waiting);
      expect(taken).toMatchObject({ elsewhere: expect.any(Number), target: 50 });
      expect(back).toEqual([95]);
    } finally {
      await runner.release();
    }
    expect(await stateOf(key)).toEqual({ spent: 0, granted: 70, grants: { one: 20, two: 50 } });
  });

  it('others delete the row while a statement waits → nothing is granted from the old row', async () => {
    const key = aKey();
    await real.addRows(key, 'one', 'org-1');
    await real.take('one', take(key, { needs: [40] }));
    const runner = db.createQueryRunner();
    await runner.startTransaction();
    try {
      await runner.query('SELECT FROM budget_periods WHERE app_id = $1 FOR UPDATE', [key.appId]);
      const waiting = real.take('one', take(key, { row: 40, inUse: 40, needs: [10] }));
      await untilStatementWaits(db, 'budget_periods');
      await runner.query('DELETE FROM budget_grants WHERE app_id = $1', [key.appId]);
      await runner.query('UPDATE budget_periods SET granted_nano_usd = 0 WHERE app_id = $1', [key.appId]);
      await runner.commitTransaction();
      expect(await waiting).toBeUndefined();
    } finally {
      await runner.release();
    }
    expect(await stateOf(key)).toEqual({ spent: 0, granted: 0, grants: {} });
  });

  it('instances without a heartbeat → unknown ones, and those without one for five minutes', async () => {
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
