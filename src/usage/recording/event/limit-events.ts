import { eventBodyOf, eventIdOf, isoTime, outboxParts } from '../../../platform/outbox/outbox-statements.js';

/**
 * Refusals by a limit of requests or tokens: reason, scope, window and what is counted, empty for requests. Source:
 * docs/reasons.md.
 */
const LIMITS = ['user', 'group', 'app'].flatMap((scope) =>
  ['minute', 'day'].flatMap((window) =>
    ['', 'token_'].map((count) => `('${scope}_${window}_${count}limit_reached', '${scope}', '${window}', '${count}')`),
  ),
);

const TYPE = `'limit.exhausted'`;

const ID = eventIdOf({
  ...{ type: TYPE, account: 'organization_id', app: 'app_id', scope: 'scope', id: 'identity' },
  ...{ window: 'counted_window', periodStart: 'period_start' },
});

const DATA = `json_build_object('account', organization_id, 'app', app_id, 'scope', scope, 'id', identity,
  'limit', CASE counted WHEN '' THEN 'requests' ELSE 'tokens' END, 'window', limit_window, 'period_start', ${isoTime('period_start')})`;

/**
 * Parts of the statement that counts refusals: an event for each identity and window that is refused for the first
 * time. Reads the rows of `added` that are new. Refusals that share a row because there are too many identities name no
 * user.
 */
export const LIMIT_EVENTS = `
  exhausted AS (
    SELECT added.organization_id, added.app_id, added.created_at, hit.scope, hit.limit_window,
      CASE hit.scope WHEN 'user' THEN added.user_id WHEN 'app' THEN added.app_id
        ELSE (added.refusal ->> 'group') || ':' || (added.groups ->> (added.refusal ->> 'group')) END AS identity,
      hit.counted, hit.counted || hit.limit_window AS counted_window,
      date_trunc(hit.limit_window, added.created_at, 'UTC') AS period_start
    FROM added JOIN (VALUES ${LIMITS.join(', ')}) AS hit(reason, scope, limit_window, counted)
      ON hit.reason = added.refusal ->> 'reason'
    WHERE added.requests_before = 0),
  limit_events AS (
    SELECT ${ID} AS id, organization_id, ${TYPE} AS type, app_id, concat_ws(':', scope, app_id, identity) AS subject,
      ${eventBodyOf(TYPE, 'created_at', DATA)} AS body, created_at AS at,
      row_number() OVER (ORDER BY created_at) AS place
    FROM exhausted WHERE identity IS NOT NULL),
  ${outboxParts('limit_events')}`;
