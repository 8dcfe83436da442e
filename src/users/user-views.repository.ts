import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import type { AppRef } from '../app-directory/app.entity.js';
import { readBounded } from '../usage/recording/usage-sums.repository.js';
import type { ListedUserRow, SpentBudget, UserFilter, UserListing, UserRow, UserStatus } from './app-user.entity.js';
import { AppUserEntity } from './app-user.entity.js';

/** Numbers of known and of blocked users of an application. */
export interface UserCounts {
  readonly total: number;
  readonly blocked: number;
}

/** The counts of an application that never had users. */
export const NO_USERS: UserCounts = { total: 0, blocked: 0 };

/** The user counts of one application. */
export interface AppUserCounts extends UserCounts {
  readonly appId: string;
}

const MONTH = "to_date($3, 'YYYY-MM')";

const COLUMNS = `known.id, known.status, known.created_at AS "createdAt", known.last_seen_at AS "lastSeenAt",
  known.is_virtual AND known.status = 'active' AS "isVirtual",
  attested.key_id AS "attestKeyId", attested.counter AS "attestCounter",
  coalesce(budget.spent_nano_usd, 0) AS "spentNanoUsd"`;

/**
 * The attestation key that the user `known` of the application `$2` used last, and what counts against their budget.
 */
const DETAILS = `LEFT JOIN LATERAL (
  SELECT device.key_id, device.counter FROM device_keys device
  WHERE device.organization_id = $1 AND device.app_id = $2 AND device.user_id = known.id
  ORDER BY device.last_used_at DESC LIMIT 1) attested ON true
  LEFT JOIN budget_periods budget ON budget.organization_id = $1 AND budget.app_id = $2 AND budget.subject = known.id
    AND budget.scope = 'user' AND budget.window_name = 'month' AND budget.period_start = ${MONTH}`;

/** Users of the application `$2`, optionally with the status `$4`, and the text `$5` in their id. */
const NAMED = `known.organization_id = $1 AND known.app_id = $2
  AND ($4::text IS NULL OR known.status = $4) AND ($5::text IS NULL OR strpos(known.id, $5) > 0)`;

/** The row `spent` of a user who has spent `$6` nano-dollars of their budget in the month `$3`. */
const HAS_SPENT = `spent.organization_id = $1 AND spent.app_id = $2 AND spent.period_start = ${MONTH}
  AND spent.scope = 'user' AND spent.window_name = 'month'
  AND spent.spent_size > 0 AND spent.spent_size >= money_size($6) AND spent.spent_nano_usd >= $6`;

/** Optionally only those who have spent `$6` nano-dollars of their budget in the month `$3`; all have spent nothing. */
const MATCHING = `${NAMED} AND ($6::bigint IS NULL OR $6 = 0 OR known.id IN (
  SELECT spent.subject FROM budget_periods spent WHERE ${HAS_SPENT}))`;

/** Users with their periods of the budgets `$6`, those alone that are spent. */
const SPENT_ONE = `json_to_recordset($6::json) AS budget(window_name text, day date, nano_usd bigint)
  JOIN budget_periods spent ON spent.window_name = budget.window_name
    AND spent.period_start = date_trunc(budget.window_name, budget.day::timestamp)::date
    AND spent.spent_size > 0 AND spent.spent_size >= money_size(budget.nano_usd) AND spent.spent_nano_usd >= budget.nano_usd
  WHERE spent.organization_id = $1 AND spent.app_id = $2 AND spent.scope = 'user'`;

/** Only those who have spent one of the budgets `$6`, each above 0; counts have the parameter `$3` too. */
const MATCHING_ONE = `${NAMED} AND $3::text IS NOT NULL AND known.id IN (SELECT spent.subject FROM ${SPENT_ONE})`;

/** The counts of an application span several rows (migration keep-user-counts); none: it never had users. */
const KEPT_TOTAL = 'coalesce(sum(kept.total), 0)::bigint';
const KEPT_OF_APP = 'FROM app_user_counts kept WHERE kept.organization_id = $1 AND kept.app_id = $2';

