/** What the price of every proof asks for, in nano-dollars for one token. */
export const INPUT_NANO_USD = 2_000;
export const OUTPUT_NANO_USD = 8_000;

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
  readonly mostTokens: number;
  readonly bodyBytes: number;
  readonly isStream: boolean;
  readonly sentAtMs: number;
  /** How the provider is to treat it; by chance when absent. */
  readonly treatment?: Treatment;
  /** The client left before the answer was whole. */
  wasLeft: boolean;
  /** On the clock of `performance.now()`; absent while it runs. */
  endedAtMs?: number;
  /** The provider had it so often. */
  seen: number;
  /** What the provider asks for, once it has answered: at least, and at most. */
  charge?: { readonly least: number; readonly most: number };
}

/** Whose budget, and how much it is. An empty user: the application. */
export interface ProvenBudget {
  readonly appId: string;
  readonly userId: string;
  readonly nanoUsd: number;
}

/** What is known of one budget. */
interface Balance {
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

  budget({ appId, userId, nanoUsd }: ProvenBudget): void {
    const balance = { budget: nanoUsd, committed: 0, possible: 0, dearest: 0 };
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

  /** The provider has answered it, or ended it. Until its client has the whole answer it may count its worst case. */
  answered(call: PaidCall, least: number): void {
    call.charge = { least, most: call.worst };
    for (const balance of this.balancesOf(call)) balance.committed -= call.worst - least;
  }

  /** Its client has an end. @param isCertain it was whole, so that the provider's figure counts. */
  ended(call: PaidCall, isCertain: boolean): void {
    call.endedAtMs = performance.now();
    if (!isCertain || call.charge === undefined) return;
    const { least, most } = call.charge;
    call.charge = { least, most: least };
    for (const balance of this.balancesOf(call)) balance.possible -= most - least;
  }

  /** What may be spent of a budget by now; undefined where there is no such budget. */
  standing(appId: string, userId: string): Readonly<Balance> | undefined {
    return this.balances.get(`${appId}/${userId}`);
  }

  budgets(): ProvenBudget[] {
    return [...this.balances].map(([name, { budget }]) => {
      const [appId = '', userId = ''] = name.split('/');
      return { appId, userId, nanoUsd: budget };
    });
  }

  get underWay(): number {
    return [...this.all.values()].filter(({ endedAtMs }) => endedAtMs === undefined).length;
  }

  private balancesOf({ appId, userId }: PaidCall): Balance[] {
    return [this.standing(appId, userId), this.standing(appId, '')].filter((one) => one !== undefined);
  }
}
