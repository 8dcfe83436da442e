import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { ConfigChanges } from '../platform/database/config-changes.js';
import { BUDGET_KEY, BUDGET_KEY_TYPES, budgetOrder } from './budget-columns.js';
import type {
  BudgetFirstTake,
  BudgetKey,
  BudgetReturn,
  BudgetTake,
  BudgetTaken,
  DroppedGrants,
  LapsedInstance,
} from './budget-grants.js';

/** Topic of {@link ConfigChanges} for recalls of grants; keys of `budget.rules.ts`. */
export const BUDGET_GRANTS_TOPIC = 'budget_grants';

/** The grants of an instance expire after this long without a heartbeat. */
export const GRANT_LEASE_MS = 5 * 60 * 1_000;

interface TakenRow {
  readonly spent: string;
  readonly estimated: string;
  readonly elsewhere: string;
  readonly had: string;
  readonly target: string | null;
}

const KEY = BUDGET_KEY.join(', ');
const KEY_TYPES = BUDGET_KEY_TYPES;
/** The key of `$1` to `$5`. */
const IS_KEY = 'app_id = $1 AND scope = $2 AND subject = $3 AND window_name = $4 AND period_start = $5';
const sameKey = (one: string, other: string) => `(${keyIn(one)}) = (${keyIn(other)})`;
const keyIn = (table: string) => BUDGET_KEY.map((name) => `${table}.${name}`).join(', ');

const ADD_ROWS = `
  WITH periods AS (
    INSERT INTO budget_periods (${KEY}, organization_id) VALUES ($1, $2, $3, $4, $5, $7)
    ON CONFLICT (${KEY}) DO NOTHING)
  INSERT INTO budget_grants (${KEY}, instance_id, granted_nano_usd) VALUES ($1, $2, $3, $4, $5, $6, 0)
  ON CONFLICT (${KEY}, instance_id) DO NOTHING`;

/**
 * Admits waiting calls in order, each while the amount spent, held here and granted elsewhere is below the budget, so
 * at most one call crosses it. Then adds a part of the remainder, which never crosses the budget. Like every statement
 * on these tables, it locks the period row before the grant row and reads both under the lock. New values derive only
 * from these locked reads: Postgres checks a row's constraints once before it detects a concurrent update of the row.
 */
const TAKE = `
  WITH period AS (
    SELECT spent_nano_usd AS spent, estimated_nano_usd AS estimated, granted_nano_usd AS granted FROM budget_periods
    WHERE ${IS_KEY} FOR UPDATE),
  own AS (
    SELECT held.granted_nano_usd AS had FROM budget_grants held CROSS JOIN period
    WHERE ${IS_KEY} AND instance_id = $6 FOR UPDATE OF held),
  asked AS (
    SELECT spent, estimated, granted - had AS elsewhere, had, spent + granted - had + $8::bigint AS base
    FROM period CROSS JOIN own),
  needed AS (
    SELECT base, had, elsewhere, coalesce((
      SELECT max(step.up_to) FROM unnest($9::bigint[], $10::bigint[]) AS step(before, up_to)
      WHERE base + step.before < $11::bigint), 0) AS needs
    FROM asked WHERE had = $7::bigint),
  plan AS (
    SELECT had, elsewhere, $8::bigint + needs + CASE WHEN needs = 0 OR $12::bigint = 0 THEN 0
      ELSE greatest($11::bigint - base - needs, 0) / $12::bigint END AS target
    FROM needed),
  granted AS (
    UPDATE budget_grants held SET granted_nano_usd = target FROM plan
    WHERE ${IS_KEY} AND instance_id = $6 AND target <> had),
  counted AS (
    UPDATE budget_periods SET granted_nano_usd = elsewhere + target FROM plan WHERE ${IS_KEY} AND target <> had)
  SELECT spent, estimated, asked.elsewhere, asked.had, plan.target FROM asked LEFT JOIN plan ON true`;

/** Adds to the takes of `asked`, a table with the amounts of their periods, what each needs and its new amount. */
const plannedOf = (asked: string) => `
  SELECT needed.*, in_use + needs + CASE WHEN needs = 0 OR parts = 0 THEN 0
    ELSE greatest(budget - base - needs, 0) / parts END AS target
  FROM (
    SELECT *, coalesce((
      SELECT max(step.up_to) FROM unnest(before, up_to) AS step(before, up_to)
      WHERE base + step.before < budget), 0) AS needs
    FROM (SELECT *, spent + granted + in_use AS base FROM ${asked}) based OFFSET 0) needed`;

/**
 * Decides many first takes as {@link TAKE} does, each separately. It does not wait for locks of existing rows: a budget
 * that another statement is changing, or in which this instance has a row after all, is skipped. Missing periods are
 * added first, in order, while it holds no lock for which another statement could be waiting. Rows are found one by
 * one, and changed by `ON CONFLICT`, so that every plan reads them by their key, even before Postgres has statistics of
 * the table.
 */
