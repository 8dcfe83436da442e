/** Expressions of SQL that turn UTC days and months into moments, so that indexes of timestamps serve. */

/** Midnight at which the UTC day `$n`, `YYYY-MM-DD`, begins. */
export const startOfDay = (n: number) => `$${n}::date::timestamp AT TIME ZONE 'UTC'`;

/** The UTC month `$n`, `YYYY-MM`, as a condition on `event.created_at`. */
export const inMonth = (n: number) => `event.created_at >= to_date($${n}, 'YYYY-MM')::timestamp AT TIME ZONE 'UTC'
    AND event.created_at < (to_date($${n}, 'YYYY-MM') + interval '1 month') AT TIME ZONE 'UTC'`;

/** A column of type `timestamptz` as ISO 8601 with milliseconds. */
export const isoTime = (column: string) => `to_char(${column} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;
