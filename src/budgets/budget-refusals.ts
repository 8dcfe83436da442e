import { instantOf } from '../common/clock.js';
import { GatewayError } from '../common/errors/gateway-error.js';
import type { Reason } from '../common/errors/reasons.js';
import { heldRetrySeconds, secondsToPeriodEnd } from './budget.rules.js';
import type { BudgetScope, CallBudget } from './budget-hold.js';
import type { BudgetPeriod, BudgetWindow } from './budget-period.rules.js';

const AWAY_RETRY_SECONDS = 1;
const NANO_USD_PER_USD = 1_000_000_000;
/** Decimals in messages; `data` has the exact numbers. */
const SHOWN_DECIMALS = 6;

/** Budget figures of a refusal, in whole nano-dollars. */
export interface BudgetStanding {
  readonly period: BudgetPeriod;
  readonly spent: number;
  /** The estimated part of `spent`, for calls of unknown usage. */
  readonly estimated: number;
  /** Not finite when the spending was never read: a budget of 0 refuses at once. */
  readonly spentKnownAtMs: number;
}

/** The budget is exhausted. Source: docs/reference/application-api.md#limit-refusals, ADR 0007. */
export function budgetSpent(budget: CallBudget, standing: BudgetStanding, nowMs: number): GatewayError {
  const { period } = standing;
  return new GatewayError('app_budget_exhausted', {
    message: `The ${nameOf(budget)} is used up${inWords(standing)}.${nextOf(period)}`,
    reason: `${budget.scope}_budget_spent`,
    data: { ...namedBy(budget), ...figuresOf(standing) },
    retryAfterSeconds: secondsToPeriodEnd(period, nowMs),
  });
}

/**
 * The rest of the budget is held by running calls. @param heldMs since when calls have been refused for it.
 *
 * Source: docs/reference/accounting.md#hard-budgets, ADR 0007.
 */
export function budgetHeld(budget: CallBudget, standing: BudgetStanding, heldMs: number): GatewayError {
  const retryAfterSeconds = heldRetrySeconds(heldMs);
  return new GatewayError('app_budget_exhausted', {
    message:
      `What is left of the ${nameOf(budget)} is held for requests that are still running` +
      `${inWords(standing)}. Try again in ${retryAfterSeconds} s.`,
    reason: `${budget.scope}_budget_held`,
    data: { ...namedBy(budget), ...figuresOf(standing) },
    retryAfterSeconds,
  });
}

/** The rest of the budget is unknown. Source: docs/reference/security.md#dependency-failures. */
export function budgetUnknown(reason: Reason, cause?: unknown): GatewayError {
  return new GatewayError('service_unavailable', { reason, cause, retryAfterSeconds: AWAY_RETRY_SECONDS });
}

const OWNERS: Readonly<Record<BudgetScope, string>> = {
  user: 'this user',
  group: 'the group',
  run: 'this run',
  app: 'the application',
};

const WINDOWS: Readonly<Record<BudgetWindow, string>> = {
  day: 'daily budget',
  week: 'weekly budget',
  month: 'monthly budget',
  total: 'total budget',
  run: 'budget',
};

function nameOf({ scope, subject, window }: CallBudget): string {
  const owner = scope === 'group' ? `${OWNERS.group} "${groupOf(subject)}"` : OWNERS[scope];
  return `${WINDOWS[window]} of ${owner}`;
}

function nextOf({ window, endMs }: BudgetPeriod): string {
  return Number.isFinite(endMs) ? ` The next ${window} begins at ${instantOf(endMs).toISOString()}.` : '';
}

function namedBy({ scope, subject, window }: CallBudget): Readonly<Record<string, string>> {
  return scope === 'group' ? { scope, window, group: groupOf(subject) } : { scope, window };
}

/** The name of the group; its value follows a colon. */
function groupOf(subject: string): string {
  return subject.slice(0, subject.indexOf(':'));
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
