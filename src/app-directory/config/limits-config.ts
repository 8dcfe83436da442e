import { ApiSchema } from '@nestjs/swagger';
import { invalidRequest } from '../../common/errors/gateway-error.js';
import { Default, Optional, objectOf, Required } from '../../common/fields/config-fields.js';
import {
  distinct,
  integer,
  listOf,
  memberPath,
  number,
  orNull,
  refined,
  type Table,
  tableOf,
  text,
} from '../../common/fields/config-values.js';
import { RUN_BUDGET_HEADER, RUN_ID_HEADER } from '../../common/http/gateway-request.js';
import { credentialHeaders } from '../../upstreams/provider-dialect.js';
import { CARRIER_HEADERS, type ClaimPath, claimPath, headerName, PATH_OF_CLAIM } from './issuer-config.js';

/** How long a budget is for. */
export type SpendingWindow = 'day' | 'week' | 'month' | 'total';

/** What limits of tokens, and those of requests of groups, count and for how long. */
export type CountingWindow = 'minute_tokens' | 'day_tokens' | 'minute_requests' | 'day_requests';

const MICRO_USD_PER_USD = 1_000_000;
const NANO_USD_PER_USD = 1_000_000_000;
const NANO_USD_PER_MICRO_USD = 1_000;
/** The largest whole dollar amount that is exact in nano-dollars. */
export const MAX_MONTHLY_USD = Math.floor(Number.MAX_SAFE_INTEGER / NANO_USD_PER_USD);

const requestCount = orNull(integer({ min: 1 }));

/** Dollars with at most six decimals, because a finer amount would be rounded to another budget. */
const wholeMicrodollars = refined(number({ min: 0, max: MAX_MONTHLY_USD }), (usd, path) => {
  if (toMicroUsd(usd) / MICRO_USD_PER_USD !== usd) throw invalidRequest(path, 'must have at most six decimals');
  return usd;
});

const amount = orNull(wholeMicrodollars);

@ApiSchema({ name: 'AppRequestLimits' })
class RequestLimits {
  @Default(requestCount, null, { description: 'Null: unlimited.' })
  readonly per_minute: number | null;

  @Default(requestCount, null, { description: 'Per UTC day.' })
  readonly per_day: number | null;
}

/** Null or absent: unlimited. */
@ApiSchema({ name: 'AppTokenLimits' })
class TokenLimits {
  @Optional(requestCount, { description: 'Tokens of prompts and answers per clock minute, UTC.' })
  readonly per_minute?: number | null;

  @Optional(requestCount, { description: 'Per UTC day.' })
  readonly per_day?: number | null;
}

const MAX_THRESHOLDS = 10;

/** Shares of a budget, each once, ascending. */
const thresholds = refined(listOf(number({ min: 0.01, max: 1 }), { max: MAX_THRESHOLDS }), (shares, path) => {
  for (const [at, share] of shares.entries()) {
    const before = shares[at - 1];
    if (before !== undefined && share <= before)
      throw invalidRequest(memberPath(path, String(at)), 'must be larger than the one before it');
  }
  return shares;
});

/** Whole numbers of microdollars. Each budget holds by itself. */
@ApiSchema({ name: 'AppSpendingLimits' })
export class SpendingLimits {
  @Default(amount, null, { description: 'US dollars per UTC month, at most six decimals; null: unlimited.' })
  readonly monthly_usd: number | null;

  @Optional(amount, { description: 'US dollars per UTC day; absent or null: unlimited.' })
  readonly daily_usd?: number | null;

  @Optional(amount, { description: 'US dollars per week, which begins on Monday, UTC; absent or null: unlimited.' })
  readonly weekly_usd?: number | null;

  @Optional(amount, { description: 'US dollars in total, not for users; absent or null: unlimited.' })
  readonly total_usd?: number | null;

  @Optional(thresholds, {
    description:
      'Shares of each budget, ascending, at which webhooks get `budget.threshold_reached`; absent: 0.5, 0.8 and 1.',
  })
  readonly thresholds?: readonly number[];
}

/** The limits of one scope; null is unlimited. */
@ApiSchema({ name: 'AppScopeLimits' })
export class ScopeLimits {
  @Default(objectOf(RequestLimits), { per_minute: null, per_day: null })
  readonly requests: RequestLimits;

  @Default(objectOf(SpendingLimits), { monthly_usd: null })
  readonly spending: SpendingLimits;

  @Optional(objectOf(TokenLimits), { description: 'Absent: unlimited.' })
  readonly tokens?: TokenLimits;
}

/** Headers that carry credentials or belong to the service, so none of them can name a group. */
const notAGroupHeader = () => new Set([...CARRIER_HEADERS, ...credentialHeaders(), RUN_ID_HEADER, RUN_BUDGET_HEADER]);

/**
 * A kind of groups that calls belong to, such as teams or tenants, and the limits of each. A value of the header or
 * claim is one group.
 */
@ApiSchema({ name: 'AppGroupLimits' })
export class GroupLimits extends ScopeLimits {
  @Optional(headerName(notAGroupHeader), {
    description: 'The request header that names the group of a call; for backends. Returned in lower case.',
  })
  readonly header?: string;

  @Optional(claimPath, {
    description: `The claim of the identity token that names the group of a user. ${PATH_OF_CLAIM}`,
  })
  readonly claim?: ClaimPath;
}

/** The name under which usage and refusals show the pool of devices without a proof. */
export const UNPROVEN_GROUP = 'unproven';

const MAX_ALLOWED_ENDPOINTS = 100;