const RECENT_VALUE = '(extract(epoch FROM known.recent_at) * 1000000)::bigint';
const RECENT_PLACE = "coalesce(timestamptz 'epoch' + $8::bigint * interval '1 microsecond', 'infinity')";

const recentPage = (matching: string) => `SELECT known.id, ${RECENT_VALUE} AS value FROM app_users known
  WHERE ${matching} AND known.recent_at <= ${RECENT_PLACE} AND (known.recent_at < ${RECENT_PLACE} OR known.id > $9)
  ORDER BY known.recent_at DESC, known.id LIMIT $7 OFFSET $10`;

/**
 * The same page of all users, read from the end of the list: the offset is the number of users after the page. The
 * count is read in the same statement, so both directions yield the same page. The outer limit gives the planner a row
 * estimate.
 */
const RECENT_PAGE_FROM_END = `
  SELECT late.id, late.value FROM (
    SELECT known.id, ${RECENT_VALUE} AS value FROM app_users known
    WHERE known.organization_id = $1 AND known.app_id = $2
    ORDER BY known.recent_at, known.id DESC
    LIMIT (SELECT greatest(least($4, ${KEPT_TOTAL} - $5), 0) ${KEPT_OF_APP})
    OFFSET (SELECT greatest(${KEPT_TOTAL} - $5 - $4, 0) ${KEPT_OF_APP})) late
  LIMIT $4`;

/** Of budgets by month; the filter of an index (migration create-budget-periods). */
const USER_BUDGETS = `SELECT organization_id, app_id, subject AS user_id, period_start AS month, spent_nano_usd, spent_size
  FROM budget_periods WHERE scope = 'user' AND window_name = 'month'`;

/** Sums of users of a month: the column of the amount that a list is sorted by, and its size. */
const SUMS = {
  cost: { table: 'usage_user_months', amount: 'cost_nano_usd', size: 'cost_size' },
  budget: { table: `(${USER_BUDGETS})`, amount: 'spent_nano_usd', size: 'spent_size' },
} as const;

type Amount = keyof typeof SUMS;

/**
 * A page of all users by an amount, the largest first. The index yields the sizes in order (migration
 * size-spending-of-users), so that only users of the sizes of the page are sorted; without a place, `least` is the
 * largest. Users without an amount follow, by id. `$6`: only from this amount on.
 *
 * @param spent joins those who have spent `$6` of their budget, where the list is sorted by something else.
 */
function wholePage(order: Amount, spent = ''): string {
  const { table, amount, size } = SUMS[order];
  const ofMonth = `used.app_id = $2 AND used.month = ${MONTH} AND used.${size} > 0`;
  return `
    WITH spenders AS MATERIALIZED (
      SELECT used.user_id AS id, used.${amount} AS value FROM ${table} used
      JOIN app_users known ON known.app_id = used.app_id AND known.id = used.user_id
      ${spent}
      WHERE used.organization_id = $1 AND ${ofMonth} AND ${NAMED}
        ${spent === '' ? `AND ($6::bigint IS NULL OR used.${amount} >= $6)` : ''}
        AND used.${size} <= money_size(least($8::numeric, 9000000000000000000)::bigint)
        AND (used.${amount} < coalesce($8::numeric, 'infinity') OR used.${amount} = $8::numeric AND used.user_id > $9)
      ORDER BY used.${size} DESC, used.${amount} DESC, used.user_id LIMIT $7)
    SELECT id, value FROM (
      SELECT id, value FROM spenders
      UNION ALL
      SELECT id, 0 FROM (
        SELECT known.id FROM app_users known
        WHERE ${spent === '' ? `${NAMED} AND coalesce($6::bigint, 0) = 0` : MATCHING} AND ($8::numeric IS DISTINCT FROM 0 OR known.id > $9)
        EXCEPT SELECT used.user_id FROM ${table} used WHERE ${ofMonth}
        ORDER BY id LIMIT $7 - (SELECT count(*) FROM spenders)) others) every LIMIT $7`;
}

