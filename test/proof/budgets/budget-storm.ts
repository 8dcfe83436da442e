import { setTimeout as sleep } from 'node:timers/promises';
import { budgetPeriodOf } from '../../../src/budgets/budget-period.rules.js';
import { seeded } from '../../support/seeded.js';
import { auditEnd, auditMoment, storedBudgets } from './budget-audit.js';
import { BudgetFleet, type FleetApp } from './budget-fleet.js';
import { INPUT_NANO_USD, OUTPUT_NANO_USD } from './paid-calls.js';
import { isRefusedAsSpent, isRefusedByBudget, type PaidAnswer, PaidClient } from './paid-client.js';
import type { StormOptions, StormReport } from './storm-report.js';

const MOST_TOKENS = 1_000;
/** Approximate maximum cost of a call of the storm. */
const DEAREST = 150 * INPUT_NANO_USD + MOST_TOKENS * OUTPUT_NANO_USD;
/** Whole tokens, and dollars with six decimals. */
const WHOLE = INPUT_NANO_USD;
const USERS = 6;
const SAMPLE_MS = 50;
const POLL_MS = 10;
/** An instance is killed after it has served this many calls, and up to this many more. */
const LEAST_SERVED = 15;
const MORE_SERVED = 100;
const LEAST_KILLS = 2;
const MOST_FAILED_STARTS = 3;
const MOST_TIMES_LONGER = 3;
/** Maximum time until calls are served again after the faults end. */
const BACK_WITHIN_MS = 10_000;
/** Longest that the end of a minute hides that its limit is spent. */
const HIDDEN_MS = 10_000;
const QUIET_WITHIN_MS = 20_000;
const MOST_DRAINING_CALLS = 60;

interface StormApp extends FleetApp {
  readonly users: readonly string[];
}

/**
 * Many clients on two instances against tight budgets, with all kinds of faults; everything random, from a seed.
 */
export class BudgetStorm {
  private readonly random: () => number;
  private readonly client: PaidClient;
  private readonly answers: Record<string, number> = {};
  private slowest = { tookMs: 0, kind: 'none' };
  /** By instance, since it was killed last. */
  private readonly served: number[] = [];
  private kills = 0;
  private failedStarts = 0;
  private isOver = false;

  private constructor(
    private readonly fleet: BudgetFleet,
    private readonly options: StormOptions,
  ) {
    this.random = seeded(options.seed + 1);
    this.client = new PaidClient(fleet);
  }

  static async run(options: StormOptions): Promise<StormReport> {
    const fleet = await BudgetFleet.start(options.seed);
    try {
      return await new BudgetStorm(fleet, options).prove();
    } finally {
      await fleet.end();
    }
  }

  private async prove(): Promise<StormReport> {
    const { fleet, options } = this;
    const apps = await this.apps();
    const clients = Array.from({ length: options.clients }, () => this.keepCalling(apps));
    const sampling = this.sample();
    const troubles = this.troubles();
    await this.lasts();
    await Promise.all([...clients, ...troubles]);
    await Promise.all(apps.map((app) => this.drain(app)));
    if (options.waitsForQuiet) await this.quiet();
    await fleet.stop();
    await sampling;
    const counts = await auditEnd(fleet);
    this.client.close();
    const budgets = await storedBudgets(fleet);
    const proven = fleet.calls.budgets();
    const isSpent = ({ appId, userId, window, nanoUsd }: (typeof proven)[number]) =>
      budgets.some(
        (one) => one.appId === appId && one.userId === userId && one.window === window && Number(one.spent) >= nanoUsd,
      );
    return {
      ...counts,
      seed: options.seed,
      faults: Object.entries(options.faults).flatMap(([name, isOn]) => (isOn ? [name] : [])),
      violations: fleet.calls.violations,
      answers: this.answers,
      slowest: `${Math.round(this.slowest.tookMs)} ms: ${this.slowest.kind}`,
      kills: this.kills,
      failedStarts: this.failedStarts,
      spent: [proven.filter(isSpent).length, proven.length],
    };
  }

  /** A busy machine gets more time, so that the planned faults happen. */
  private async lasts(): Promise<void> {
    const { forMs, faults } = this.options;
    const beganAtMs = performance.now();
    const isDone = () => !faults.kills || this.kills >= LEAST_KILLS;
    await sleep(forMs);
    while (!isDone() && performance.now() - beganAtMs < MOST_TIMES_LONGER * forMs) await sleep(POLL_MS);
    this.isOver = true;
  }

