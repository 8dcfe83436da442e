import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { ConfigChanges } from '../platform/database/config-changes.js';
import type { BudgetSteps } from './budget.rules.js';

/** Topic of {@link ConfigChanges} for money that is to be given back; keys of `budget-recall.rules.ts`. */
export const BUDGET_GRANTS_TOPIC = 'budget_grants';

/** After this long without a sign of life nobody waits for what an instance has been granted. */
export const GRANT_LEASE_MS = 5 * 60 * 1_000;

/** One row: whose budget, in which month. */
export interface BudgetKey {
  readonly appId: string;
  /** Empty: the application as a whole. */
  readonly userId: string;
  /** First day of a UTC month, `YYYY-MM-DD`. */
  readonly month: string;
}

/** Asks for money. Amounts are whole nano-dollars. */
export interface BudgetTake extends BudgetKey {
  /** What the row of this instance is thought to be. */
  readonly row: number;
  /** What of it is in use. */
  readonly inUse: number;
  readonly steps: BudgetSteps;
  readonly budget: number;
  /** From `grantParts`. */
  readonly parts: number;
}

/** What Postgres said. */
export interface BudgetTaken {
  readonly spent: number;
  /** What of that is estimated. */
  readonly estimated: number;
  /** Granted to other instances. */
  readonly elsewhere: number;
  /** What the row of this instance was. */
  readonly row: number;
  /** What it is now; absent where it was not what it was thought to be, and nothing has changed. */
  readonly target: number | undefined;
}

/** A row that is to hold what is in use and no more. */
export interface BudgetReturn extends BudgetKey {
  /** What it is thought to be; where it is not, it stays. */
  readonly row: number;
  readonly inUse: number;
  /** It goes, where nothing is in use. */
  readonly remove: boolean;
}

/** An instance that money is granted to and that has given no sign of life for the time of a lease. */
export interface LapsedInstance {
  readonly id: string;
  /** It is not among the instances at all, so that nobody knows since when it is gone. */
  readonly isUnknown: boolean;
}

/** What {@link BudgetsRepository.forgetInstance} gave back. */
export interface ForgottenGrants {
  readonly grants: number;
  readonly nanoUsd: number;
}

interface TakenRow {
  readonly spent: string;
  readonly estimated: string;
  readonly elsewhere: string;
  readonly had: string;
  readonly target: string | null;
}

const ADD_ROWS = `
  WITH months AS (
    INSERT INTO budget_months (app_id, user_id, month, organization_id) VALUES ($1, $2, $3, $5)
    ON CONFLICT (app_id, user_id, month) DO NOTHING)
  INSERT INTO budget_grants (app_id, user_id, month, instance_id, granted_nano_usd) VALUES ($1, $2, $3, $4, 0)
  ON CONFLICT (app_id, user_id, month, instance_id) DO NOTHING`;

/**
 * Calls are admitted in their order, each while less than the budget is spent, held here and granted elsewhere, so that
 * one of them crosses it at most. Beyond what they need a part of what remains is taken, which crosses nothing. The
 * month's row is locked before the grant's, as by everybody; both are then read as they are. New values are made of what
 * was read so: Postgres checks a row's constraints once before it finds that somebody else has changed the row meanwhile.
 */
const TAKE = `
  WITH month AS (
    SELECT spent_nano_usd AS spent, estimated_nano_usd AS estimated, granted_nano_usd AS granted FROM budget_months
    WHERE app_id = $1 AND user_id = $2 AND month = $3 FOR UPDATE),
  own AS (
    SELECT held.granted_nano_usd AS had FROM budget_grants held CROSS JOIN month
    WHERE app_id = $1 AND user_id = $2 AND held.month = $3 AND instance_id = $4 FOR UPDATE OF held),
  asked AS (
    SELECT spent, estimated, granted - had AS elsewhere, had, spent + granted - had + $6::bigint AS base
    FROM month CROSS JOIN own),
  needed AS (
    SELECT base, had, elsewhere, coalesce((
      SELECT max(step.up_to) FROM unnest($7::bigint[], $8::bigint[]) AS step(before, up_to)
      WHERE base + step.before < $9::bigint), 0) AS needs
    FROM asked WHERE had = $5::bigint),
  plan AS (
    SELECT had, elsewhere, $6::bigint + needs + CASE WHEN needs = 0 OR $10::bigint = 0 THEN 0
      ELSE greatest($9::bigint - base - needs, 0) / $10::bigint END AS target
    FROM needed),
  granted AS (
    UPDATE budget_grants held SET granted_nano_usd = target FROM plan
    WHERE app_id = $1 AND user_id = $2 AND month = $3 AND instance_id = $4 AND target <> had),
  counted AS (
    UPDATE budget_months SET granted_nano_usd = elsewhere + target FROM plan
    WHERE app_id = $1 AND user_id = $2 AND month = $3 AND target <> had)
  SELECT spent, estimated, asked.elsewhere, asked.had, plan.target FROM asked LEFT JOIN plan ON true`;

const LOCK_ORDER = 'ORDER BY months.app_id COLLATE "C", months.user_id COLLATE "C", months.month FOR UPDATE OF months';

