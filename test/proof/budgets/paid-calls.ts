import type { BudgetWindow } from '../../../src/budgets/budget-period.rules.js';
/** What the price of every proof asks for, in nano-dollars for one token. */
export const INPUT_NANO_USD = 2_000;
export const OUTPUT_NANO_USD = 8_000;

/** What a client has heard for less than this when its instance is killed may be recorded as interrupted. */
const SETTLED_WITHIN_MS = 300;

/** How the provider treats a call. */
export type Treatment = 'whole' | 'no_usage' | 'error' | 'reset' | 'cut_short';

/** One call, as its client and its provider know it. Money is whole nano-dollars. */
export interface PaidCall {
  readonly marker: string;
  readonly appId: string;
  readonly userId: string;
  /** Number of the instance it was sent to. */
  readonly instance: number;
  /** Every byte of its body a token, and every token it asks for. */
  readonly worst: number;
  /** What it is taken to send: a token for every four bytes. */
  readonly sent: number;
  readonly mostTokens: number;
  /** What its model's price asks for one token of its answer. */
  readonly outputNanoUsd: number;
  readonly bodyBytes: number;
  readonly isStream: boolean;
  readonly sentAtMs: number;
  /** How the provider is to treat it; by chance when absent. */
  readonly treatment?: Treatment;
  /** The client left before the answer was whole. */
  wasLeft: boolean;
  /** Its instance was killed while it ran, or right after it: it may count what was sent, whatever its client heard. */
  wasKilled: boolean;
  /** On the clock of `performance.now()`; absent while it runs. */
  endedAtMs?: number;
  /** The provider had it so often. */
  seen: number;
  /** What it may count once its provider has answered: when that is heard, and at least and at most, heard or not. */
  charge?: { readonly heard: number | undefined; readonly least: number; readonly most: number };
}

/** Whose budget, and how much it is. An empty user: the application. */
export interface ProvenBudget {
  readonly appId: string;
  readonly userId: string;
  readonly window: BudgetWindow;
  readonly nanoUsd: number;
}

/** What is known of one budget. */
interface Balance {
  readonly window: BudgetWindow;
  readonly budget: number;
  /** Of the calls the provider has had: what they cost at least by now, counting those that run as their worst case. */
  committed: number;
  /** What they may cost at most. */
  possible: number;
  /** The dearest worst case of a call so far. */
  dearest: number;
}

/**
 * Every call of a proof. Seen by the provider, a budget may never be exceeded by more than the worst case of one call,
 * at any moment: that is proven when each call arrives.
 */
export class PaidCalls {
  readonly all = new Map<string, PaidCall>();
  /** What must never be, and was. */
  readonly violations: string[] = [];
  private readonly balances = new Map<string, Balance>();

  budget({ appId, userId, window, nanoUsd }: ProvenBudget): void {
    const balance = { window, budget: nanoUsd, committed: 0, possible: 0, dearest: 0 };
    this.balances.set(`${appId}/${userId}`, balance);
  }

  add(call: PaidCall): void {
    this.all.set(call.marker, call);
    for (const balance of this.balancesOf(call)) balance.dearest = Math.max(balance.dearest, call.worst);
  }

  /** The provider has got it. */
  arrived(call: PaidCall): void {
    call.seen++;
    if (call.seen > 1) this.violations.push(`${call.marker} was sent to the provider again`);
    for (const balance of this.balancesOf(call)) {
      balance.committed += call.worst;
      balance.possible += call.worst;
      const over = balance.committed - balance.budget;
      if (over >= balance.dearest)
        this.violations.push(`${call.marker}: ${over} above the budget, under way and served`);
    }
  }

  /**
   * The provider has answered it, or ended it. Until its client has the whole answer it may count what was sent, or up
   * to its worst case.
   *
   * @param heard what it counts when the answer is heard; undefined where that is only known within bounds.
   */
  answered(call: PaidCall, heard: number | undefined): void {
    const { least, most } = this.bounds(call, heard);
    call.charge = { heard, least, most };
    for (const balance of this.balancesOf(call)) balance.committed -= most - least;
  }

  /** Its client has an end. @param isCertain it was whole, so that the provider's figure counts. */
  ended(call: PaidCall, isCertain: boolean): void {
    call.endedAtMs = performance.now();
    if (!isCertain || call.wasKilled || call.charge === undefined) return;
    const { heard, least, most } = call.charge;
    if (heard === undefined) return;
    call.charge = { heard, least: heard, most: heard };
    for (const balance of this.balancesOf(call)) {
      balance.committed += heard - least;
      balance.possible -= most - heard;
    }
  }

  /** An instance is killed now: nothing is certain of what it has under way, and of what it has just ended. */
  killed(instance: number): void {
    const endedSinceMs = performance.now() - SETTLED_WITHIN_MS;
    for (const call of this.all.values()) {
      const { endedAtMs = Infinity, charge } = call;
      if (call.instance !== instance || endedAtMs < endedSinceMs) continue;
      call.wasKilled = true;
      if (charge?.heard === undefined || charge.least !== charge.most) continue;
      call.charge = { heard: charge.heard, ...this.bounds(call, charge.heard) };
      for (const balance of this.balancesOf(call)) {
        balance.committed -= charge.heard - call.charge.least;
        balance.possible += call.charge.most - charge.heard;
      }
    }
  }

  /** What may be spent of a budget by now; undefined where there is no such budget. */
  standing(appId: string, userId: string): Readonly<Balance> | undefined {
    return this.balances.get(`${appId}/${userId}`);
  }

  budgets(): ProvenBudget[] {
    return [...this.balances].map(([name, { window, budget }]) => {
      const [appId = '', userId = ''] = name.split('/');
      return { appId, userId, window, nanoUsd: budget };
    });
  }

  get underWay(): number {
    return [...this.all.values()].filter(({ endedAtMs }) => endedAtMs === undefined).length;
  }

  /** What an answered call may count, as long as nobody knows whether it was heard. */
  private bounds({ sent, worst }: PaidCall, heard: number | undefined): { least: number; most: number } {
    return { least: Math.min(sent, heard ?? sent), most: worst };
  }

  private balancesOf({ appId, userId }: PaidCall): Balance[] {
    return [this.standing(appId, userId), this.standing(appId, '')].filter((one) => one !== undefined);
  }
}
