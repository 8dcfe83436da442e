import { instantOf } from '../common/clock.js';
import { GatewayError } from '../common/errors/gateway-error.js';
import type { Reason } from '../common/errors/reasons.js';
import { heldRetrySeconds, secondsToPeriodEnd } from './budget.rules.js';
import type { BudgetScope, CallBudget } from './budget-hold.js';
import { type BudgetMeasure, type BudgetPeriod, type BudgetWindow, WINDOW_KINDS } from './budget-period.rules.js';

const AWAY_RETRY_SECONDS = 1;
const NANO_USD_PER_USD = 1_000_000_000;
/** Decimals in messages; `data` has the exact numbers. */
const SHOWN_DECIMALS = 6;

/** Budget figures of a refusal, in units of its measure. */
export interface BudgetStanding {
  readonly period: BudgetPeriod;
  readonly spent: number;
  /** The estimated part of `spent`, for calls of unknown usage. */
  readonly estimated: number;
  /** Not finite when the spending was never read: a budget of 0 refuses at once. */
  readonly spentKnownAtMs: number;
}

/** The budget is used up. Source: docs/reference/application-api.md#limit-refusals, ADR 0007. */
export function budgetSpent(budget: CallBudget, standing: BudgetStanding, nowMs: number): GatewayError {
  const { period } = standing;
  if (measureOf(budget) !== 'money') return countReached(budget, period, nowMs);
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
  if (measureOf(budget) !== 'money') return countHeld(budget, retryAfterSeconds);
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

function measureOf({ window }: CallBudget): BudgetMeasure {
  return WINDOW_KINDS[window].measure;
}

/** A limit of tokens or requests is reached, as other request limits. */
function countReached(budget: CallBudget, period: BudgetPeriod, nowMs: number): GatewayError {
  const retryAfterSeconds = secondsToPeriodEnd(period, nowMs);
  return new GatewayError('app_rate_limited', {
    message: `The limit of ${countOf(budget)} is reached; try again in ${retryAfterSeconds} s.`,
    reason: countReasons(budget)[isOfMinute(budget) ? 'minute' : 'day'],
    data: countedBy(budget),
    retryAfterSeconds,
  });
}

/** The rest of a limit of tokens or requests is held by running calls. */
function countHeld(budget: CallBudget, retryAfterSeconds: number): GatewayError {
  return new GatewayError('app_rate_limited', {
    message:
      `What is left of the limit of ${countOf(budget)} is held for requests that are still running. ` +
      `Try again in ${retryAfterSeconds} s.`,
    reason: countReasons(budget).held,
    data: countedBy(budget),
    retryAfterSeconds,
  });
}

const TOKEN_REASONS = {
  user: { minute: 'user_minute_token_limit_reached', day: 'user_day_token_limit_reached', held: 'user_tokens_held' },
  group: {
    minute: 'group_minute_token_limit_reached',
    day: 'group_day_token_limit_reached',
    held: 'group_tokens_held',
  },
  app: { minute: 'app_minute_token_limit_reached', day: 'app_day_token_limit_reached', held: 'app_tokens_held' },
} as const;
/** Requests of users and applications have counters of their own. */
const REQUEST_REASONS = {
  minute: 'group_minute_limit_reached',
  day: 'group_day_limit_reached',
  held: 'group_requests_held',
} as const;

function countReasons(budget: CallBudget) {
  if (measureOf(budget) === 'requests') return REQUEST_REASONS;
  const { scope } = budget;
  return TOKEN_REASONS[scope === 'user' || scope === 'group' ? scope : 'app'];
}

function isOfMinute({ window }: CallBudget): boolean {
  return WINDOW_KINDS[window].span === 'minute';
}

function countOf(budget: CallBudget): string {
  const per = isOfMinute(budget) ? 'per minute' : 'per UTC day';
  const unit = measureOf(budget) === 'tokens' ? 'token' : 'request';
  const plural = budget.limit === 1 ? '' : 's';
  return `${budget.limit} ${unit}${plural} ${per} for ${ownerOf(budget)}`;
}

function countedBy(budget: CallBudget): Readonly<Record<string, string>> {
  const window = isOfMinute(budget) ? 'minute' : 'day';
  return { ...namedBy(budget), window, limit: measureOf(budget) };
}

const OWNERS: Readonly<Record<BudgetScope, string>> = {
  user: 'this user',
  group: 'the group',
  run: 'this run',
  app: 'the application',
};

const WINDOWS: Readonly<Partial<Record<BudgetWindow, string>>> = {
  day: 'daily budget',
  week: 'weekly budget',
  month: 'monthly budget',
  total: 'total budget',
};

function nameOf(budget: CallBudget): string {
  return `${WINDOWS[budget.window] ?? 'budget'} of ${ownerOf(budget)}`;
}

function ownerOf({ scope, subject }: CallBudget): string {
  return scope === 'group' ? `${OWNERS.group} "${groupOf(subject)}"` : OWNERS[scope];
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
