/** A UTC month `$n`, `YYYY-MM`, as a condition on `event`. */
export const inMonth = (n: number) => `event.created_at >= to_date($${n}, 'YYYY-MM')::timestamp AT TIME ZONE 'UTC'
    AND event.created_at < (to_date($${n}, 'YYYY-MM') + interval '1 month') AT TIME ZONE 'UTC'`;