/** One pool for all devices of the application that proved nothing. */
@ApiSchema({ name: 'AppUnprovenLimits' })
export class UnprovenLimits extends ScopeLimits {
  @Optional(
    distinct(
      listOf(text({ pattern: /^[a-z0-9-]{1,64}$/, problem: 'must be the slug of an endpoint' }), {
        max: MAX_ALLOWED_ENDPOINTS,
      }),
      'must not name an endpoint twice',
    ),
    { description: 'The only named endpoints that they may call; absent: everything that others may call.' },
  )
  readonly allowed_endpoints?: readonly string[];
}

const MAX_GROUPS = 3;

const groups = tableOf({
  pattern: /^[a-z0-9-]{1,32}$/,
  keyProblem: 'must be the name of a group: 1 to 32 of a-z, 0-9 and -',
  value: refined(objectOf(GroupLimits), (group, path) => {
    if ((group.header === undefined) === (group.claim === undefined))
      throw invalidRequest(path, 'must have either header or claim');
    return group;
  }),
  max: MAX_GROUPS,
});

const positiveAmount = refined(wholeMicrodollars, (usd, path) => {
  if (usd === 0) throw invalidRequest(path, 'must be more than 0');
  return usd;
});

/** Calls that a backend gives a budget of their own, such as those of one agent. */
@ApiSchema({ name: 'AppRunLimits' })
class RunLimits {
  @Required(positiveAmount, {
    description: 'The maximum of `X-Run-Budget-Usd`, and the budget of a run without it; US dollars.',
  })
  readonly max_usd: number;
}

export const UNLIMITED: ScopeLimits = {
  requests: { per_minute: null, per_day: null },
  spending: { monthly_usd: null },
};

/**
 * Limits of each user and of the whole application; an absent limit is unlimited.
 *
 * Source: docs/reference/management-api.md#limits-configuration,
 * docs/reference/management-api.md#application-configuration.
 */
@ApiSchema({ name: 'AppLimits' })
export class Limits {
  @Default(objectOf(ScopeLimits), UNLIMITED, {
    description: 'Only where callers have a user identity.',
    check: requireNoTotal,
  })
  readonly per_user: ScopeLimits;

  @Default(objectOf(ScopeLimits), UNLIMITED)
  readonly per_app: ScopeLimits;

  @Optional(groups, {
    description: 'By name, at most three, checked in this order; usage is counted from when they are set.',
  })
  readonly groups?: Table<GroupLimits>;

  @Optional(objectOf(RunLimits), { description: 'Absent: `X-Run-Id` is refused.' })
  readonly runs?: RunLimits;

  @Optional(objectOf(UnprovenLimits), {
    description:
      'Of all devices together whose failed proof has `mode: tier`. Usage shows them as the group `unproven`, of the value `all`.',
  })
  readonly unproven?: UnprovenLimits;
}

/** Whether the scope limits anything; a budget of zero dollars counts. */
export function isLimited(limits: ScopeLimits): boolean {
  return countedLimits('requests', limits.requests).length > 0 || heldLimitsOf(limits).length > 0;
}

/** The limits of a count that are set, the longer window first. */
export function countedLimits(
  measure: 'tokens' | 'requests',
  { per_day, per_minute }: Partial<RequestLimits> = {},
): readonly { readonly window: CountingWindow; readonly limit: number }[] {
  const day = per_day == null ? [] : [{ window: `day_${measure}`, limit: per_day } as const];
  return per_minute == null ? day : [...day, { window: `minute_${measure}`, limit: per_minute }];
}

/** The configured budgets, those without an end first, then by the length of their window, the longest first. */
export function budgetsOf(
  spending: SpendingLimits,
): readonly { readonly window: SpendingWindow; readonly usd: number }[] {
  return WINDOWS.flatMap(({ window, member }) => {
    const usd = spending[member] ?? null;
    return usd === null ? [] : [{ window, usd }];
  });
}

/** The configured budgets, then the limits of tokens; amounts are whole nano-dollars and tokens. */
export function heldLimitsOf({
  spending,
  tokens,
}: ScopeLimits): readonly { readonly window: SpendingWindow | CountingWindow; readonly limit: number }[] {
  const budgets = budgetsOf(spending).map(({ window, usd }) => ({ window, limit: toNanoUsd(usd) }));
  return [...budgets, ...countedLimits('tokens', tokens)];
}

const WINDOWS = [
  { window: 'total', member: 'total_usd' },
  { window: 'month', member: 'monthly_usd' },
  { window: 'week', member: 'weekly_usd' },
  { window: 'day', member: 'daily_usd' },
] as const;

function requireNoTotal({ spending }: ScopeLimits, _siblings: object, path: string): void {
  if (spending.total_usd === undefined || spending.total_usd === null) return;
  const at = memberPath(memberPath(path, 'spending'), 'total_usd');
  throw invalidRequest(at, 'is not for users: set daily_usd, weekly_usd or monthly_usd');
}

/** A configured amount in whole nano-dollars (1e-9 USD). */
export function toNanoUsd(usd: number): number {
  return toMicroUsd(usd) * NANO_USD_PER_MICRO_USD;
}

/** An amount of whole nano-dollars in US dollars. */
export function nanoUsdInUsd(nanoUsd: number): number {
  return nanoUsd / NANO_USD_PER_USD;
}

/** A configured amount in whole microdollars (1e-6 USD). */
export function toMicroUsd(usd: number): number {
  return Math.round(usd * MICRO_USD_PER_USD);
}