/** The same of users who match a filter. */
function matchingPage(order: Amount, matching = MATCHING): string {
  const { table, amount } = SUMS[order];
  return `
    SELECT id, value FROM (
      SELECT known.id, coalesce(used.${amount}, 0) AS value FROM app_users known
      LEFT JOIN ${table} used ON used.organization_id = $1 AND used.app_id = $2 AND used.user_id = known.id
        AND used.month = ${MONTH}
      WHERE ${matching}) every
    WHERE value < coalesce($8::numeric, 'infinity') OR value = $8::numeric AND id > $9
    ORDER BY value DESC, id LIMIT $7`;
}

const WHOLE_PAGES = { cost: wholePage('cost'), budget: wholePage('budget') };
const COST_PAGE_AT_LIMIT = wholePage(
  'cost',
  `JOIN budget_periods spent ON spent.subject = used.user_id AND ${HAS_SPENT}`,
);
const MATCHING_PAGES = { cost: matchingPage('cost'), budget: matchingPage('budget') };
const RECENT_PAGE = recentPage(MATCHING);
const PAGES_OF_ONE = {
  recent: recentPage(MATCHING_ONE),
  cost: matchingPage('cost', MATCHING_ONE),
  budget: matchingPage('budget', MATCHING_ONE),
};

const usersOf = (page: string) => `
  WITH page AS MATERIALIZED (${page})
  SELECT ${COLUMNS}, page.value FROM page JOIN app_users known ON known.app_id = $2 AND known.id = page.id
  ${DETAILS} ORDER BY page.value DESC, known.id`;

/** Lists and counts of users, including virtual users. */
@Injectable()
export class UserViewsRepository {
  constructor(private readonly dataSource: DataSource) {}

  /** In the order asked for; users of the same value by id. */
  list(app: AppRef, listing: UserListing): Promise<ListedUserRow[]> {
    const { order, query, status, limit, offset, after } = listing;
    const values = [...matchesOf(app, listing), limit, after?.value ?? null, after?.id ?? null];
    const all = order === 'recent' ? [...values, offset] : values;
    if (isOfOne(listing)) return readBounded(this.dataSource, usersOf(PAGES_OF_ONE[order]), all);
    if (order === 'recent') return readBounded(this.dataSource, usersOf(RECENT_PAGE), all);
    const isNamed = Boolean(query) || status !== undefined;
    const isByCostAtLimit = order === 'cost' && (spentOfMonth(listing) ?? 0) > 0;
    const page = isByCostAtLimit ? COST_PAGE_AT_LIMIT : WHOLE_PAGES[order];
    return readBounded(this.dataSource, usersOf(isNamed ? MATCHING_PAGES[order] : page), all);
  }

  /** A page of the most recent without a filter, faster in the second half of the list. */
  listFromEnd(app: AppRef, { month, limit, offset }: UserListing): Promise<ListedUserRow[]> {
    const values = [app.organizationId, app.id, month, limit, offset];
    return this.dataSource.query(usersOf(RECENT_PAGE_FROM_END), values);
  }

  /** The number on all pages. Users with a text in their id, or a spent budget, are counted one by one. */
  async count(app: AppRef, filter: UserListing): Promise<number> {
    const { query, status, spent } = filter;
    if (!query && spent === undefined) {
      const { total, blocked } = await this.keptCounts(app);
      const withStatus: Record<UserStatus, number> = { active: total - blocked, blocked };
      return status === undefined ? total : withStatus[status];
    }
    const rows = await readBounded<{ users: number }>(
      this.dataSource,
      `SELECT count(*)::integer AS users FROM app_users known WHERE ${isOfOne(filter) ? MATCHING_ONE : MATCHING}`,
      matchesOf(app, filter),
    );
    return rows[0]?.users ?? 0;
  }

