import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { BudgetBook } from '../../test/support/budgets/fake-budgets-repository.js';
import { anInstance } from '../../test/support/budgets/offline-budgets.js';
import { FakeClock } from '../../test/support/clock.js';
import { rejectionOf } from '../../test/support/rejection-of.js';
import { GatewayError } from '../common/errors/gateway-error.js';
import type { CallBudget } from './budget-hold.js';

const NOW_MS = Date.UTC(2026, 10, 20, 12);
const MONTH_END_SECONDS = (Date.UTC(2026, 11, 1) - NOW_MS) / 1000;
const KEY = { appId: 'app', scope: 'app', subject: '', window: 'month', periodStart: '2026-11-01' } as const;
const MINUTE_MS = 60_000;
/** Work that continues while timers are stopped. */
const UNTIMED = ['nextTick', 'queueMicrotask', 'performance', 'Date', 'setImmediate'] as const;

let book: BudgetBook;
let clock: FakeClock;
let one: ReturnType<typeof anInstance>;

beforeEach(() => {
  book = new BudgetBook();
  clock = new FakeClock(NOW_MS);
  one = anInstance('one', book, clock);
});

afterEach(() => {
  jest.useRealTimers();
  return one.budgets.leave();
});

function budgetOf(limit = 1_000, userId: string | null = null): CallBudget {
  const [scope, subject] = userId === null ? (['app', ''] as const) : (['user', userId] as const);
  return { organizationId: 'org-1', appId: 'app', scope, subject, window: 'month', limit };
}

function hold(amount: number, of = budgetOf(), instance = one) {
  return instance.budgets.hold(of, amount, clock.nowMs());
}

async function refusal(work: () => unknown): Promise<GatewayError> {
  const error = await rejectionOf((async () => work())());
  if (!(error instanceof GatewayError)) throw error;
  return error;
}

describe('budgets', () => {
  it('first call queries Postgres; later calls are admitted at once from memory', async () => {
    expect(hold(10)).toBeInstanceOf(Promise);
    await hold(10);
    const asked = one.repository.statements;
    for (let call = 0; call < 20; call++) expect(hold(10)).not.toBeInstanceOf(Promise);
    expect(one.repository.statements).toBe(asked);
  });

  it('ADR 0017: a running call needs more → taken from the grant at once; never waits, never exceeds the budget', async () => {
    const more = (amount: number, of = budgetOf()) => one.budgets.holdMore(of, amount, clock.nowMs());
    expect(more(10)).toBeUndefined();
    const first = await hold(10);
    expect(one.repository.statements).toBeGreaterThan(0);
    const asked = one.repository.statements;
    const second = more(10);
    expect(second).toMatchObject({ amount: 10, budget: budgetOf() });
    expect([more(1_000), one.repository.statements]).toEqual([undefined, asked]);
    second?.release();
    first.release();
    expect([one.metrics.budgetHolds.read(), one.metrics.budgetHeld.read()]).toEqual([0, 0]);
  });

  it('calls at the same time → one statement for all of them', async () => {
    await Promise.all(Array.from({ length: 30 }, () => hold(10)));
    expect(one.repository.statements).toBeLessThanOrEqual(3);
  });

  it.each([
    [null, 'app'],
    ['ann', 'user'],
  ])('budget 0, user %s → refused at once, scope %s, until the next month, without a query', async (userId, name) => {
    const error = await refusal(() => hold(10, budgetOf(0, userId)));
    expect(error).toMatchObject({ code: 'app_budget_exhausted', status: 429, retryAfterSeconds: MONTH_END_SECONDS });
    expect(error.data).toEqual({ scope: name, window: 'month' });
    expect(one.repository.statements).toBe(0);
  });

  it('budget is spent → calls are refused until the next month, and many of them need about one query', async () => {
    book.spend(KEY, 1_000);
    for (let call = 0; call < 200; call++) {
      expect(await refusal(() => hold(1))).toMatchObject({
        retryAfterSeconds: MONTH_END_SECONDS,
        reason: 'app_budget_spent',
      });
    }
    expect(one.repository.statements).toBeLessThanOrEqual(2);
  });

  it('budget was spent and is raised → the very next call is admitted', async () => {
    book.spend(KEY, 1_000);
    await refusal(() => hold(1));
    await hold(1, budgetOf(1_001));
  });

  it('the remainder is held by running calls → Retry-After 1 to 10 s, growing with time; released → admitted', async () => {
    const holds = await Promise.all([hold(600), hold(600)]);
    expect(await refusal(() => hold(1))).toMatchObject({ retryAfterSeconds: 1, reason: 'app_budget_held' });
    clock.advance(4_500);
    expect(await refusal(() => hold(1))).toMatchObject({ retryAfterSeconds: 5 });
    clock.advance(MINUTE_MS);
    expect(await refusal(() => hold(1))).toMatchObject({ retryAfterSeconds: 10 });
    holds[0]?.release();
    expect(hold(1)).not.toBeInstanceOf(Promise);
  });

  it('unused money is released when a call ends; used money is spent once the event is stored', async () => {
    const first = await hold(900);
    expect(one.metrics.budgetHeld.read()).toBe(900);
    expect(first.settle(100)).toBe(100);
    expect(one.metrics.budgetHeld.read()).toBe(100);
    book.spend(KEY, 100);
    first.stored();
    const second = await hold(890);
    expect([one.metrics.budgetHolds.read(), one.metrics.budgetHeld.read()]).toEqual([1, 890]);
    expect(second.settle(5_000)).toBe(890);
    book.spend(KEY, 5_000);
    second.stored();
    expect(await refusal(() => hold(1))).toMatchObject({ reason: 'app_budget_spent' });
  });

  it('settled twice, or in the wrong order → the first counts', async () => {
    const first = await hold(100);
    first.stored();
    first.dropped();
    expect(one.metrics.budgetHolds.read()).toBe(1);
    expect([first.settle(40), first.settle(90)]).toEqual([40, 0]);
    first.release();
    expect(one.metrics.budgetHeld.read()).toBe(40);
    first.dropped();
    first.stored();
    expect([one.metrics.budgetHolds.read(), one.metrics.budgetHeld.read()]).toEqual([0, 0]);
  });

  it('a call that costs nothing → also refused once the budget is used up', async () => {
    book.spend(KEY, 1_000);
    expect(await refusal(() => hold(0))).toMatchObject({ reason: 'app_budget_spent' });
  });

  it('each month and each user has its own budget', async () => {
    book.spend(KEY, 1_000);
    await refusal(() => hold(1));
    await hold(1, budgetOf(1_000, 'ann'));
    clock.advance((MONTH_END_SECONDS + 1) * 1000);
    await one.registry.heartbeat();
    await hold(1);
  });

  it('budget is lowered below what was granted → Postgres decides, and the excess is returned', async () => {
    const first = await hold(10);
    await hold(1, budgetOf(12));
    expect(await refusal(() => hold(5, budgetOf(11)))).toMatchObject({ reason: 'app_budget_held' });
    expect(book.grantedOf(KEY)).toBe(11);
    first.release();
  });
});

