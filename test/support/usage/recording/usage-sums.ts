const DAY = "(event.created_at AT TIME ZONE 'UTC')::date";

const SUMS = ['requests', 'input_tokens', 'cached_input_tokens', 'cache_write_tokens', 'output_tokens', 'cost_nano_usd']
  .map((name) => `sum(event.${name}) AS ${name}`)
  .concat(
    'sum(greatest(coalesce(event.charged_nano_usd, event.cost_nano_usd) - event.cost_nano_usd, 0)) AS estimated_nano_usd',
  )
  .join(', ');

const COUNTS = `requests, input_tokens, cached_input_tokens, cache_write_tokens, output_tokens, cost_nano_usd,
  estimated_nano_usd`;

/** What events of a day have in common that share a row. */
const COMMON = `organization_id, app_id, day, provider_type, provider_slug, provider_gateway_id, credential_source,
  model_author, model, route, endpoint_slug, app_version, status, cost_source`;

const EXPECTED_DAYS = `
  SELECT ${COMMON}, ${SUMS} FROM (SELECT event.*, ${DAY} AS day FROM usage_events event) event GROUP BY ${COMMON}`;

const REFUSALS = `sum(CASE event.status WHEN 'provider_error' THEN event.requests ELSE 0 END) AS errors,
  sum(CASE WHEN event.status LIKE 'blocked%' THEN event.requests ELSE 0 END) AS blocked`;

const EXPECTED_USER_DAYS = `
  SELECT event.organization_id, event.app_id, event.user_id, ${DAY} AS day, ${SUMS}, ${REFUSALS}
  FROM usage_events event WHERE event.user_id IS NOT NULL GROUP BY 1, 2, 3, 4`;

/** Each user's months as the events say. */
const EXPECTED_MONTHS = `
  SELECT event.organization_id, event.app_id, event.user_id, date_trunc('month', event.day)::date AS month, ${SUMS},
    ${REFUSALS}, min(event.created_at) AS first_at, max(event.created_at) AS last_at, max(event.day) AS latest_day,
    sum(CASE WHEN event.status NOT LIKE 'blocked%' AND event.day = event.last_day THEN event.requests ELSE 0 END)
      AS latest_day_requests
  FROM (
    SELECT event.*, ${DAY} AS day,
      max(${DAY}) OVER (PARTITION BY app_id, user_id, date_trunc('month', ${DAY})) AS last_day
    FROM usage_events event WHERE user_id IS NOT NULL) event
  GROUP BY 1, 2, 3, 4`;

/** Rows that are in one of the two and not in the other. */
const outOfStep = (expected: string, table: string, columns: string) => `
  WITH expected AS (SELECT ${columns} FROM (${expected}) summed), kept AS (SELECT ${columns} FROM ${table})
  (SELECT 'expected' AS side, * FROM (SELECT * FROM expected EXCEPT ALL SELECT * FROM kept) missing)
  UNION ALL
  (SELECT 'kept' AS side, * FROM (SELECT * FROM kept EXCEPT ALL SELECT * FROM expected) extra)`;

const ALL = `${COUNTS}, errors, blocked`;

const EACH = ALL.split(/,\s+/);

const COMMON_OF_ALL = `organization_id, app_id, ${COUNTS}`;

const OUTCOMES = `CASE status WHEN 'provider_error' THEN requests ELSE 0 END AS errors,
  CASE WHEN status LIKE 'blocked%' THEN requests ELSE 0 END AS blocked`;

const SUMS_OF_ALL = EACH.map((name) => `sum(${name}) AS ${name}`).join(', ');

const OF_ALL_USERS = `
  SELECT organization_id, app_id, day, ${SUMS_OF_ALL} FROM usage_user_days GROUP BY organization_id, app_id, day`;

/** Spread over rows of several writers, of which some may be what others were lowered by. */
const KEPT_OF_ALL_USERS = `(
  SELECT organization_id, app_id, day, ${SUMS_OF_ALL} FROM usage_all_users_days GROUP BY organization_id, app_id, day
  HAVING ${EACH.map((name) => `sum(${name}) <> 0`).join(' OR ')}) kept_of_all`;

