import { instantOf } from '../common/clock.js';
import { GatewayError } from '../common/errors/gateway-error.js';
import { type BudgetMonth, heldRetrySeconds, secondsToMonthEnd } from './budget.rules.js';
import type { BudgetScope } from './budget-hold.js';

const AWAY_RETRY_SECONDS = 1;

/** The budget is spent. Source: contract-app 8.2. */
export function budgetSpent({ userId }: BudgetScope, month: BudgetMonth, nowMs: number): GatewayError {
  const scope = scopeOf(userId);
  return new GatewayError('app_budget_exhausted', {
    message: `The monthly budget of ${NAMES[scope]} is used up. The next month begins at ${instantOf(month.endMs).toISOString()}.`,
    reason: `${scope}_budget_spent`,
    data: { scope },
    retryAfterSeconds: secondsToMonthEnd(month, nowMs),
  });
}

/** What is left of it is held by requests that run. @param heldMs since when. Source: decision 4.3. */
export function budgetHeld({ userId }: BudgetScope, heldMs: number): GatewayError {
  const scope = scopeOf(userId);
  const retryAfterSeconds = heldRetrySeconds(heldMs);
  return new GatewayError('app_budget_exhausted', {
    message:
      `What is left of the monthly budget of ${NAMES[scope]} is held for requests that are still running. ` +
      `Try again in ${retryAfterSeconds} s.`,
    reason: `${scope}_budget_held`,
    data: { scope },
    retryAfterSeconds,
  });
}

/** What is left of it cannot be asked for now. Source: threats 10.3. */
export function budgetUnknown(reason: string, cause?: unknown): GatewayError {
  return new GatewayError('service_unavailable', { reason, cause, retryAfterSeconds: AWAY_RETRY_SECONDS });
}

const NAMES = { user: 'this user', app: 'the application' } as const;

function scopeOf(userId: string | null): keyof typeof NAMES {
  return userId === null ? 'app' : 'user';
}
