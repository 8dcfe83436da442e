import type { DataSource } from 'typeorm';

/** Longest a query that people wait for may run; five times what it should take. */
const READ_TIMEOUT_MS = 1_500;

/** What sums of many users need; more than that goes to disk. */
const READ_MEMORY = '32MB';

/** Compiling a query takes longer than any of these should. */
const BOUNDS = `SET TRANSACTION READ ONLY; SET LOCAL statement_timeout = ${READ_TIMEOUT_MS};
  SET LOCAL work_mem = '${READ_MEMORY}'; SET LOCAL jit = off`;

/**
 * Reads for people from tables that may hold millions of rows, so that nobody's question keeps a connection from those
 * who serve calls.
 *
 * @throws unknown when one takes longer than that, which is answered 503 `service_unavailable`.
 * Source: docs/reference/accounting.md#sums, docs/reference/security.md#dependency-failures.
 */
export function readBounded<Row>(dataSource: DataSource, sql: string, parameters: readonly unknown[]): Promise<Row[]> {
  return dataSource.transaction(async (tx) => {
    await tx.query(BOUNDS);
    return tx.query<Row[]>(sql, [...parameters]);
  });
}
