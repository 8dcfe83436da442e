import type { DataSource } from 'typeorm';

/** Maximum duration of an interactive query; five times the expected duration. */
const READ_TIMEOUT_MS = 1_500;

/** Enough for sums over many users; larger sorts and hashes spill to disk. */
const READ_MEMORY = '32MB';

/** JIT compilation takes longer than any of these queries should. */
const BOUNDS = `SET TRANSACTION READ ONLY; SET LOCAL statement_timeout = ${READ_TIMEOUT_MS};
  SET LOCAL work_mem = '${READ_MEMORY}'; SET LOCAL jit = off`;

/**
 * Runs an interactive read on tables that may have millions of rows, with a time limit, so that it cannot occupy a
 * connection that requests need.
 *
 * @throws unknown on the time limit; the response is 503 `service_unavailable`.
 * Source: docs/reference/accounting.md#sums, docs/reference/security.md#dependency-failures.
 */
export function readBounded<Row>(dataSource: DataSource, sql: string, parameters: readonly unknown[]): Promise<Row[]> {
  return dataSource.transaction(async (tx) => {
    await tx.query(BOUNDS);
    return tx.query<Row[]>(sql, [...parameters]);
  });
}
