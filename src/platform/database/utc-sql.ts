/** SQL expressions that convert UTC days and months to timestamps, so that timestamp indexes apply. */

/** Start of the UTC day `$n`, `YYYY-MM-DD`. */
export const startOfDay = (n: number) => `$${n}::date::timestamp AT TIME ZONE 'UTC'`;

/** Condition on `event.created_at` for the UTC month `$n`, `YYYY-MM`. */
export const inMonth = (n: number) => `event.created_at >= to_date($${n}, 'YYYY-MM')::timestamp AT TIME ZONE 'UTC'
    AND event.created_at < (to_date($${n}, 'YYYY-MM') + interval '1 month') AT TIME ZONE 'UTC'`;

/** A `timestamptz` column as ISO 8601 with milliseconds. */
export const isoTime = (column: string) => `to_char(${column} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;
