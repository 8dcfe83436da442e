/** What a plan may limit the number of. */
export type LimitedResource = 'apps' | 'providers' | 'provider_gateways' | 'active_keys_per_app';

/** Ceilings of a plan; an absent one does not exist. */
export interface PlanLimits {
  /** Calls to providers in one period of the account, which is a month long. */
  readonly maxRequestsPerMonth?: number;
  readonly maxApps?: number;
  readonly maxProviders?: number;
  readonly maxProviderGateways?: number;
  readonly maxActiveKeysPerApp?: number;
}

/** What an operator sells. */
export interface Plan {
  readonly key: string;
  readonly name: string;
  readonly description: string;
  /** Texts for people. */
  readonly features: readonly string[];
  readonly limits: PlanLimits;
}

/** How an account stands with the operator. */
export type SubscriptionStatus = 'active' | 'past_due' | 'cancelled';

/** What was agreed with one account. */
export interface AccountTerms {
  /** Null: it has none, not even the default one. */
  readonly plan: Plan | null;
  /** Nothing was agreed with this account: it has what everybody has. */
  readonly isDefault: boolean;
  readonly status: SubscriptionStatus;
  /** Day of the month, UTC, on which its periods begin: 1 to 28. */
  readonly periodAnchorDay: number;
  /** From then on it has no plan; milliseconds since the Unix epoch. Null: there is no end. */
  readonly endsAtMs: number | null;
}

/** All plans, and which account has which. */
export interface PlanBook {
  readonly plans: ReadonlyMap<string, Plan>;
  /** Of accounts that are not listed. */
  readonly forOthers: AccountTerms;
  readonly accounts: ReadonlyMap<string, AccountTerms>;
}