  /** For each kind of budget a small one and a larger one; of groups, runs and tokens one of one size. */
  private async apps(): Promise<StormApp[]> {
    const apps: StormApp[] = [];
    const [small, large] = [() => 2 + this.random() * 8, () => 30 + this.random() * 300];
    for (const [ofUsers, ofApp, sharer, sizes] of [
      [true, false, 'user', [small, large]],
      [false, true, 'user', [small, large]],
      [true, true, 'user', [small, large]],
      [true, false, 'group', [small]],
      [true, true, 'run', [large]],
      [true, true, 'tokens', [small]],
      [true, false, 'group_tokens', [small]],
    ] as const) {
      for (const sizeOf of sizes) {
        const size = sizeOf();
        const users = Array.from({ length: USERS }, (_, at) => `user-${at}`);
        const budget = (share: number) => Math.ceil((size * share * DEAREST) / WHOLE) * WHOLE;
        const limits = [ofUsers ? budget(0.5) : undefined, ofApp ? budget(1 + this.random()) : undefined] as const;
        apps.push({ ...(await this.fleet.app(...limits, users, sharer)), users });
      }
    }
    return apps;
  }

  private async keepCalling(apps: readonly StormApp[]): Promise<void> {
    while (!this.isOver) {
      const app = this.oneOf(apps);
      const answer = await this.client.call({
        app,
        userId: this.oneOf(app.users),
        instance: Math.floor(this.random() * this.fleet.instances.length),
        mostTokens: 1 + Math.floor(this.random() * MOST_TOKENS),
        isStream: this.random() < 0.3,
        ...(this.random() < 0.1 && { leavesAfterMs: this.random() * 60 }),
      });
      this.judge(answer);
      await sleep(this.random() * (answer.status === 200 ? 10 : 100));
    }
  }

  private judge(answer: PaidAnswer): void {
    const { status, code, scope, window, retryAfter, call, tookMs } = answer;
    const isHeld = isRefusedByBudget(answer) && !isRefusedAsSpent(answer);
    const kind = code === undefined ? String(status) : `${status} ${code}${isHeld ? ' held' : ''}`;
    this.answers[kind] = (this.answers[kind] ?? 0) + 1;
    if (tookMs > this.slowest.tookMs) this.slowest = { tookMs, kind };
    if (status === 200) this.served[call.instance] = (this.served[call.instance] ?? 0) + 1;
    const { violations } = this.fleet.calls;
    const wrong = (what: string) => violations.push(`${call.marker}: ${what} (${kind}, retry after ${retryAfter})`);
    // The provider answers 500, and has its connections reset.
    if (![0, 200, 429, 500, 502, 503].includes(status)) wrong('an unexpected response');
    const mayBeForEver = status === 429 && (window === 'total' || window === 'run');
    if ((status === 429 || status === 503) && retryAfter < 1 && !mayBeForEver) wrong('nothing tells when to come back');
    if (status === 429 && !isRefusedByBudget(answer)) wrong('another refusal');
    if (status === 429 && !isHeld) this.judgeSpent(answer, wrong);
    if (status === 429 && call.seen > 0) wrong(`refused to ${scope}, and sent`);
  }

  /** A client that is refused until the period ends must have been refused because of spent money. */
  private judgeSpent({ call, scope, window, retryAfter }: PaidAnswer, wrong: (what: string) => void): void {
    const standing = this.fleet.calls.standing(call.appId, scope === 'app' ? '' : call.userId);
    if (standing === undefined || standing.window !== window) {
      wrong('no such budget');
      return;
    }
    const leftSeconds = (budgetPeriodOf(window, Date.now()).endMs - Date.now()) / 1_000;
    const told = window === 'total' || window === 'run' ? Number.POSITIVE_INFINITY : retryAfter;
    if (told !== leftSeconds && Math.abs(leftSeconds - told) > 30) wrong('the period ends at another time');
    // A call that was recorded but never sent counts as well.
    if (standing.possible < standing.budget && !this.options.faults.kills) wrong('it is not spent');
  }

  private async sample(): Promise<void> {
    while (!this.isOver) {
      auditMoment(this.fleet, await storedBudgets(this.fleet));
      await sleep(SAMPLE_MS);
    }
  }

