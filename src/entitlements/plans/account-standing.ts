import type { AccountTerms } from './plan.js';
import type { PlanPeriod } from './plan-period.rules.js';

/** Usage of an account in its period. */
export interface PeriodUse {
  readonly period: PlanPeriod;
  readonly used: number;
}

/** Plan and usage of an account, for display. */
export type AccountStanding =
  | { readonly state: 'self_hosted' }
  | { readonly state: 'unavailable' }
  | {
      readonly state: 'billed';
      readonly terms: AccountTerms;
      /** Null without a plan in force: then nothing may be used. */
      readonly use: PeriodUse | null;
      /** The newest plans file is invalid; the terms are from the last valid version. */
      readonly isStale: boolean;
    };
