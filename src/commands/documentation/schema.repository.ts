import type { DataSource, QueryRunner } from 'typeorm';
import type { SchemaTable } from './schema.rules.js';

/**
 * Constraint kinds are listed explicitly, because Postgres 18 lists NOT NULL among the constraints and 15 does not.
 * Partitions count as their table.
 */
const READ_TABLES = `
  SELECT relname AS name,
    (SELECT json_agg(json_build_object(
        'name', attname,
        'type', format_type(atttypid, atttypmod),
        'isNullable', NOT attnotnull,
        'isGenerated', attgenerated <> '',
        'isIdentity', attidentity <> '',
        'value', pg_get_expr(adbin, adrelid)
      ) ORDER BY attnum)
      FROM pg_attribute LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum
      WHERE attrelid = listed.oid AND attnum > 0 AND NOT attisdropped) AS columns,
    (SELECT coalesce(json_agg(json_build_object(
        'name', name, 'kind', kind, 'definition', definition, 'columns', columns, 'references', target
      ) ORDER BY name), '[]')
      FROM (
        SELECT conname AS name, contype::text AS kind, pg_get_constraintdef(oid) AS definition,
          (SELECT json_agg(attname ORDER BY attnum) FROM pg_attribute WHERE attrelid = conrelid AND attnum = ANY (conkey)) AS columns,
          (SELECT relname FROM pg_class WHERE oid = confrelid) AS target
        FROM pg_constraint WHERE conrelid = listed.oid AND contype IN ('p', 'u', 'f', 'c')
        UNION ALL
        SELECT relname, 'index', pg_get_indexdef(indexrelid), NULL, NULL
        FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid
        WHERE indrelid = listed.oid
          AND NOT EXISTS (SELECT FROM pg_constraint WHERE conindid = indexrelid AND contype IN ('p', 'u'))
      ) AS objects) AS objects
  FROM pg_class AS listed
  WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition
  ORDER BY relname`;

/** Every table of a database, with partitions merged into their table. */
export function readSchema(database: Pick<DataSource | QueryRunner, 'query'>): Promise<readonly SchemaTable[]> {
  return database.query<readonly SchemaTable[]>(READ_TABLES);
}