const GIVE_BACK = `
  WITH back AS (
    SELECT * FROM json_to_recordset($1::json) AS back(
      at integer, app_id text, user_id text, month date, had bigint, in_use bigint, remove boolean)),
  locked AS (
    SELECT app_id, user_id, month, granted_nano_usd AS granted, had, in_use, remove
    FROM budget_months months JOIN back USING (app_id, user_id, month) ${LOCK_ORDER}),
  own AS (
    SELECT app_id, user_id, month, held.granted_nano_usd AS found, granted, had, in_use, remove AND in_use = 0 AS remove
    FROM budget_grants held JOIN locked USING (app_id, user_id, month) WHERE instance_id = $2 FOR UPDATE OF held),
  kept AS (
    UPDATE budget_grants held SET granted_nano_usd = in_use FROM own
    WHERE held.app_id = own.app_id AND held.user_id = own.user_id AND held.month = own.month AND instance_id = $2
      AND found = had AND NOT remove AND found <> in_use),
  removed AS (
    DELETE FROM budget_grants held USING own
    WHERE held.app_id = own.app_id AND held.user_id = own.user_id AND held.month = own.month AND instance_id = $2
      AND found = had AND remove),
  counted AS (
    UPDATE budget_months months SET granted_nano_usd = granted + in_use - found FROM own
    WHERE months.app_id = own.app_id AND months.user_id = own.user_id AND months.month = own.month
      AND found = had AND found <> in_use)
  SELECT back.at, own.found FROM back LEFT JOIN own USING (app_id, user_id, month)`;

const FORGET_INSTANCE = `
  WITH locked AS (
    SELECT app_id, user_id, month, granted_nano_usd AS granted FROM budget_months months JOIN (
      SELECT app_id, user_id, month FROM budget_grants WHERE instance_id = $1) held USING (app_id, user_id, month)
    ${LOCK_ORDER}),
  gone AS (
    DELETE FROM budget_grants held USING locked
    WHERE held.app_id = locked.app_id AND held.user_id = locked.user_id AND held.month = locked.month
      AND instance_id = $1
    RETURNING held.app_id, held.user_id, held.month, granted, granted_nano_usd),
  counted AS (
    UPDATE budget_months months SET granted_nano_usd = granted - gone.granted_nano_usd FROM gone
    WHERE months.app_id = gone.app_id AND months.user_id = gone.user_id AND months.month = gone.month)
  SELECT count(*)::integer AS grants, coalesce(sum(granted_nano_usd), 0) AS "nanoUsd" FROM gone`;

const LIST_LAPSED = `
  SELECT holder.instance_id AS id, instance.id IS NULL AS "isUnknown"
  FROM (SELECT DISTINCT instance_id FROM budget_grants) holder
  LEFT JOIN gateway_instances instance ON instance.id = holder.instance_id
  WHERE instance.id IS NULL OR instance.seen_at <= now() - $1 * interval '1 millisecond'`;

/**
 * Reads and writes what instances have been granted of budgets: `budget_grants`, and its sums in `budget_months`. Each
 * statement changes both or none, and the row of an instance only from the value it is known to have: one that arrives
 * late changes nothing.
 */
@Injectable()
export class BudgetsRepository {
  constructor(
    private readonly dataSource: DataSource,
    private readonly configChanges: ConfigChanges,
  ) {}

  /** Makes the rows a take needs, unless they are there. */
  async addRows({ appId, userId, month }: BudgetKey, instanceId: string, organizationId: string): Promise<void> {
    await this.dataSource.query(ADD_ROWS, [appId, userId, month, instanceId, organizationId]);
  }

  /** @returns undefined where this instance has no row. */
  async take(instanceId: string, take: BudgetTake): Promise<BudgetTaken | undefined> {
    const { appId, userId, month, row, inUse, steps, budget, parts } = take;
    const rows = await this.dataSource.query<TakenRow[]>(TAKE, [
      ...[appId, userId, month, instanceId, row, inUse, steps.before, steps.upTo, budget, parts],
    ]);
    const [taken] = rows;
    return (
      taken && {
        spent: Number(taken.spent),
        estimated: Number(taken.estimated),
        elsewhere: Number(taken.elsewhere),
        row: Number(taken.had),
        target: taken.target === null ? undefined : Number(taken.target),
      }
    );
  }

  /**
   * Leaves in rows of this instance what is in use.
   *
   * @returns what each row was, in the order of `returns`; undefined where there is none.
   */
  async giveBack(instanceId: string, returns: readonly BudgetReturn[]): Promise<(number | undefined)[]> {
    const rows = returns.map(({ appId, userId, month, row, inUse, remove }, at) => ({
      ...{ at, app_id: appId, user_id: userId, month, had: row, in_use: inUse, remove },
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

  /** Gives back everything an instance has been granted that is gone. */
  async forgetInstance(instanceId: string): Promise<ForgottenGrants> {
    const [row] = await this.dataSource.query<{ grants: number; nanoUsd: string }[]>(FORGET_INSTANCE, [instanceId]);
    return { grants: row?.grants ?? 0, nanoUsd: Number(row?.nanoUsd ?? 0) };
  }

  listLapsed(): Promise<LapsedInstance[]> {
    return this.dataSource.query(LIST_LAPSED, [GRANT_LEASE_MS]);
  }

  /** Asks all instances to give back what they do not use. @param key from `budget-recall.rules.ts`. */
  async recall(key: string): Promise<void> {
    await this.configChanges.publish(this.dataSource, { topic: BUDGET_GRANTS_TOPIC, key });
  }
}
