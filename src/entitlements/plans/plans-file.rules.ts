import { epochMsOf } from '../../common/clock.js';
import { invalidRequest } from '../../common/errors/gateway-error.js';
import {
  integer,
  listOf,
  oneOf,
  openObject,
  orNull,
  type Read,
  tableOf,
  text,
} from '../../common/fields/config-reader.js';
import { parseStrictJson } from '../../common/http/strict-json.rules.js';
import type { AccountTerms, Plan, PlanBook, PlanLimits } from './plan.js';

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

const LIMITS = {
  max_requests_per_month: 'maxRequestsPerMonth',
  max_apps: 'maxApps',
  max_providers: 'maxProviders',
  max_provider_gateways: 'maxProviderGateways',
  max_active_keys_per_app: 'maxActiveKeysPerApp',
} as const satisfies Readonly<Record<string, keyof PlanLimits>>;

const readLimits: Read<PlanLimits> = (value, path) => {
  const sent = openObject(value, path, Object.keys(LIMITS));
  const limits: { -readonly [Name in keyof PlanLimits]: PlanLimits[Name] } = {};
  for (const [member, name] of Object.entries(LIMITS)) {
    if (sent.raw(member) !== undefined) limits[name] = sent.required(member, integer({ min: 0 }));
  }
  return limits;
};

const readPlan: Read<Omit<Plan, 'key'>> = (value, path) => {
  const plan = openObject(value, path, ['name', 'description', 'features', 'limits']);
  return {
    name: plan.required('name', text({ max: MAX_NAME_CHARACTERS })),
    description: plan.withDefault('description', text({ min: 0, max: MAX_DESCRIPTION_CHARACTERS }), ''),
    features: plan.withDefault('features', listOf(text({ max: MAX_NAME_CHARACTERS }), { max: MAX_FEATURES }), []),
    limits: plan.required('limits', readLimits),
  };
};

/**
 * Parses the plans file.
 *
 * @returns plans and terms; accounts that are not listed have the default plan.
 * @throws invalid_request naming the path of the first error, starting with `file`; unknown members are errors.
 * Source: docs/reference/accounting.md#account-plans.
 */
export function parsePlans(bytes: Buffer): PlanBook {
  const file = openObject(parseStrictJson(bytes, 'file'), 'file', ['default_plan', 'plans', 'accounts']);
  const plans = file.required('plans', readPlans);
  const knownPlan: Read<Plan> = (value, path) => {
    const plan = plans.get(planKey(value, path));
    if (plan === undefined) throw invalidRequest(path, 'is no plan of this file');
    return plan;
  };
  const defaultPlan = file.withDefault('default_plan', orNull(knownPlan), null);
  return {
    plans,
    forOthers: {
      plan: defaultPlan,
      isDefault: true,
      status: 'active',
      periodAnchorDay: FIRST_OF_MONTH,
      endsAtMs: null,
    },
    accounts: file.withDefault('accounts', accountsReader(knownPlan), new Map()),
  };
}

function readPlans(value: unknown, path: string): ReadonlyMap<string, Plan> {
  const table = tableOf({
    pattern: /^[a-z0-9][a-z0-9_-]{0,63}$/,
    keyProblem: 'must be lower-case letters, digits, "-" and "_"',
    value: readPlan,
  });
  return new Map(Object.entries(table(value, path)).map(([key, plan]) => [key, { key, ...plan }]));
}

function accountsReader(knownPlan: Read<Plan>): Read<ReadonlyMap<string, AccountTerms>> {
  const readTerms: Read<AccountTerms> = (value, path) => {
    const account = openObject(value, path, ['plan', 'period_anchor_day', 'status', 'ends_at']);
    return {
      plan: account.required('plan', orNull(knownPlan)),
      isDefault: false,
      status: account.withDefault('status', oneOf(STATUSES), 'active'),
      periodAnchorDay: account.withDefault(
        'period_anchor_day',
        integer({ min: FIRST_OF_MONTH, max: LAST_ANCHOR_DAY }),
        FIRST_OF_MONTH,
      ),
      endsAtMs: account.withDefault('ends_at', orNull(readInstant), null),
    };
  };
  const table = tableOf({
    pattern: /^[\w.:-]{1,200}$/,
    keyProblem: 'must be the id of an account',
    value: readTerms,
    max: MAX_ACCOUNTS,
  });
  return (value, path) => new Map(Object.entries(table(value, path)));
}

function readInstant(value: unknown, path: string): number {
  const instantMs = epochMsOf(text({ pattern: INSTANT, problem: INSTANT_PROBLEM })(value, path));
  if (Number.isNaN(instantMs)) throw invalidRequest(path, INSTANT_PROBLEM);
  return instantMs;
}
