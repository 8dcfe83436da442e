import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { BudgetBook } from '../../test/support/budgets/fake-budgets-repository.js';
import { anInstance } from '../../test/support/budgets/offline-budgets.js';
import { FakeClock } from '../../test/support/clock.js';
import { GatewayError } from '../common/errors/gateway-error.js';
import type { BudgetHold } from './budget-hold.js';

const RUNS = Number(process.env.FUZZ_RUNS ?? 5);
const SEED = Number(process.env.BUDGET_SEED ?? Math.floor(Math.random() * 2 ** 31));
const NOW_MS = Date.UTC(2026, 10, 20, 12);
const BUDGET = 1_000;
const KEY = { appId: 'app', scope: 'app', subject: '', window: 'month', periodStart: '2026-11-01' } as const;
const BUDGET_OF_APP = {
  ...{ organizationId: 'org-1', appId: 'app', subject: '', limit: BUDGET },
  scope: 'app',
  window: 'month',
} as const;
const IDLE_MS = 30_000;
/** Share of first takes that find their budget locked. */
const LOCKED_SHARE = 0.2;

/** Seeded random numbers. */
function numbersOf(seed: number) {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  return { chance: (share: number) => next() < share, upTo: (most: number) => Math.floor(next() * (most + 1)) };
}

interface Call {
  readonly instance: ReturnType<typeof anInstance>;
  readonly hold: BudgetHold;
  charge: number | undefined;
}

interface SimulationOptions {
  readonly instances: number;
  readonly maxCost: number;
  /** Share of statements that fail, some of them after their commit. */
  readonly faults?: number;
  readonly correctsDown?: boolean;
}

/** Simulates instances and their calls on a fake clock. */
class Simulation {
  readonly book = new BudgetBook();
  readonly clock = new FakeClock(NOW_MS);
  readonly numbers: ReturnType<typeof numbersOf>;
  instances: ReturnType<typeof anInstance>[] = [];
  calls: Call[] = [];
  readonly refusals: string[] = [];
  admitted = 0;
  private made = 0;
  private faults: number;

  constructor(
    seed: number,
    readonly options: SimulationOptions,
  ) {
    this.numbers = numbersOf(seed);
    this.faults = options.faults ?? 0;
    for (let count = 0; count < options.instances; count++) this.begin();
  }

  /** Spent amount plus the amounts of open calls. */
  get atStake(): number {
    const open = this.calls.reduce((sum, { hold, charge }) => sum + (charge ?? hold.amount), 0);
    return this.book.spentOf(KEY) + open;
  }

  begin(): void {
    const instance = anInstance(`i${++this.made}`, this.book, this.clock);
    instance.repository.gate = async (when) => {
      await new Promise((resolve) => setTimeout(resolve, this.numbers.upTo(when === 'before' ? 8 : 3)));
      if (!this.instances.includes(instance)) throw new Error('dead');
      if (this.numbers.chance(this.faults)) throw new Error('away');
    };
    instance.repository.isLocked = () => this.numbers.chance(LOCKED_SHARE);
    this.instances.push(instance);
    this.introduce();
    instance.budgets.onApplicationBootstrap();
  }

  any<T>(things: readonly T[]): T | undefined {
    return things[this.numbers.upTo(Math.max(0, things.length - 1))];
  }

  async call(instance = this.any(this.instances), maxCost = 1 + this.numbers.upTo(this.options.maxCost - 1)) {
    if (instance === undefined) throw new Error('nobody lives');
    try {
      const hold = await instance.budgets.hold(BUDGET_OF_APP, maxCost, NOW_MS);
      if (!this.instances.includes(instance)) return undefined;
      const call: Call = { instance, hold, charge: undefined };
      this.calls.push(call);
      this.admitted++;
      if (this.atStake >= BUDGET + this.options.maxCost) throw new Error(`overshoot: ${this.atStake}`);
      return call;
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
      this.refusals.push(error.code);
      return undefined;
    }
  }

  settle(call: Call, charge = this.numbers.upTo(call.hold.amount)): void {
    if (call.charge !== undefined) return;
    call.charge = charge;
    call.hold.settle(charge);
  }

  /** Stores the event in the database shortly before the instance is notified. */
  store(call: Call): void {
    if (call.charge === undefined || !this.calls.includes(call)) return;
    this.calls = this.calls.filter((other) => other !== call);
    this.book.spend(KEY, call.charge);
    setTimeout(() => call.hold.stored(), this.numbers.upTo(20));
  }

  release(call: Call): void {
    if (call.charge !== undefined) return;
    this.calls = this.calls.filter((other) => other !== call);
    call.hold.release();
  }

  /** Kills an instance; another process stores its events, open ones at their maximum cost, and deletes its grants. */
  crash(instance: ReturnType<typeof anInstance>): void {
    this.instances = this.instances.filter((other) => other !== instance);
    for (const call of this.calls.filter((one) => one.instance === instance)) {
      this.book.spend(KEY, call.charge ?? call.hold.amount);
    }
    this.calls = this.calls.filter((one) => one.instance !== instance);
    for (const grants of this.book.grants.values()) grants.delete(instance.id);
    this.begin();
  }

