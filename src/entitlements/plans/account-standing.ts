import type { AccountTerms } from './plan.js';
import type { PlanPeriod } from './plan-period.rules.js';

/** What an account has used of its period. */
export interface PeriodUse {
  readonly period: PlanPeriod;
  readonly used: number;
}

/** How an account stands with the operator, for people who look. */
export type AccountStanding =
  | { readonly state: 'self_hosted' }
  | { readonly state: 'unavailable' }
  | {
      readonly state: 'billed';
      readonly terms: AccountTerms;
      /** Null without a plan that is in force: then nothing may be used. */
      readonly use: PeriodUse | null;
      /** The newest version of the terms cannot be read; these are the ones before. */
      readonly isStale: boolean;
    };
