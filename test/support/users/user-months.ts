/** What `usage_user_months` must hold, summed up anew from the events. */
const EXPECTED = `
  SELECT event.app_id, event.user_id, date_trunc('month', event.created_at AT TIME ZONE 'UTC')::date AS month,
    min(event.organization_id) AS organization_id, sum(event.requests) AS requests,
    sum(event.input_tokens) AS input_tokens, sum(event.cached_input_tokens) AS cached_input_tokens,
    sum(event.cache_write_tokens) AS cache_write_tokens, sum(event.output_tokens) AS output_tokens,
    sum(event.cost_nano_usd) AS cost_nano_usd,
    sum(greatest(coalesce(event.charged_nano_usd, event.cost_nano_usd) - event.cost_nano_usd, 0)) AS estimated_nano_usd,
    sum(CASE event.status WHEN 'provider_error' THEN event.requests ELSE 0 END) AS errors,
    sum(CASE WHEN event.status LIKE 'blocked%' THEN event.requests ELSE 0 END) AS blocked,
    min(event.created_at) AS first_at, max(event.created_at) AS last_at, max(event.day) AS latest_day,
    sum(CASE WHEN event.status NOT LIKE 'blocked%' AND event.day = event.last_day THEN event.requests ELSE 0 END)
      AS latest_day_requests
  FROM (
    SELECT *, (created_at AT TIME ZONE 'UTC')::date AS day,
      max((created_at AT TIME ZONE 'UTC')::date) OVER (
        PARTITION BY app_id, user_id, date_trunc('month', created_at AT TIME ZONE 'UTC')) AS last_day
    FROM usage_events WHERE user_id IS NOT NULL) event
  GROUP BY 1, 2, 3`;

const COLUMNS = `app_id, user_id, month, organization_id, requests, input_tokens, cached_input_tokens,
  cache_write_tokens, output_tokens, cost_nano_usd, estimated_nano_usd, errors, blocked, first_at, last_at, latest_day,
  latest_day_requests`;

/** Rows that are in one of the two and not in the other; none when the sums by user are in step with the events. */
export const MONTHS_OUT_OF_STEP = `
  WITH expected AS (SELECT ${COLUMNS} FROM (${EXPECTED}) summed), kept AS (SELECT ${COLUMNS} FROM usage_user_months)
  (SELECT 'expected' AS side, * FROM (SELECT * FROM expected EXCEPT SELECT * FROM kept) missing)
  UNION ALL
  (SELECT 'kept' AS side, * FROM (SELECT * FROM kept EXCEPT SELECT * FROM expected) extra)`;
