import type { BudgetWindow } from '../../../src/budgets/budget-period.rules.js';
/** The price in every proof, in nano-dollars per token. */
export const INPUT_NANO_USD = 2_000;
export const OUTPUT_NANO_USD = 8_000;

const MINUTE_MS = 60_000;
/** A call that ended less than this before its instance is killed may be recorded as interrupted. */
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
  /** One token per byte of its body, plus every requested token. */
  readonly worst: number;
  /** Its estimated input: one token per four bytes. */
  readonly sent: number;
  readonly mostTokens: number;
  /** The price of its model for one token of the answer. */
  readonly outputNanoUsd: number;
  readonly bodyBytes: number;
  readonly isStream: boolean;
  readonly sentAtMs: number;
  /** The UTC minute that it counts in; absent where that is not certain, because another one began on its way. */
  minute?: number | undefined;
  /** How the provider treats it; random if absent. */
  readonly treatment?: Treatment;
  /** The client disconnected before the answer was complete. */
  wasLeft: boolean;
  /**
   * Its instance was killed while it ran, or right after it: it may count the input sent, whatever its client received.
   */
  wasKilled: boolean;
  /** On the clock of `performance.now()`; absent while it runs. */
  endedAtMs?: number;
  /** How often the provider received it. */
  seen: number;
  /** What it may count once its provider has answered: if the answer arrives, and the bounds in any case. */
  charge?: { readonly heard: number | undefined; readonly least: number; readonly most: number };
}

/** The owner of a budget, and its amount. An empty user: the application. */
export interface ProvenBudget {
  readonly appId: string;
  readonly userId: string;
  readonly window: BudgetWindow;
  readonly nanoUsd: number;
}

/** The known state of one budget. */
interface Balance {
  readonly window: BudgetWindow;
  readonly budget: number;
  /** Of a budget by minute, all minutes together, which may exceed it. */
  readonly isOfAllMinutes: boolean;
  /** Of the calls the provider has had: what they cost at least by now, counting those that run as their worst case. */
  committed: number;
  /** What they may cost at most. */
  possible: number;
  /** The most expensive worst case of a call so far. */
  dearest: number;
}

/**
 * Every call of a proof. Seen by the provider, a budget may never be exceeded by more than the worst case of one call,
 * at any moment: that is proven when each call arrives.
 */
export class PaidCalls {
  readonly all = new Map<string, PaidCall>();
  /** Violations that were found. */
  readonly violations: string[] = [];
  private readonly balances = new Map<string, Balance>();
  /** Of budgets by minute, those of single minutes. */
  private readonly minutes = new Map<string, Balance>();

  budget({ appId, userId, window, nanoUsd }: ProvenBudget): void {
    const isOfAllMinutes = window === 'minute_tokens';
    const balance = { window, budget: nanoUsd, isOfAllMinutes, committed: 0, possible: 0, dearest: 0 };
    this.balances.set(`${appId}/${userId}`, balance);
  }

  add(call: PaidCall): void {
    this.all.set(call.marker, call);
    for (const balance of this.wholeBalancesOf(call)) balance.dearest = Math.max(balance.dearest, call.worst);
  }

  /** The provider has received it. */
  arrived(call: PaidCall): void {
    call.seen++;
    const minute = minuteOf(performance.now());
    // The gateway admits it between these two.
    call.minute = minuteOf(call.sentAtMs) === minute ? minute : undefined;
    if (call.seen > 1) this.violations.push(`${call.marker} was sent to the provider again`);
    for (const balance of this.balancesOf(call)) {
      balance.committed += call.worst;
      balance.possible += call.worst;
      const over = balance.committed - balance.budget;
      if (over >= balance.dearest && !balance.isOfAllMinutes)
        this.violations.push(`${call.marker}: ${over} above the budget, under way and served`);
    }
  }

  /**
   * The provider has answered it, or ended it. Until its client has the complete answer it may count the input sent, or
   * up to its worst case.
   *
   * @param heard what it counts if the answer arrives; undefined where that is only known within bounds.
   */
  answered(call: PaidCall, heard: number | undefined): void {
    const { least, most } = this.bounds(call, heard);
    call.charge = { heard, least, most };
    for (const balance of this.balancesOf(call)) balance.committed -= most - least;
  }

  /** The call has ended for its client. @param isCertain it was complete, so that the provider's figure counts. */
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

  /** An instance is killed now: its running calls and those that have just ended are uncertain. */
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

  /** What may be spent from a budget by now; undefined if there is no such budget. */
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

  /** What an answered call may count while it is unknown whether the answer arrived. */
  private bounds({ sent, worst }: PaidCall, heard: number | undefined): { least: number; most: number } {
    return { least: Math.min(sent, heard ?? sent), most: worst };
  }

  private wholeBalancesOf({ appId, userId }: PaidCall): Balance[] {
    return [this.standing(appId, userId), this.standing(appId, '')].filter((one) => one !== undefined);
  }

  private balancesOf(call: PaidCall): Balance[] {
    const ofMinute = [call.userId, ''].flatMap((userId) => this.ofMinute(call, userId) ?? []);
    return [...this.wholeBalancesOf(call), ...ofMinute];
  }

  private ofMinute({ appId, minute }: PaidCall, userId: string): Balance | undefined {
    const whole = this.standing(appId, userId);
    if (!whole?.isOfAllMinutes || minute === undefined) return undefined;
    const name = `${appId}/${userId}/${minute}`;
    const { budget } = whole;
    const balance = this.minutes.get(name) ?? {
      ...{ window: whole.window, budget, isOfAllMinutes: false, committed: 0, possible: 0 },
      get dearest() {
        return whole.dearest;
      },
    };
    this.minutes.set(name, balance);
    return balance;
  }
}

/** @param atMs on the clock of `performance.now()`. */
function minuteOf(atMs: number): number {
  return Math.floor((performance.timeOrigin + atMs) / MINUTE_MS);
}
