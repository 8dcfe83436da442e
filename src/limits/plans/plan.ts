import type { PlanPeriod } from './plan-period.rules.js';

/** Resources with a ceiling in plans. */
export type LimitedResource = 'apps' | 'providers' | 'provider_gateways' | 'active_keys_per_app';

/** Limits of a plan; an absent one means unlimited. */
export interface PlanLimits {
  /** Provider calls per period of the account, which is one month. */
  readonly maxRequestsPerMonth?: number;
  readonly maxApps?: number;
  readonly maxProviders?: number;
  readonly maxProviderGateways?: number;
  readonly maxActiveKeysPerApp?: number;
}

/** A plan of the operator. */
export interface Plan {
  readonly key: string;
  readonly name: string;
  readonly description: string;
  /** Display texts. */
  readonly features: readonly string[];
  readonly limits: PlanLimits;
}

/** State of an account's subscription. */
export type SubscriptionStatus = 'active' | 'past_due' | 'cancelled';

/** The terms of one account. */
export interface AccountTerms {
  /** Null: no plan, not even the default one. */
  readonly plan: Plan | null;
  /** The account is not listed in the plans file and has the default terms. */
  readonly isDefault: boolean;
  readonly status: SubscriptionStatus;
  /** Day of the month, UTC, on which its periods begin: 1 to 28. */
  readonly periodAnchorDay: number;
  /** End of the plan, milliseconds since the Unix epoch; null: no end. */
  readonly endsAtMs: number | null;
}

/** All plans, and the terms of each account. */
export interface PlanBook {
  readonly plans: ReadonlyMap<string, Plan>;
  /** Default terms of accounts that are not listed. */
  readonly forOthers: AccountTerms;
  readonly accounts: ReadonlyMap<string, AccountTerms>;
}

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