describe('budgets between the end of a call and its record', () => {
  it('spending is on its way to Postgres → only stored spending refuses calls until the next month', async () => {
    const first = await hold(1_000);
    first.settle(1_000);
    const refused = refusal(() => hold(1));
    setTimeout(() => {
      book.spend(KEY, 1_000);
      first.stored();
    }, 60);
    expect(await refused).toMatchObject({ reason: 'app_budget_spent', retryAfterSeconds: MONTH_END_SECONDS });
  });

  it('Postgres has an event already, this instance is notified during its query → counted once', async () => {
    const first = await hold(900);
    first.settle(600);
    one.repository.gate = async (when) => {
      if (when === 'before') book.spend(KEY, 600);
      else first.stored();
      if (when === 'after') one.repository.gate = async () => undefined;
    };
    await hold(950);
  });

  it('the previous call ends during the query → admitted according to its actual cost', async () => {
    const first = await hold(1_000);
    one.repository.gate = async () => {
      one.repository.gate = async () => undefined;
      first.settle(600);
    };
    await hold(500);
  });

  it('spending is corrected upwards → the very next call is refused, even though money is granted', async () => {
    const first = await hold(100);
    book.spend(KEY, 950);
    await one.budgets.invalidateSpending('app');
    expect(await refusal(() => hold(10))).toMatchObject({ reason: 'app_budget_held' });
    first.release();
    expect(hold(10)).not.toBeInstanceOf(Promise);
  });

  it('corrected downwards → the very next call is admitted', async () => {
    book.spend(KEY, 1_000);
    await refusal(() => hold(10));
    book.spend(KEY, -500);
    await one.budgets.invalidateSpending('app');
    await hold(10);
  });
});