  async pass(ms: number): Promise<void> {
    this.clock.advance(ms);
    await jest.advanceTimersByTimeAsync(ms);
  }

  async step(): Promise<void> {
    const { numbers } = this;
    const call = this.any(this.calls);
    const kind = numbers.upTo(99);
    if (kind < 45) void this.call();
    else if (kind < 65 && call !== undefined) this.settle(call);
    else if (kind < 85 && call !== undefined) this.store(call);
    else if (kind < 88 && call !== undefined) this.release(call);
    else if (kind < 89 && this.instances[0] !== undefined) this.crash(this.instances[0]);
    else if (kind < 90) await this.pass(IDLE_MS);
    else if (kind < 92 && this.options.correctsDown) this.correct(-numbers.upTo(this.book.spentOf(KEY)));
    await this.pass(numbers.upTo(30));
  }

  correct(amount: number): void {
    this.book.spend(KEY, amount);
    const [first] = this.instances;
    void first?.budgets.invalidateSpending('app');
  }

  /** Settles and stores every call, and starts no further one. */
  async quiet(): Promise<void> {
    this.faults = 0;
    await this.pass(2_000);
    for (const call of this.calls) this.settle(call);
    for (const call of this.calls) this.store(call);
    for (let round = 0; round < 3; round++) await this.pass(IDLE_MS);
  }

  private introduce(): void {
    const ids = this.instances.map(({ id }) => id);
    for (const { id, registry } of this.instances) registry.others = ids.filter((other) => other !== id);
    for (const { registry } of this.instances) void registry.heartbeat();
  }
}

let overshoots: unknown[];
const noteRejection = (error: unknown) => overshoots.push(error);

beforeEach(() => {
  overshoots = [];
  process.on('unhandledRejection', noteRejection);
  jest.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask', 'performance', 'Date'] });
});

afterEach(() => {
  jest.useRealTimers();
  process.off('unhandledRejection', noteRejection);
});

describe(`budgets on several instances (BUDGET_SEED=${SEED})`, () => {
  it.each([
    ['one instance', { instances: 1, maxCost: 40 }],
    ['one instance, calls as dear as the budget', { instances: 1, maxCost: BUDGET }],
    ['three instances', { instances: 3, maxCost: 40 }],
    ['three instances, calls as dear as the budget', { instances: 3, maxCost: BUDGET }],
    ['two instances and statements that fail', { instances: 2, maxCost: 60, faults: 0.15 }],
    ['three instances and corrections', { instances: 3, maxCost: 60, correctsDown: true }],
  ] as const)(
    '%s, any interleaving, kills and idle times → overspend of less than one call, and nothing leaks',
    async (_name, options) => {
      for (let run = 0; run < RUNS; run++) {
        const simulation = new Simulation(SEED + run, options);
        for (let step = 0; step < 120; step++) await simulation.step();
        expect([run, simulation.atStake < BUDGET + options.maxCost]).toEqual([run, true]);
        await simulation.quiet();
        expect([run, overshoots]).toEqual([run, []]);
        expect([run, simulation.book.grantedOf(KEY)]).toEqual([run, 0]);
        for (const { metrics } of simulation.instances) {
          expect([run, metrics.budgetHolds.read(), metrics.budgetHeld.read()]).toEqual([run, 0, 0]);
        }
        expect(simulation.admitted).toBeGreaterThan(0);
        for (const { budgets } of simulation.instances) void budgets.leave();
        await simulation.pass(100);
      }
    },
    120_000,
  );

  it.each([1, 2, 4])(
    'one call at a time, at any of %i instances → refused only when the budget is used up',
    async (instances) => {
      for (let run = 0; run < RUNS; run++) {
        const simulation = new Simulation(SEED + run, { instances, maxCost: 1 + ((SEED + run) % 300) });
        const { numbers } = simulation;
        for (let step = 0; step < 400 && simulation.refusals.length === 0; step++) {
          const before = simulation.atStake;
          const asking = simulation.call();
          await simulation.pass(1_500);
          const call = await asking;
          expect([run, step, call !== undefined]).toEqual([run, step, before < BUDGET]);
          if (call === undefined) break;
          await simulation.pass(numbers.upTo(50));
          simulation.settle(call, numbers.upTo(call.hold.amount));
          setTimeout(() => simulation.store(call), numbers.upTo(50));
          await simulation.pass(numbers.chance(0.1) ? IDLE_MS : numbers.upTo(70));
        }
        expect([run, overshoots]).toEqual([run, []]);
        await simulation.quiet();
        expect([run, simulation.book.grantedOf(KEY)]).toEqual([run, 0]);
        for (const { budgets } of simulation.instances) void budgets.leave();
        await simulation.pass(100);
      }
    },
    120_000,
  );
});
