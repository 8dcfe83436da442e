import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';

/** Months before grants, as everybody locks them; rows that somebody is changing are left for the next night. */
const DELETE_MONTHS = `
  WITH old AS (
    SELECT app_id, user_id, month FROM budget_months WHERE month < $1 ORDER BY month LIMIT $2 FOR UPDATE SKIP LOCKED),
  grants AS (
    DELETE FROM budget_grants held USING old
    WHERE held.app_id = old.app_id AND held.user_id = old.user_id AND held.month = old.month),
  gone AS (
    DELETE FROM budget_months months USING old
    WHERE months.app_id = old.app_id AND months.user_id = old.user_id AND months.month = old.month
    RETURNING 1)
  SELECT count(*)::integer AS count FROM gone`;

/** Deleting from `budget_months` and `budget_grants`. */
@Injectable()
export class BudgetRetentionRepository {
  /** @returns how many months of budgets it deleted, at most `limit`. */
  async deleteMonths(connection: EntityManager, before: string, limit: number): Promise<number> {
    const [row]: { count: number }[] = await connection.query(DELETE_MONTHS, [before, limit]);
    return row?.count ?? 0;
  }
}
