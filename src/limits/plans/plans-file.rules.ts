import { epochMsOf } from '../../common/clock.js';
import { invalidRequest } from '../../common/errors/gateway-error.js';
import { Default, Optional, objectOf, Required } from '../../common/fields/config-fields.js';
import {
  integer,
  listOf,
  memberPath,
  oneOf,
  orNull,
  type Read,
  type Table,
  tableOf,
  text,
} from '../../common/fields/config-values.js';
import { parseStrictJson } from '../../common/http/strict-json.rules.js';
import type { Plan, PlanBook } from './plan.js';

const MAX_ACCOUNTS = 100_000;
const MAX_NAME_CHARACTERS = 100;
const MAX_DESCRIPTION_CHARACTERS = 1_000;
const MAX_FEATURES = 50;
/** The last day that every month has. */
const LAST_ANCHOR_DAY = 28;
const FIRST_OF_MONTH = 1;
const STATUSES = ['active', 'past_due', 'cancelled'] as const;
const INSTANT = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,3})?)?Z$/;
const INSTANT_PROBLEM = 'must be an instant such as 2027-01-31T00:00:00Z';

const planKey = text({ max: 64, pattern: /^[a-z0-9][a-z0-9_-]*$/, problem: 'must be the key of a plan' });

const PLAN_KEY = /^[a-z0-9][a-z0-9_-]{0,63}$/;
const PLAN_KEY_PROBLEM = 'must be lower-case letters, digits, "-" and "_"';

const count = integer({ min: 0 });

const instant: Read<number> = (value, path) => {
  const instantMs = epochMsOf(text({ pattern: INSTANT, problem: INSTANT_PROBLEM })(value, path));
  if (Number.isNaN(instantMs)) throw invalidRequest(path, INSTANT_PROBLEM);
  return instantMs;
};

class FileLimits {
  @Optional(count)
  readonly max_requests_per_month?: number;

  @Optional(count)
  readonly max_apps?: number;

  @Optional(count)
  readonly max_providers?: number;

  @Optional(count)
  readonly max_provider_gateways?: number;

  @Optional(count)
  readonly max_active_keys_per_app?: number;
}

class FilePlan {
  @Required(text({ max: MAX_NAME_CHARACTERS }))
  readonly name: string;

  @Default(text({ min: 0, max: MAX_DESCRIPTION_CHARACTERS }), '')
  readonly description: string;

  @Default(listOf(text({ max: MAX_NAME_CHARACTERS }), { max: MAX_FEATURES }), [])
  readonly features: readonly string[];

  @Required(objectOf(FileLimits))
  readonly limits: FileLimits;
}

class FileAccount {
  @Required(orNull(planKey))
  readonly plan: string | null;

  @Default(oneOf(STATUSES), 'active')
  readonly status: (typeof STATUSES)[number];

  @Default(integer({ min: FIRST_OF_MONTH, max: LAST_ANCHOR_DAY }), FIRST_OF_MONTH)
  readonly period_anchor_day: number;

  @Default(orNull(instant), null)
  readonly ends_at: number | null;
}

class PlansFile {
  @Required(tableOf({ pattern: PLAN_KEY, keyProblem: PLAN_KEY_PROBLEM, value: objectOf(FilePlan) }))
  readonly plans: Table<FilePlan>;

  @Default(orNull(planKey), null, { check: requireKnownPlan })
  readonly default_plan: string | null;

  @Default(
    tableOf({
      pattern: /^[\w.:-]{1,200}$/,
      keyProblem: 'must be the id of an account',
      value: objectOf(FileAccount),
      max: MAX_ACCOUNTS,
    }),
    {},
    { check: requireKnownPlans },
  )
  readonly accounts: Table<FileAccount>;
}

/**
 * Parses the plans file.
 *
 * @returns plans and terms; accounts that are not listed have the default plan.
 * @throws invalid_request naming the path of the first error, starting with `file`; unknown members are errors.
 * Source: docs/reference/accounting.md#account-plans.
 */
export function parsePlans(bytes: Buffer): PlanBook {
  const file = objectOf(PlansFile)(parseStrictJson(bytes, 'file'), 'file');
  const plans = new Map(Object.entries(file.plans).map(([key, plan]) => [key, planOf(key, plan)]));
  const named = (key: string | null) => (key === null ? null : (plans.get(key) ?? null));
  return {
    plans,
    forOthers: {
      plan: named(file.default_plan),
      isDefault: true,
      status: 'active',
      periodAnchorDay: FIRST_OF_MONTH,
      endsAtMs: null,
    },
    accounts: new Map(
      Object.entries(file.accounts).map(([id, { plan, status, period_anchor_day, ends_at }]) => [
        id,
        { plan: named(plan), isDefault: false, status, periodAnchorDay: period_anchor_day, endsAtMs: ends_at },
      ]),
    ),
  };
}

function planOf(key: string, { limits, ...plan }: FilePlan): Plan {
  return {
    key,
    ...plan,
    limits: {
      maxRequestsPerMonth: limits.max_requests_per_month,
      maxApps: limits.max_apps,
      maxProviders: limits.max_providers,
      maxProviderGateways: limits.max_provider_gateways,
      maxActiveKeysPerApp: limits.max_active_keys_per_app,
    },
  };
}

function requireKnownPlan(key: string | null, { plans }: Pick<PlansFile, 'plans'>, path: string): void {
  if (key !== null && plans[key] === undefined) throw invalidRequest(path, 'is not a plan of this file');
}

function requireKnownPlans(accounts: Table<FileAccount>, file: Pick<PlansFile, 'plans'>, path: string): void {
  for (const [id, { plan }] of Object.entries(accounts)) {
    requireKnownPlan(plan, file, `${memberPath(path, id)}.plan`);
  }
}