const TAKE_FIRST = `
  WITH asked AS (
    SELECT * FROM json_to_recordset($1::json) AS asked(at integer, ${KEY_TYPES},
      organization_id text, in_use bigint, before bigint[], up_to bigint[], budget bigint, parts bigint)),
  missing AS (
    SELECT asked.*, 0::bigint AS spent, 0::bigint AS estimated, 0::bigint AS granted FROM asked WHERE (
      SELECT true FROM budget_periods known WHERE ${sameKey('known', 'asked')}) IS NULL),
  begun AS (
    INSERT INTO budget_periods (${KEY}, organization_id, granted_nano_usd)
    SELECT ${KEY}, organization_id, target FROM (${plannedOf('missing')}) planned
    ORDER BY ${budgetOrder()}
    ON CONFLICT (${KEY}) DO NOTHING RETURNING ${KEY}),
  existing AS (
    SELECT asked.*, known.spent_nano_usd AS spent, known.estimated_nano_usd AS estimated,
      known.granted_nano_usd AS granted
    FROM asked CROSS JOIN LATERAL (
      SELECT periods.* FROM budget_periods periods WHERE ${sameKey('periods', 'asked')}
      FOR UPDATE SKIP LOCKED) known
    WHERE (SELECT count(*) FROM begun) >= 0),
  plan AS (
    SELECT planned.*, false AS begins FROM (${plannedOf('existing')}) planned
    UNION ALL
    SELECT planned.*, true FROM (${plannedOf('missing')}) planned JOIN begun USING (${KEY})),
  granted AS (
    INSERT INTO budget_grants (${KEY}, instance_id, granted_nano_usd)
    SELECT ${KEY}, $2, target FROM plan
    ON CONFLICT (${KEY}, instance_id) DO NOTHING RETURNING ${KEY}),
  done AS (SELECT plan.* FROM plan JOIN granted USING (${KEY})),
  counted AS (
    INSERT INTO budget_periods (${KEY}, organization_id, granted_nano_usd)
    SELECT ${KEY}, organization_id, granted + target FROM done WHERE NOT begins AND target <> 0
    ON CONFLICT (${KEY}) DO UPDATE SET granted_nano_usd = excluded.granted_nano_usd)
  SELECT at, spent, estimated, granted AS elsewhere, 0 AS had, target FROM done`;

const GIVE_BACK = `
  WITH back AS (
    SELECT * FROM json_to_recordset($1::json) AS back(
      at integer, ${KEY_TYPES}, had bigint, in_use bigint, remove boolean)),
  locked AS (
    SELECT ${KEY}, granted_nano_usd AS granted, had, in_use, remove
    FROM budget_periods periods JOIN back USING (${KEY}) ORDER BY ${budgetOrder('periods')} FOR UPDATE OF periods),
  own AS (
    SELECT ${KEY}, held.granted_nano_usd AS found, granted, had, in_use, remove AND in_use = 0 AS remove
    FROM budget_grants held JOIN locked USING (${KEY}) WHERE instance_id = $2 FOR UPDATE OF held),
  kept AS (
    UPDATE budget_grants held SET granted_nano_usd = in_use FROM own
    WHERE ${sameKey('held', 'own')} AND instance_id = $2 AND found = had AND NOT remove AND found <> in_use),
  removed AS (
    DELETE FROM budget_grants held USING own
    WHERE ${sameKey('held', 'own')} AND instance_id = $2 AND found = had AND remove),
  counted AS (
    UPDATE budget_periods periods SET granted_nano_usd = granted + in_use - found FROM own
    WHERE ${sameKey('periods', 'own')} AND found = had AND found <> in_use)
  SELECT back.at, own.found FROM back LEFT JOIN own USING (${KEY})`;

const DROP_INSTANCE_GRANTS = `
  WITH locked AS (
    SELECT ${KEY}, granted_nano_usd AS granted FROM budget_periods periods JOIN (
      SELECT ${KEY} FROM budget_grants WHERE instance_id = $1) held USING (${KEY})
    ORDER BY ${budgetOrder('periods')} FOR UPDATE OF periods),
  gone AS (
    DELETE FROM budget_grants held USING locked
    WHERE ${sameKey('held', 'locked')} AND instance_id = $1
    RETURNING ${keyIn('held')}, granted, granted_nano_usd),
  counted AS (
    UPDATE budget_periods periods SET granted_nano_usd = granted - gone.granted_nano_usd FROM gone
    WHERE ${sameKey('periods', 'gone')})
  SELECT count(*)::integer AS grants, coalesce(sum(granted_nano_usd), 0) AS "nanoUsd" FROM gone`;