describe('budgets during failures', () => {
  it('Postgres unavailable → granted amounts are admitted, more is 503 with Retry-After; available again → admitted', async () => {
    await hold(10);
    one.repository.gate = async () => Promise.reject(new Error('away'));
    expect(hold(10)).not.toBeInstanceOf(Promise);
    expect(await refusal(() => hold(990))).toMatchObject({ code: 'service_unavailable', retryAfterSeconds: 1 });
    one.repository.gate = async () => undefined;
    await hold(990);
  });

  it('Postgres does not answer → 503 after a second; what it grants later is not lost', async () => {
    await hold(10);
    const { promise, resolve } = Promise.withResolvers<void>();
    one.repository.gate = async (when) => (when === 'after' ? promise : undefined);
    jest.useFakeTimers({ doNotFake: [...UNTIMED] });
    let refused: GatewayError | undefined;
    void refusal(() => hold(900)).then((error) => {
      refused = error;
    });
    await jest.advanceTimersByTimeAsync(999);
    expect(refused).toBeUndefined();
    await jest.advanceTimersByTimeAsync(1);
    expect(refused).toMatchObject({ code: 'service_unavailable', reason: 'budget_asked_too_long' });
    jest.useRealTimers();
    resolve();
    await turn();
    expect(hold(900)).not.toBeInstanceOf(Promise);
  });

  it('the lease may have expired → 503, also for granted amounts, until it is renewed', async () => {
    await hold(10);
    one.registry.confirmed = false;
    expect(await refusal(() => hold(10))).toMatchObject({
      code: 'service_unavailable',
      reason: 'instance_unconfirmed',
    });
    one.registry.confirmed = true;
    await hold(10);
  });

  it('lease expired → old grants hold nothing; amounts in use are granted again', async () => {
    const first = await hold(100);
    clock.advance(5 * MINUTE_MS);
    book.grants.clear();
    const two = anInstance('two', book, clock);
    await hold(950, budgetOf(), two);
    expect(await refusal(() => hold(10))).toMatchObject({ reason: 'app_budget_held' });
    expect(book.of(KEY).get('one')).toBe(100);
    first.release();
    await two.budgets.leave();
  });

  it('lease expired while its clock stood still → old grants hold nothing', async () => {
    await hold(100);
    book.grants.clear();
    const two = anInstance('two', book, clock);
    await hold(950, budgetOf(), two);
    one.registry.entries++;
    await one.registry.heartbeat();
    expect(await refusal(() => hold(10))).toMatchObject({ reason: 'app_budget_held' });
    await two.budgets.leave();
  });

  it('other instances hold the remainder → they return what they are not using, and the call is admitted', async () => {
    const two = anInstance('two', book, clock);
    for (const { registry } of [one, two]) registry.others = ['other'];
    const first = await hold(500, budgetOf(), two);
    first.settle(0);
    first.stored();
    await hold(990);
    await two.budgets.leave();
    expect(book.of(KEY).get('two')).toBeUndefined();
  });

  it('another instance exceeds the budget → no earlier remainder is used, all calls are refused', async () => {
    const two = anInstance('two', book, clock);
    for (const { registry } of [one, two]) registry.others = ['other'];
    book.spend(KEY, 600);
    const small = await hold(10, budgetOf(), two);
    expect(book.of(KEY).get('two')).toBeGreaterThan(10 + 5);
    const crossing = await hold(500);
    crossing.settle(500);
    book.spend(KEY, 500);
    crossing.stored();
    expect(await refusal(() => hold(5, budgetOf(), two))).toMatchObject({ reason: 'app_budget_spent' });
    small.release();
    await two.budgets.leave();
  });

  it('others hold it for running calls → refused within a third of a second, in few statements', async () => {
    const two = anInstance('two', book, clock);
    await hold(1_000, budgetOf(), two);
    jest.useFakeTimers({ doNotFake: [...UNTIMED] });
    const answers: GatewayError[] = [];
    for (let call = 0; call < 100; call++) void refusal(() => hold(10)).then((error) => answers.push(error));
    for (let passedMs = 0; passedMs < 333; passedMs++) await jest.advanceTimersByTimeAsync(1);
    jest.useRealTimers();
    expect(answers.map(({ reason }) => reason)).toEqual(Array(100).fill('app_budget_held'));
    expect(one.repository.statements).toBeLessThan(12);
    await two.budgets.leave();
  });

  it('stop after a grant whose answer was lost → that grant is returned as well', async () => {
    const { repository } = one;
    repository.gate = async (when) => {
      if (when !== 'after' || book.of(KEY).get('one') === 0) return;
      repository.gate = async () => undefined;
      throw new Error('connection lost');
    };
    expect(await refusal(() => hold(10))).toMatchObject({ reason: 'budget_not_reached' });
    expect(book.of(KEY).get('one')).toBeGreaterThan(0);
    await one.budgets.leave();
    expect(book.of(KEY).size).toBe(0);
  });

  it('stop while Postgres fails for a moment → tried again', async () => {
    (await hold(10)).release();
    let failures = 2;
    one.repository.gate = async (when) => {
      if (when === 'before' && failures-- > 0) throw new Error('away');
    };
    await one.budgets.leave();
    expect(book.of(KEY).size).toBe(0);
  });

  it('stop → unused grants are returned, those of a running call are kept', async () => {
    const running = await hold(100);
    const other = await hold(10, budgetOf(1_000, 'ann'));
    other.release();
    await one.budgets.leave();
    expect(book.of(KEY).get('one')).toBe(100);
    expect(book.of({ ...KEY, scope: 'user', subject: 'ann' }).size).toBe(0);
    running.release();
  });
});
