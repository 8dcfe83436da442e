import { setImmediate as tick } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { BudgetBook } from '../../test/support/budgets/fake-budgets-repository.js';
import { anInstance } from '../../test/support/budgets/offline-budgets.js';
import { FakeClock } from '../../test/support/clock.js';
import { rejectionOf } from '../../test/support/rejection-of.js';
import { BudgetAccount } from './budget-account.js';
import { budgetPeriodOf } from './budget-period.rules.js';

const BUDGET_OF_APP = {
  ...{ organizationId: 'org-1', appId: 'app', subject: '', limit: 1_000 },
  scope: 'app',
  window: 'month',
} as const;

/** A statement that grants. */
function granted(account: BudgetAccount, row: number, committed: number): void {
  account.grant(row, committed, { spent: 0, estimated: 0 }, 0);
  account.end();
}

/** An account with a grant of 600 of 1 000 and no spending. */
function anAccount() {
  const totals = { holds: 0, heldNanoUsd: 0 };
  const account = new BudgetAccount(BUDGET_OF_APP, budgetPeriodOf('month', Date.UTC(2026, 10, 20)), totals);
  granted(account, 600, 600);
  const hold = (amount: number) => {
    const held = account.tryHold(BUDGET_OF_APP, amount);
    if (held === undefined) throw new Error('not granted');
    return held;
  };
  return { account, totals, hold };
}

describe('budget account', () => {
  it('an event is stored while a statement is under way → its cost is not counted as free', () => {
    const { account, hold } = anAccount();
    const first = hold(400);
    first.settle(400);
    account.begin();
    first.stored();
    granted(account, 400 + 100, 500);
    expect([account.free, account.inUse]).toEqual([100, 0]);
  });

  it('a call ends while a statement is under way → its unused hold is free', () => {
    const { account, hold } = anAccount();
    const first = hold(400);
    account.begin();
    first.settle(150);
    granted(account, 400 + 100, 500);
    expect([account.free, account.inUse]).toEqual([350, 150]);
  });

  it('corrected while a statement is under way → the result of that statement is discarded', () => {
    const { account } = anAccount();
    account.begin();
    account.invalidate();
    granted(account, 700, 700);
    expect([account.tryHold(BUDGET_OF_APP, 1), account.isInvalid]).toEqual([undefined, true]);
    account.begin();
    granted(account, 700, 700);
    expect(account.tryHold(BUDGET_OF_APP, 1)).toBeDefined();
  });

  it('a call that cost more than it held → the rest counts as spent elsewhere', () => {
    const { account, hold } = anAccount();
    expect(hold(100).settle(600)).toBe(100);
    expect([account.free, account.committed]).toEqual([500, 1_100]);
    expect(account.tryHold({ ...BUDGET_OF_APP, limit: 600 }, 1)).toBeUndefined();
  });

  it('a call costs more than it held, and a statement grants before its event is stored → the rest still counts', () => {
    const { account, hold } = anAccount();
    hold(100).settle(600);
    account.begin();
    granted(account, 200, 200);
    expect(account.committed).toBe(700);
    expect(account.tryHold({ ...BUDGET_OF_APP, limit: 600 }, 1)).toBeUndefined();
  });

  it('a call costs more than it held and its event is stored while a statement is under way → the rest counts', () => {
    const { account, hold } = anAccount();
    const call = hold(100);
    account.begin();
    call.settle(600);
    call.stored();
    granted(account, 200, 200);
    expect(account.committed).toBe(700);
    account.begin();
    granted(account, 100, 700);
    expect(account.committed).toBe(700);
  });

  it('a call costs more than it held, and its event can never be stored → nothing counts', () => {
    const { account, hold } = anAccount();
    const call = hold(100);
    call.settle(600);
    call.dropped();
    expect([account.free, account.committed]).toEqual([600, 600]);
    account.begin();
    granted(account, 200, 200);
    expect(account.committed).toBe(200);
  });

  it('the amount in use is kept and the rest returned; meanwhile only money that is released may be held', () => {
    const { account, hold } = anAccount();
    const first = hold(400);
    account.begin();
    expect(account.keepInUse()).toBe(400);
    expect(account.tryHold(BUDGET_OF_APP, 1)).toBeUndefined();
    first.release();
    expect(account.tryHold(BUDGET_OF_APP, 400)).toBeDefined();
    account.returned(400, false);
    expect([account.free, account.row, account.committed]).toEqual([0, 400, 400]);
  });

  it.each([
    ['gone', undefined, 0],
    ['less', 250, 250],
    ['more, as a statement did arrive', 900, 600],
  ])('the row turns out to be %s → the account assumes %s', (_name, found, granted) => {
    const { account } = anAccount();
    if (found === undefined) account.rowLost();
    else account.rowFound(found);
    expect([account.free, account.row]).toEqual([granted, found]);
  });

  it('forfeited during a call → nothing is free until the call is granted again', () => {
    const { account, hold } = anAccount();
    const first = hold(400);
    account.forfeit();
    expect(account.tryHold(BUDGET_OF_APP, 1)).toBeUndefined();
    first.settle(400);
    account.begin();
    first.stored();
    granted(account, 400 + 50, 850);
    expect(account.free).toBe(50);
  });
});