const LIST_LAPSED = `
  SELECT holder.instance_id AS id, instance.id IS NULL AS "isUnknown"
  FROM (SELECT DISTINCT instance_id FROM budget_grants) holder
  LEFT JOIN gateway_instances instance ON instance.id = holder.instance_id
  WHERE instance.id IS NULL OR instance.seen_at <= now() - $1 * interval '1 millisecond'`;

/**
 * Reads and writes grants: `budget_grants`, and their sums in `budget_periods`. Each statement changes both or none. It
 * changes the row of an instance only from its expected amount, so a late statement changes nothing.
 */
@Injectable()
export class BudgetsRepository {
  constructor(
    private readonly dataSource: DataSource,
    private readonly configChanges: ConfigChanges,
  ) {}

  /** Inserts the rows that a take needs, if missing. */
  async addRows(key: BudgetKey, instanceId: string, organizationId: string): Promise<void> {
    await this.dataSource.query(ADD_ROWS, [...valuesOf(key), instanceId, organizationId]);
  }

  /** @returns undefined when this instance has no row. */
  async take(instanceId: string, take: BudgetTake): Promise<BudgetTaken | undefined> {
    const { row, inUse, steps, budget, parts } = take;
    const rows = await this.dataSource.query<TakenRow[]>(TAKE, [
      ...valuesOf(take),
      ...[instanceId, row, inUse, steps.before, steps.upTo, budget, parts],
    ]);
    const [taken] = rows;
    return taken && takenOf(taken);
  }

  /**
   * Adds the rows of first takes and takes, in one statement.
   *
   * @param takes one per budget.
   * @returns the result of each, in their order; undefined: nothing was done, `addRows` and `take` decide.
   */
  async takeFirst(instanceId: string, takes: readonly BudgetFirstTake[]): Promise<(BudgetTaken | undefined)[]> {
    const rows = takes.map(({ organizationId, inUse, steps, budget, parts, ...key }, at) => ({
      ...{ at, ...columnsOf(key), organization_id: organizationId, in_use: inUse },
      ...{ before: steps.before, up_to: steps.upTo, budget, parts },
    }));
    const taken = await this.dataSource.query<(TakenRow & { at: number })[]>(TAKE_FIRST, [
      JSON.stringify(rows),
      instanceId,
    ]);
    const byPlace = new Map(taken.map((one) => [one.at, takenOf(one)]));
    return takes.map((_, at) => byPlace.get(at));
  }

  /**
   * Reduces rows of this instance to the amounts in use.
   *
   * @returns the previous amount of each row, in the order of `returns`; undefined without a row.
   */
  async giveBack(instanceId: string, returns: readonly BudgetReturn[]): Promise<(number | undefined)[]> {
    const rows = returns.map(({ row, inUse, remove, ...key }, at) => ({
      ...{ at, ...columnsOf(key), had: row, in_use: inUse, remove },
    }));
    const found = await this.dataSource.query<{ at: number; found: string | null }[]>(GIVE_BACK, [
      JSON.stringify(rows),
      instanceId,
    ]);
    const byPlace = new Map(found.map((one) => [one.at, one.found]));
    return returns.map((_, at) => {
      const row = byPlace.get(at) ?? null;
      return row === null ? undefined : Number(row);
    });
  }

  /** Deletes all grants of a dead instance. */
  async dropInstanceGrants(instanceId: string): Promise<DroppedGrants> {
    const [row] = await this.dataSource.query<{ grants: number; nanoUsd: string }[]>(DROP_INSTANCE_GRANTS, [
      instanceId,
    ]);
    return { grants: row?.grants ?? 0, nanoUsd: Number(row?.nanoUsd ?? 0) };
  }

  listLapsed(): Promise<LapsedInstance[]> {
    return this.dataSource.query(LIST_LAPSED, [GRANT_LEASE_MS]);
  }

  /** Requests all instances to return unused grants. @param key from `budget.rules.ts`. */
  async recall(key: string): Promise<void> {
    await this.configChanges.publish(this.dataSource, { topic: BUDGET_GRANTS_TOPIC, key });
  }
}

function valuesOf({ appId, scope, subject, window, periodStart }: BudgetKey): readonly string[] {
  return [appId, scope, subject, window, periodStart];
}

function columnsOf({ appId, scope, subject, window, periodStart }: BudgetKey) {
  return { app_id: appId, scope, subject, window_name: window, period_start: periodStart };
}

function takenOf({ spent, estimated, elsewhere, had, target }: TakenRow): BudgetTaken {
  return {
    spent: Number(spent),
    estimated: Number(estimated),
    elsewhere: Number(elsewhere),
    row: Number(had),
    target: target === null ? undefined : Number(target),
  };
}
