import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The smallest amount of size 2, a hundredth of a cent; smaller ones are of size 1. */
const SMALLEST_NANO_USD = 100_000;
/** Eight sizes per doubling. */
const SIZES_PER_DOUBLING = 8;
/** Up to the largest safe integer. */
const DOUBLINGS = 37;

const SIZES = Array.from({ length: SIZES_PER_DOUBLING * DOUBLINGS }, (_, size) =>
  Math.round(SMALLEST_NANO_USD * 2 ** (size / SIZES_PER_DOUBLING)),
);

/** The largest amount that `money_size` accepts; sums are numeric. */
const LARGEST_NANO_USD = '9000000000000000000';

/**
 * The users of an application by what they cost and by what counts against their budget in a month.
 *
 * `cost_size` and `spent_size` are rough measures: amounts of one size differ by less than a tenth, and zero is of size
 * 0. Lists are read from the index of the size, and sorted by the exact amount within each size. The rows are rewritten
 * with every call. As long as no indexed column changes, that is cheap; an index of the amounts would change with each
 * call.
 */
export class SizeSpendingOfUsers1763600000068 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE FUNCTION money_size(nano_usd bigint) RETURNS integer LANGUAGE sql IMMUTABLE
        AS $$ SELECT width_bucket(nano_usd, '{${[1, ...SIZES].join(', ')}}'::bigint[]) $$`);
    await runner.query(`
      ALTER TABLE usage_user_months ADD COLUMN cost_size integer
        GENERATED ALWAYS AS (money_size(least(cost_nano_usd, ${LARGEST_NANO_USD})::bigint)) STORED`);
    await runner.query(`
      ALTER TABLE budget_months ADD COLUMN spent_size integer GENERATED ALWAYS AS (money_size(spent_nano_usd)) STORED`);
    await runner.query(`
      CREATE INDEX usage_user_months_cost_idx ON usage_user_months (app_id, month, cost_size DESC, user_id)
        WHERE cost_size > 0`);
    await runner.query(`
      CREATE INDEX budget_months_spent_idx ON budget_months (app_id, month, spent_size DESC, user_id)
        WHERE spent_size > 0`);
    await runner.query('ANALYZE usage_user_months, budget_months');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP INDEX budget_months_spent_idx, usage_user_months_cost_idx');
    await runner.query('ALTER TABLE budget_months DROP COLUMN spent_size');
    await runner.query('ALTER TABLE usage_user_months DROP COLUMN cost_size');
    await runner.query('DROP FUNCTION money_size');
  }
}