describe('accounts of instances', () => {
  const KEY = { appId: 'app', scope: 'app', subject: '', window: 'month', periodStart: '2026-11-01' } as const;
  let book: BudgetBook;
  let clock: FakeClock;
  let one: ReturnType<typeof anInstance>;

  beforeEach(() => {
    book = new BudgetBook();
    clock = new FakeClock(Date.UTC(2026, 10, 20, 12));
    one = anInstance('one', book, clock);
  });

  afterEach(() => one.budgets.leave());

  const hold = (amount: number, at = one) => at.budgets.hold(BUDGET_OF_APP, amount, clock.nowMs());
  const refusalOf = (amount: number, at = one) => rejectionOf((async () => hold(amount, at))());

  it('a statement is still under way after its callers timed out → earlier grants hold nothing', async () => {
    await hold(10);
    book.spend(KEY, 995);
    const { promise, resolve } = Promise.withResolvers<void>();
    one.repository.gate = async (when) => (when === 'after' ? promise : undefined);
    await refusalOf(900);
    const answer = refusalOf(400);
    resolve();
    expect(await answer).toMatchObject({ reason: 'app_budget_held' });
    expect(book.of(KEY).get('one')).toBe(10);
  });

  it('an event is stored while a lapsed row is added again → the next statement grants the full amount needed', async () => {
    const first = await hold(400);
    first.settle(400);
    book.of(KEY).delete('one');
    const asked = one.repository.statements;
    one.repository.gate = async (when) => {
      if (when === 'before' || one.repository.statements !== asked + 2) return;
      book.spend(KEY, 400);
      first.stored();
    };
    await hold(500);
    expect([one.repository.statements - asked, book.of(KEY).get('one')]).toEqual([3, 550]);
  });

  it('the budget is spent and calls still run → many calls at two instances, about one statement each', async () => {
    const two = anInstance('two', book, clock);
    for (const { registry } of [one, two]) registry.others = ['other'];
    const running = [await hold(10), await hold(10, two)];
    book.spend(KEY, 1_000);
    const before = one.repository.statements + two.repository.statements;
    for (let call = 0; call < 10; call++) {
      expect(await refusalOf(900)).toMatchObject({ reason: 'app_budget_spent' });
      expect(await refusalOf(900, two)).toMatchObject({ reason: 'app_budget_spent' });
    }
    expect(one.repository.statements + two.repository.statements - before).toBeLessThanOrEqual(4);
    for (const one of running) one.release();
    await two.budgets.leave();
  });

  it('the row never matches what is expected → retried with growing pauses until 503', async () => {
    let row = 0;
    one.repository.gate = async () => {
      await tick();
      book.of(KEY).set('one', ++row);
    };
    expect(await refusalOf(10)).toMatchObject({ reason: 'budget_asked_too_long' });
    expect(one.repository.statements).toBeLessThan(20);
  });

  it('Postgres aborts every statement → successive calls query it with growing pauses; once it is back, calls are served at once', async () => {
    one.repository.gate = () => Promise.reject(new Error('cut'));
    const untilMs = performance.now() + 600;
    while (performance.now() < untilMs) {
      expect(await refusalOf(10)).toMatchObject({ code: 'service_unavailable', reason: 'budget_not_reached' });
    }
    expect(one.repository.statements).toBeLessThan(12);
    one.repository.gate = async () => undefined;
    await hold(10);
    const asked = one.repository.statements;
    await hold(900);
    expect(one.repository.statements - asked).toBeLessThanOrEqual(1);
  });

  it('idle during a running call → its row is written once, not at every sweep; the grant is returned when the call ends', async () => {
    jest.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask', 'performance', 'Date', 'setImmediate'] });
    try {
      one.budgets.onApplicationBootstrap();
      const running = await hold(100);
      clock.advance(10_000);
      const asked = one.repository.statements;
      await jest.advanceTimersByTimeAsync(10_000);
      expect([one.repository.statements - asked, book.of(KEY).get('one')]).toEqual([1, 100]);
      running.release();
      await jest.advanceTimersByTimeAsync(5_000);
      expect([one.repository.statements - asked, book.of(KEY).get('one')]).toEqual([2, undefined]);
    } finally {
      jest.useRealTimers();
    }
  });
});