  /** @param month of what was spent; UTC, `YYYY-MM`. */
  async find(app: AppRef, userId: string, month: string): Promise<UserRow | undefined> {
    const rows: UserRow[] = await this.dataSource.query(
      `SELECT ${COLUMNS} FROM app_users known ${DETAILS}
       WHERE known.organization_id = $1 AND known.app_id = $2 AND known.id = $4`,
      [app.organizationId, app.id, month, userId],
    );
    return rows[0];
  }

  /** Those of the users who have spent one of the budgets. */
  async atLimit(app: AppRef, ids: readonly string[], spent: readonly SpentBudget[]): Promise<ReadonlySet<string>> {
    if (spent.length === 0 || ids.length === 0) return new Set();
    if (spent.some(({ nanoUsd }) => nanoUsd === 0)) return new Set(ids);
    const rows = await this.dataSource.query<{ id: string }[]>(
      `SELECT DISTINCT budget.id FROM (
         SELECT known.id, budget.* FROM unnest($3::text[]) AS known(id)
         CROSS JOIN json_to_recordset($4::json) AS budget(window_name text, day date, nano_usd bigint)) budget
       JOIN budget_periods spent ON spent.organization_id = $1 AND spent.app_id = $2 AND spent.scope = 'user'
         AND spent.subject = budget.id AND spent.window_name = budget.window_name
         AND spent.period_start = date_trunc(budget.window_name, budget.day::timestamp)::date
       WHERE spent.spent_nano_usd >= budget.nano_usd`,
      [app.organizationId, app.id, ids, budgetRows(spent)],
    );
    return new Set(rows.map(({ id }) => id));
  }

  /** By application; one that never had users is absent. */
  countByApp(organizationId: string, appIds: readonly string[]): Promise<AppUserCounts[]> {
    return this.dataSource.query(
      `SELECT kept.app_id AS "appId", sum(kept.total)::integer AS total, sum(kept.blocked)::integer AS blocked
       FROM app_user_counts kept
       WHERE kept.organization_id = $1 AND kept.app_id = ANY ($2) GROUP BY kept.app_id`,
      [organizationId, appIds],
    );
  }

  /** Excludes virtual users that are not blocked. */
  countStored(tx: EntityManager, app: AppRef): Promise<number> {
    const users = { organizationId: app.organizationId, appId: app.id };
    return tx.countBy(AppUserEntity, [
      { ...users, isVirtual: false },
      { ...users, status: 'blocked' },
    ]);
  }

  private async keptCounts({ organizationId, id }: AppRef): Promise<UserCounts> {
    const [counts] = await this.countByApp(organizationId, [id]);
    return counts ?? NO_USERS;
  }
}

/** Whether users are requested who have spent one of several budgets, or of another window than the month. */
function isOfOne({ spent = [] }: UserFilter): boolean {
  return spent.some(({ window }) => window !== 'month') && spent.every(({ nanoUsd }) => nanoUsd > 0);
}

/** Undefined: all users are requested. A budget of 0 is spent by all. */
function spentOfMonth({ spent }: UserFilter): number | undefined {
  return spent && Math.min(...spent.map(({ nanoUsd }) => nanoUsd));
}

/** The values of `MATCHING`, or of `MATCHING_ONE`. */
function matchesOf(app: AppRef, filter: UserFilter & { readonly month: string }) {
  const { month, status, query, spent } = filter;
  const sixth = isOfOne(filter) ? budgetRows(spent ?? []) : (spentOfMonth(filter) ?? null);
  return [app.organizationId, app.id, month, status ?? null, query ?? null, sixth];
}

function budgetRows(spent: readonly SpentBudget[]): string {
  return JSON.stringify(spent.map(({ window, day, nanoUsd }) => ({ window_name: window, day, nano_usd: nanoUsd })));
}
