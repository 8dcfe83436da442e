import { instantOf } from '../common/clock.js';
import { GatewayError } from '../common/errors/gateway-error.js';
import type { UnavailableReason } from '../common/errors/unavailable-reasons.js';
import { type BudgetMonth, heldRetrySeconds, secondsToMonthEnd } from './budget.rules.js';
import type { BudgetScope } from './budget-hold.js';

const AWAY_RETRY_SECONDS = 1;
const NANO_USD_PER_USD = 1_000_000_000;
/** Decimals in messages; `data` has the exact numbers. */
const SHOWN_DECIMALS = 6;

/** Budget figures of a refusal, in whole nano-dollars. */
export interface BudgetStanding {
  readonly month: BudgetMonth;
  readonly spent: number;
  /** The estimated part of `spent`, for calls of unknown usage. */
  readonly estimated: number;
  /** Not finite when the spending was never read: a budget of 0 refuses at once. */
  readonly spentKnownAtMs: number;
}

/** The budget is exhausted. Source: docs/reference/application-api.md#limit-refusals, ADR 0042. */
export function budgetSpent({ userId }: BudgetScope, standing: BudgetStanding, nowMs: number): GatewayError {
  const scope = scopeOf(userId);
  const { month } = standing;
  return new GatewayError('app_budget_exhausted', {
    message:
      `The monthly budget of ${NAMES[scope]} is used up${inWords(standing)}. ` +
      `The next month begins at ${instantOf(month.endMs).toISOString()}.`,
    reason: `${scope}_budget_spent`,
    data: { scope, ...figuresOf(standing) },
    retryAfterSeconds: secondsToMonthEnd(month, nowMs),
  });
}

/**
 * The rest of the budget is held by running calls. @param heldMs since when calls have been refused for it.
 *
 * Source: docs/reference/accounting.md#hard-budgets, ADR 0042.
 */
export function budgetHeld({ userId }: BudgetScope, standing: BudgetStanding, heldMs: number): GatewayError {
  const scope = scopeOf(userId);
  const retryAfterSeconds = heldRetrySeconds(heldMs);
  return new GatewayError('app_budget_exhausted', {
    message:
      `What is left of the monthly budget of ${NAMES[scope]} is held for requests that are still running` +
      `${inWords(standing)}. Try again in ${retryAfterSeconds} s.`,
    reason: `${scope}_budget_held`,
    data: { scope, ...figuresOf(standing) },
    retryAfterSeconds,
  });
}

/** The rest of the budget is unknown. Source: docs/reference/security.md#dependency-failures. */
export function budgetUnknown(reason: UnavailableReason, cause?: unknown): GatewayError {
  return new GatewayError('service_unavailable', { reason, cause, retryAfterSeconds: AWAY_RETRY_SECONDS });
}

const NAMES = { user: 'this user', app: 'the application' } as const;

function scopeOf(userId: string | null): keyof typeof NAMES {
  return userId === null ? 'app' : 'user';
}

/** Empty when the spending was never read. */
function figuresOf(standing: BudgetStanding): Readonly<Record<string, number>> {
  const { spent, estimated, spentKnownAtMs } = standing;
  if (!Number.isFinite(spentKnownAtMs)) return {};
  return { cost_usd: (spent - estimated) / NANO_USD_PER_USD, estimated_cost_usd: estimated / NANO_USD_PER_USD };
}

function inWords({ spent, estimated, spentKnownAtMs }: BudgetStanding): string {
  if (!Number.isFinite(spentKnownAtMs)) return '';
  return `: ${usd(spent - estimated)} USD spent, ${usd(estimated)} USD estimated for calls of unknown usage`;
}

function usd(nanoUsd: number): string {
  return String(Number((nanoUsd / NANO_USD_PER_USD).toFixed(SHOWN_DECIMALS)));
}
