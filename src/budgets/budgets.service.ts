import { Injectable } from '@nestjs/common';
import type { Ready } from '../common/when-ready.js';
import type { BudgetHold, BudgetScope } from './budget-hold.js';

/** Hard budgets of applications and their users, by UTC month. */
@Injectable()
export class Budgets {
  /**
   * Holds the worst case of a call, or refuses it.
   *
   * @param worstNanoUsd what the call may cost at most, in whole nano-dollars.
   * @param createdAtMs decides the UTC month, as it does for the call's event.
   * @returns at once where this instance has been granted enough.
   * @throws app_budget_exhausted, service_unavailable (the budget cannot be asked for now).
   * Source: decision 4.3; contract-app 8.1, 8.2.
   */
  hold(scope: BudgetScope, worstNanoUsd: number, createdAtMs: number): Ready<BudgetHold> {
    void createdAtMs;
    return { scope, nanoUsd: worstNanoUsd, release() {}, settle: () => 0, stored() {}, dropped() {} };
  }
}
