import type { Plan, PlanLimits } from '../plans/plan.js';

interface OfferedPlan {
  readonly planKey: string;
  readonly name: string;
  readonly description: string;
  readonly features: readonly string[];
  readonly limits: PlanLimits;
  readonly trialDays: number;
  readonly prices: readonly never[];
}

/**
 * The plans in the plans file, which contains no prices. Not in the published OpenAPI document.
 *
 * Source: docs/reference/management-api.md#plan-routes.
 */
export class BillingPlansResponse {
  plans: readonly OfferedPlan[];

  static from(plans: readonly Plan[]): BillingPlansResponse {
    const offered = plans.map(({ key, name, description, features, limits }) => {
      return { planKey: key, name, description, features, limits, trialDays: 0, prices: [] };
    });
    return Object.assign(new BillingPlansResponse(), { plans: offered });
  }
}
