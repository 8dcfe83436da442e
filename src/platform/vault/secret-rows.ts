import type { EntityManager } from 'typeorm';
import type { SecretRows, StoredSecret } from './resealing.js';
import type { VaultContext } from './sealed-blob.rules.js';

/** A column of sealed secrets. */
interface SecretColumn<Row> {
  readonly table: string;
  readonly column: string;
  /** What the context needs besides `organizationId` and `id`, as the end of a list of columns. */
  readonly others?: string;
  contextOf(row: Row): VaultContext;
}

/** The secrets of one column. Resealing keeps the row's revision: clients see no change. */
export function secretRows<Row extends Omit<StoredSecret, 'context'>>(
  connection: EntityManager,
  { table, column, others = '', contextOf }: SecretColumn<Row>,
): SecretRows {
  return {
    async page(afterId: string, limit: number): Promise<StoredSecret[]> {
      const rows = await connection.query<Row[]>(
        `SELECT organization_id AS "organizationId", id${others}, ${column} AS blob
           FROM ${table} WHERE ${column} IS NOT NULL AND id > $1 ORDER BY id LIMIT $2`,
        [afterId, limit],
      );
      return rows.map((row) => ({ ...row, context: contextOf(row) }));
    },
    async replace({ organizationId, id, blob }: StoredSecret, replacement: string): Promise<boolean> {
      const [, count]: [unknown[], number] = await connection.query(
        `UPDATE ${table} SET ${column} = $4 WHERE organization_id = $1 AND id = $2 AND ${column} = $3`,
        [organizationId, id, blob, replacement],
      );
      return count > 0;
    },
  };
}