/** Finds nothing where what all users did on a day is what each of them did. */
export const ALL_USERS_OUT_OF_STEP = outOfStep(OF_ALL_USERS, KEPT_OF_ALL_USERS, `organization_id, app_id, day, ${ALL}`);

const OF_APPS = `
  SELECT organization_id, app_id, date_trunc('month', day::timestamp)::date AS month, ${SUMS_OF_ALL} FROM (
    SELECT day, ${COMMON_OF_ALL}, ${OUTCOMES} FROM usage_days
    UNION ALL SELECT month, ${COMMON_OF_ALL}, ${OUTCOMES} FROM usage_months) used
  GROUP BY 1, 2, 3`;

const KEPT_OF_APPS = `(
  SELECT organization_id, app_id, month, ${SUMS_OF_ALL} FROM usage_app_months GROUP BY organization_id, app_id, month
  HAVING ${EACH.map((name) => `sum(${name}) <> 0`).join(' OR ')}) kept_of_apps`;

/** Finds nothing where what an application used in a month is the sum of its days. */
export const APPS_OUT_OF_STEP = outOfStep(OF_APPS, KEPT_OF_APPS, `organization_id, app_id, month, ${ALL}`);

/** Finds nothing where what users did in a month is in step with the events. */
export const MONTHS_OUT_OF_STEP = outOfStep(
  EXPECTED_MONTHS,
  'usage_user_months',
  `organization_id, app_id, user_id, month, ${ALL}, first_at, last_at, latest_day, latest_day_requests`,
);

const EXPECTED_KEY_DAYS = `
  SELECT event.organization_id, event.app_id, event.api_key_id, ${DAY} AS day, ${SUMS}, ${REFUSALS}
  FROM usage_events event WHERE event.api_key_id IS NOT NULL GROUP BY 1, 2, 3, 4`;

const KEPT_KEY_DAYS = `(SELECT * FROM usage_key_days WHERE requests <> 0) kept_key_days`;

/** The bounds of a class are written out: 1.1 to the power of the class, and of the one before. */
const ofTime = (column: string, counts: string) => `
  SELECT event.organization_id, event.app_id, ${DAY} AS day, event.provider_type, event.model, known.class, ${counts}
  FROM usage_events event
  CROSS JOIN LATERAL (
    SELECT min(class) AS class FROM generate_series(0, 250) class WHERE event.${column} <= power(1.1::float8, class)
  ) known
  WHERE event.status = 'ok' AND event.${column} IS NOT NULL`;

const EXPECTED_LATENCIES = `
  SELECT organization_id, app_id, day, provider_type, model, class, sum(requests) AS requests,
    sum(durations) AS durations
  FROM (
    ${ofTime('latency_ms', '1 AS requests, 0 AS durations')} UNION ALL
    ${ofTime('duration_ms', '0 AS requests, 1 AS durations')}) of_both
  GROUP BY 1, 2, 3, 4, 5, 6`;

/** Each finds nothing where sums by day, by user and day, and by user and month are those of the events. */
export const SUMS_OUT_OF_STEP = [
  outOfStep(EXPECTED_DAYS, 'usage_days', `${COMMON}, ${COUNTS}`),
  outOfStep(EXPECTED_USER_DAYS, 'usage_user_days', `organization_id, app_id, user_id, day, ${ALL}`),
  ALL_USERS_OUT_OF_STEP,
  APPS_OUT_OF_STEP,
  MONTHS_OUT_OF_STEP,
  outOfStep(EXPECTED_KEY_DAYS, KEPT_KEY_DAYS, `organization_id, app_id, api_key_id, day, ${ALL}`),
  outOfStep(
    EXPECTED_LATENCIES,
    'usage_latencies',
    'organization_id, app_id, day, provider_type, model, class, requests, durations',
  ),
];
