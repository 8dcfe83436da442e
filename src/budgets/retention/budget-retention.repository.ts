import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';

/** Months before grants, as everybody locks them; rows that somebody is changing are left for the next night. */
const deleteMonths = (which: string) => `
  WITH old AS (
    SELECT app_id, user_id, month FROM budget_months spent
    WHERE ${which} ORDER BY month LIMIT $2 FOR UPDATE SKIP LOCKED),
  grants AS (
    DELETE FROM budget_grants held USING old
    WHERE held.app_id = old.app_id AND held.user_id = old.user_id AND held.month = old.month),
  gone AS (
    DELETE FROM budget_months months USING old
    WHERE months.app_id = old.app_id AND months.user_id = old.user_id AND months.month = old.month
    RETURNING 1)
  SELECT count(*)::integer AS count FROM gone`;

const OF_ALL = deleteMonths('month < $1');

/** Of users: the empty one is the application itself. In the month of the day, of those whose usage is gone by then. */
const OF_USERS = deleteMonths(`user_id <> '' AND month <= date_trunc('month', $1::date::timestamp)::date
      AND NOT EXISTS (SELECT FROM usage_user_months used
        WHERE used.app_id = spent.app_id AND used.user_id = spent.user_id AND used.month = spent.month)`);

/** Deleting from `budget_months` and `budget_grants`. */
@Injectable()
export class BudgetRetentionRepository {
  /** @returns how many months of budgets it deleted, at most `limit`. */
  deleteMonths(connection: EntityManager, before: string, limit: number): Promise<number> {
    return deleted(connection, OF_ALL, before, limit);
  }

  /**
   * Reads `usage_user_months`, whose rows go first.
   *
   * @param before UTC day, `YYYY-MM-DD`, in a month that is long over.
   * @returns how many months of users' budgets it deleted, at most `limit`.
   */
  deleteUserMonths(connection: EntityManager, before: string, limit: number): Promise<number> {
    return deleted(connection, OF_USERS, before, limit);
  }
}

async function deleted(connection: EntityManager, statement: string, before: string, limit: number): Promise<number> {
  const [row]: { count: number }[] = await connection.query(statement, [before, limit]);
  return row?.count ?? 0;
}