  private troubles(): Promise<void>[] {
    const { kills, redis, postgres } = this.options.faults;
    const { fleet } = this;
    const each = fleet.instances.map((_, at) => at);
    const troubles: (() => Promise<void>)[] = [];
    if (kills)
      troubles.push(async () => {
        const chosen = this.random() < 0.25 ? each : [this.oneOf(each)];
        // Only an instance that has served holds money.
        const enough = LEAST_SERVED + this.random() * MORE_SERVED;
        while (chosen.some((at) => (this.served[at] ?? 0) < enough)) {
          if (this.isOver) return;
          await sleep(POLL_MS);
        }
        this.kills += chosen.length;
        await Promise.all(chosen.map((at) => fleet.kill(at)));
        for (const at of chosen) this.served[at] = 0;
        await sleep(this.random() * 500);
        await Promise.all(chosen.map((at) => this.startAgain(at)));
      });
    if (redis)
      troubles.push(async () => {
        const frozen = this.random() < 0.5;
        if (frozen) fleet.redis.freeze();
        else await fleet.redis.kill();
        await sleep(this.random() * 1_500);
        if (frozen) fleet.redis.thaw();
        else await fleet.redis.revive();
      });
    if (postgres)
      troubles.push(async () => {
        if (this.random() < 0.3) return fleet.cutSessions();
        const chosen = this.random() < 0.4 ? each : [this.oneOf(each)];
        for (const at of chosen) fleet.at(at).database.freeze();
        await sleep(this.random() * 2_500);
        for (const at of chosen) fleet.at(at).database.thaw();
      });
    return troubles.map(async (trouble) => {
      while (!this.isOver) {
        await sleep(200 + this.random() * 1_000);
        await trouble();
      }
    });
  }

  private async startAgain(at: number): Promise<void> {
    for (let failed = 0; ; failed++) {
      try {
        return await this.fleet.at(at).process.start();
      } catch (error) {
        if (failed === MOST_FAILED_STARTS || !this.options.faults.postgres) throw error;
        this.failedStarts++;
      }
    }
  }

  /**
   * One call at a time, alternating between the instances: served until the money is spent, whatever happened before.
   */
  private async drain(app: StormApp): Promise<void> {
    for (const userId of app.users) {
      const isByMinute = this.fleet.calls.standing(app.id, userId)?.isOfAllMinutes === true;
      const deadline = performance.now() + BACK_WITHIN_MS + (isByMinute ? HIDDEN_MS : 0);
      const mostCalls = (isByMinute ? 3 : 1) * MOST_DRAINING_CALLS;
      for (let made = 0; ; made++) {
        const answer = await this.client.call({
          ...{ app, userId, treatment: 'whole', instance: made % this.fleet.instances.length },
          mostTokens: this.drainingTokens(app, userId),
        });
        this.judge(answer);
        const { status, retryAfter, call } = answer;
        if (isRefusedAsSpent(answer)) break;
        if (made > mostCalls || (status !== 200 && performance.now() > deadline)) {
          const standing = JSON.stringify([
            this.fleet.calls.standing(app.id, userId),
            this.fleet.calls.standing(app.id, ''),
          ]);
          this.fleet.calls.violations.push(
            `${call.marker}: ${status}, retry after ${retryAfter}, not spent: ${standing}`,
          );
          break;
        }
        if (status !== 200) await sleep(100);
      }
    }
  }

  /** A third of the remainder, so that few calls are enough. */
  private drainingTokens({ id, outputNanoUsd }: StormApp, userId: string): number {
    const left = ['', userId].flatMap((one) => {
      const standing = this.fleet.calls.standing(id, one);
      if (standing === undefined) return [];
      return [standing.isOfAllMinutes ? standing.budget : standing.budget - standing.committed];
    });
    return Math.max(100, Math.ceil(Math.min(...left) / 3 / outputNanoUsd));
  }

  /** No calls: grants are returned, and nothing stays granted. */
  private async quiet(): Promise<void> {
    const deadline = performance.now() + QUIET_WITHIN_MS;
    const isLeft = async () => (await storedBudgets(this.fleet)).filter(({ granted }) => granted !== '0');
    for (let left = await isLeft(); left.length > 0; left = await isLeft()) {
      if (performance.now() > deadline) {
        this.fleet.calls.violations.push(`still granted after ${QUIET_WITHIN_MS} ms: ${JSON.stringify(left)}`);
        return;
      }
      await sleep(100);
    }
  }

  private oneOf<T>(list: readonly T[]): T {
    const one = list[Math.floor(this.random() * list.length)];
    if (one === undefined) throw new Error('nothing to choose from');
    return one;
  }
}
