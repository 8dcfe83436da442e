import type { ClaimPath } from './config/issuer-config.js';
import type { CountingWindow, Limits, ScopeLimits, SpendingWindow, UnprovenLimits } from './config/limits-config.js';
import { countedLimits, heldLimitsOf, isLimited, toNanoUsd } from './config/limits-config.js';

/** The request limits of one scope; null is unlimited. */
interface RequestAllowance {
  /** Per calendar minute (UTC). */
  readonly perMinute: number | null;
  /** Per UTC day. */
  readonly perDay: number | null;
}

/** Budget of one window. */
export interface AppBudget {
  readonly window: SpendingWindow | CountingWindow;
  /** Whole nano-dollars, tokens or requests; 0 refuses every call. */
  readonly limit: number;
}

/** The limits of one scope, in the form that enforcement uses. */
interface AppScopeLimits {
  /** Undefined: requests are unlimited. */
  readonly requests: RequestAllowance | undefined;
  /** The longest window first: a call that exhausts several is refused for the one that ends last. */
  readonly budgets: readonly AppBudget[];
}

/** The groups of one kind, and the limits of each. */
export interface AppGroup {
  readonly name: string;
  /** The header that names the group of a call, in lower case; undefined where a claim does. */
  readonly header: string | undefined;
  /** Undefined where a header does. */
  readonly claim: ClaimPath | undefined;
  /** As those of {@link AppScopeLimits}, limits of requests included. */
  readonly budgets: readonly AppBudget[];
}

/** The limits of an application; an undefined scope is unlimited. */
export interface AppLimits {
  /** Per user. */
  readonly user: AppScopeLimits | undefined;
  /** For the whole application. */
  readonly app: AppScopeLimits | undefined;
  /** In the order in which they are checked. */
  readonly groups: readonly AppGroup[];
  /** The largest budget of a run, in whole nano-dollars; undefined: no runs. */
  readonly runMaxNanoUsd: number | undefined;
  /** Of all devices together that proved nothing; undefined: those of all callers. */
  readonly unproven: UnprovenPool | undefined;
}

/** The limits of devices whose proof failed; all budgets have one subject. */
interface UnprovenPool {
  readonly budgets: readonly AppBudget[];
  /** Slugs of the only named endpoints that they may call; undefined: everything that others may call. */
  readonly endpoints: ReadonlySet<string> | undefined;
}

/**
 * The configured limits, precomputed for the hot path.
 *
 * @returns undefined when nothing is limited.
 * Source: docs/reference/application-api.md#request-limits, docs/reference/accounting.md#money-and-time.
 */
export function appLimits({ per_user, per_app, groups = {}, runs, unproven }: Limits): AppLimits | undefined {
  const limits: AppLimits = {
    user: scopeLimits(per_user),
    app: scopeLimits(per_app),
    groups: Object.freeze(Object.entries(groups).map(([name, group]) => Object.freeze({ name, ...groupOf(group) }))),
    runMaxNanoUsd: runs && toNanoUsd(runs.max_usd),
    unproven: unproven && Object.freeze({ budgets: budgetsOfGroup(unproven), endpoints: endpointsOf(unproven) }),
  };
  const isUnlimited = limits.user === undefined && limits.app === undefined && limits.groups.length === 0;
  return isUnlimited && runs === undefined && unproven === undefined ? undefined : Object.freeze(limits);
}

function groupOf(group: NonNullable<Limits['groups']>[string]): Omit<AppGroup, 'name'> {
  const { header, claim } = group;
  return { header, claim, budgets: budgetsOfGroup(group) };
}

function budgetsOfGroup(limits: ScopeLimits): readonly AppBudget[] {
  return frozen([...heldLimitsOf(limits), ...countedLimits('requests', limits.requests)]);
}

function endpointsOf({ allowed_endpoints }: UnprovenLimits): ReadonlySet<string> | undefined {
  return allowed_endpoints && new Set(allowed_endpoints);
}

function scopeLimits(limits: ScopeLimits): AppScopeLimits | undefined {
  if (!isLimited(limits)) return undefined;
  const { per_minute: perMinute, per_day: perDay } = limits.requests;
  return Object.freeze({
    requests: perMinute === null && perDay === null ? undefined : Object.freeze({ perMinute, perDay }),
    budgets: frozen(heldLimitsOf(limits)),
  });
}

function frozen(budgets: readonly AppBudget[]): readonly AppBudget[] {
  return Object.freeze(budgets.map((budget) => Object.freeze(budget)));
}
