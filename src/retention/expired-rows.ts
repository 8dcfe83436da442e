import { DELETE_EXPIRED_CHALLENGES } from '../client-auth/devices/challenges.repository.js';
import type { Instant } from '../common/clock.js';
import { repeatUntilDone } from '../platform/database/repeat-until-done.js';
import { startOfDay } from '../platform/database/utc-sql.js';
import type { RetentionRun, RetentionStep } from './retention-step.js';

/** Maximum rows per statement. */
const ROWS_PER_STATEMENT = 5_000;

/**
 * Steps that delete rows of all accounts by age. Each statement takes at most `$1` rows older than `$2`, and skips
 * locked rows that a concurrent transaction may still use.
 */
export const PRUNE_AUTH_EVENTS: RetentionStep = {
  done: 'auth_events_pruned',
  failed: 'auth_events_prune_failed',
  run: async (run) => ({ events: await touched(run, DELETE_AUTH_EVENTS, run.days.authEvents) }),
};

export const PRUNE_CHALLENGES: RetentionStep = {
  done: 'auth_challenges_pruned',
  failed: 'auth_challenges_prune_failed',
  run: async (run) => ({ challenges: await touched(run, DELETE_EXPIRED_CHALLENGES) }),
};

/** Device keys that were unused for long: such a device registers again. */
export const PRUNE_DEVICE_KEYS: RetentionStep = {
  done: 'device_keys_pruned',
  failed: 'device_keys_prune_failed',
  run: async (run) => ({ keys: await touched(run, DELETE_DEVICE_KEYS, run.days.deviceKeys) }),
};

/** Sealed responses are cleared when they can no longer be replayed; the records stay much longer. */
export const PRUNE_RECEIPTS: RetentionStep = {
  done: 'creation_receipts_pruned',
  failed: 'creation_receipts_prune_failed',
  run: async (run) => {
    const sealedAnswers = await touched(run, CLEAR_SEALED_ANSWERS, run.now);
    return { sealedAnswers, receipts: await touched(run, DELETE_IDEMPOTENCY_RECORDS, run.now) };
  },
};

/** Invitations that were accepted, revoked or expired long ago. */
export const PRUNE_INVITATIONS: RetentionStep = {
  done: 'invitations_pruned',
  failed: 'invitations_prune_failed',
  run: async (run) => ({ invitations: await touched(run, DELETE_INVITATIONS, run.days.invitations) }),
};

/** Ids of objects that their providers no longer keep. */
export const PRUNE_KEPT_OBJECTS: RetentionStep = {
  done: 'kept_objects_pruned',
  failed: 'kept_objects_prune_failed',
  run: async (run) => ({ objects: await touched(run, DELETE_KEPT_OBJECTS, run.now) }),
};

export const PRUNE_AUDIT_EVENTS: RetentionStep = {
  done: 'audit_events_pruned',
  failed: 'audit_events_prune_failed',
  run: async (run) => ({ events: await touched(run, DELETE_AUDIT_EVENTS, run.days.auditEvents) }),
};

/** Webhook events with their deliveries. */
export const PRUNE_WEBHOOK_EVENTS: RetentionStep = {
  done: 'webhook_events_pruned',
  failed: 'webhook_events_prune_failed',
  run: async (run) => ({ events: await touched(run, DELETE_WEBHOOK_EVENTS, run.days.webhookEvents) }),
};

export const PRUNE_SESSIONS: RetentionStep = {
  done: 'sessions_pruned',
  failed: 'sessions_prune_failed',
  run: async (run) => ({ sessions: await touched(run, DELETE_SESSIONS, run.now) }),
};

/** Sealed keys are cleared when they are no longer handed over; operations stay until they expire. */
export const PRUNE_CLI_OPERATIONS: RetentionStep = {
  done: 'cli_operations_pruned',
  failed: 'cli_operations_prune_failed',
  run: async (run) => {
    const sealedKeys = await touched(run, CLEAR_SEALED_RESULTS, run.now);
    return { sealedKeys, operations: await touched(run, DELETE_CLI_OPERATIONS, run.now) };
  },
};

/** Authorizations a day after they were opened, and the tokens of ended connections. */
export const PRUNE_OAUTH: RetentionStep = {
  done: 'oauth_pruned',
  failed: 'oauth_prune_failed',
  run: async (run) => {
    const authorizations = await touched(run, DELETE_AUTHORIZATIONS, run.now);
    return { authorizations, tokens: await touched(run, DELETE_OAUTH_TOKENS, run.now) };
  },
};

/** Management keys and connections that ended long ago. A key in force stays, whatever its age. */
export const PRUNE_MANAGEMENT_KEYS: RetentionStep = {
  done: 'management_keys_pruned',
  failed: 'management_keys_prune_failed',
  run: async (run) => ({ keys: await touched(run, DELETE_MANAGEMENT_KEYS, run.days.managementKeys) }),
};

/** User budgets are deleted with other user data, earlier than application budgets. */
export const PRUNE_BUDGETS: RetentionStep = {
  done: 'budget_periods_pruned',
  failed: 'budget_prune_failed',
  run: async (run) => ({
    periods: await touched(run, DELETE_BUDGETS, run.days.dayTotals),
    userPeriods: await touched(run, DELETE_USER_BUDGETS, run.days.userBudgets),
    minutes: await touched(run, DELETE_MINUTES, run.now),
    runs: await touched(run, DELETE_RUNS, run.days.limitCounts),
  }),
};

/** Request counts that no running instance deletes. */
export const PRUNE_LIMIT_COUNTS: RetentionStep = {
  done: 'limit_counts_pruned',
  failed: 'limit_counts_prune_failed',
  run: async (run) => {
    const counts = await touched(run, DELETE_LIMIT_COUNTS, run.days.limitCounts);
    return { counts: counts + (await touched(run, DELETE_UNSENT_REQUESTS, run.days.limitCounts)) };
  },
};

/** Inactive users. A blocked user stays, so that the block remains in force (ADR 0034). */
export const PRUNE_USERS: RetentionStep = {
  done: 'app_users_pruned',
  failed: 'app_users_prune_failed',
  run: async (run) => ({ users: await touched(run, DELETE_USERS, run.days.users) }),
};

const DELETE_KEPT_OBJECTS = `
  DELETE FROM kept_objects WHERE ctid = ANY (ARRAY(
    SELECT old.ctid FROM kept_objects old WHERE old.kept_until <= $2 ORDER BY old.kept_until LIMIT $1
    FOR UPDATE SKIP LOCKED))`;

const DELETE_AUTH_EVENTS = `
  DELETE FROM auth_events WHERE id = ANY (ARRAY(
    SELECT event.id FROM auth_events event WHERE event.created_at < ${startOfDay(2)}
    ORDER BY event.created_at LIMIT $1))`;

const DELETE_DEVICE_KEYS = `
  DELETE FROM device_keys WHERE ctid = ANY (ARRAY(
    SELECT unused.ctid FROM device_keys unused WHERE unused.last_used_at < ${startOfDay(2)}
    ORDER BY unused.last_used_at LIMIT $1 FOR UPDATE SKIP LOCKED))`;

const CLEAR_SEALED_ANSWERS = `
  UPDATE creation_receipts SET sealed_answer = NULL WHERE id = ANY (ARRAY(
    SELECT id FROM creation_receipts WHERE sealed_answer IS NOT NULL AND sealed_until <= $2
    ORDER BY sealed_until LIMIT $1))`;

const DELETE_IDEMPOTENCY_RECORDS = `
  DELETE FROM creation_receipts WHERE id = ANY (ARRAY(
    SELECT id FROM creation_receipts WHERE expires_at <= $2 ORDER BY expires_at LIMIT $1))`;

const DELETE_INVITATIONS = `
  DELETE FROM invitations WHERE id = ANY (ARRAY(
    SELECT id FROM invitations WHERE coalesce(accepted_at, revoked_at, expires_at) < ${startOfDay(2)} LIMIT $1))`;

const DELETE_AUDIT_EVENTS = `
  DELETE FROM audit_events WHERE id = ANY (ARRAY(
    SELECT event.id FROM audit_events event WHERE event.created_at < ${startOfDay(2)}
    ORDER BY event.created_at LIMIT $1))`;

const DELETE_WEBHOOK_EVENTS = `
  DELETE FROM webhook_events WHERE id = ANY (ARRAY(
    SELECT event.id FROM webhook_events event WHERE event.created_at < ${startOfDay(2)}
    ORDER BY event.created_at LIMIT $1))`;

/** The outer condition keeps a session that was renewed concurrently. */
const DELETE_SESSIONS = `
  DELETE FROM sessions WHERE expires_at <= $2 AND id = ANY (ARRAY(
    SELECT ended.id FROM sessions ended WHERE ended.expires_at <= $2 ORDER BY ended.expires_at LIMIT $1))`;

const CLEAR_SEALED_RESULTS = `
  UPDATE cli_operations SET sealed_result = NULL WHERE id = ANY (ARRAY(
    SELECT id FROM cli_operations WHERE sealed_result IS NOT NULL AND sealed_until <= $2
    ORDER BY sealed_until LIMIT $1 FOR UPDATE SKIP LOCKED))`;

const DELETE_CLI_OPERATIONS = `
  DELETE FROM cli_operations WHERE id = ANY (ARRAY(
    SELECT id FROM cli_operations WHERE kept_until <= $2 ORDER BY kept_until LIMIT $1 FOR UPDATE SKIP LOCKED))`;

const DELETE_AUTHORIZATIONS = `
  DELETE FROM oauth_authorizations WHERE id = ANY (ARRAY(
    SELECT id FROM oauth_authorizations WHERE kept_until <= $2
    ORDER BY kept_until LIMIT $1 FOR UPDATE SKIP LOCKED))`;

/** Requests of an ended connection are refused without its tokens. */
const DELETE_OAUTH_TOKENS = `
  DELETE FROM oauth_tokens WHERE access_hash = ANY (ARRAY(
    SELECT token.access_hash FROM oauth_tokens token
      JOIN management_keys connection ON connection.id = token.connection_id
     WHERE connection.revoked_at IS NOT NULL OR connection.expires_at <= $2
     LIMIT $1 FOR UPDATE OF token SKIP LOCKED))`;

const DELETE_MANAGEMENT_KEYS = `
  DELETE FROM management_keys WHERE id = ANY (ARRAY(
    SELECT ended.id FROM management_keys ended
     WHERE ended.revoked_at < ${startOfDay(2)} OR (ended.source = 'oauth' AND ended.expires_at < ${startOfDay(2)})
     LIMIT $1))`;

/** Key of a budget in a period. */
const BUDGET_KEY = ['app_id', 'scope', 'subject', 'window_name', 'period_start'];
const BUDGET = BUDGET_KEY.join(', ');
const OLD_BUDGET = `(${BUDGET_KEY.map((name) => `old.${name}`).join(', ')})`;

/** Locks periods before their grants, as every other statement does. */
const deleteBudgets = (which: string) => `
  WITH old AS (
    SELECT ${BUDGET} FROM budget_periods spent
    WHERE ${which} ORDER BY period_start LIMIT $1 FOR UPDATE SKIP LOCKED),
  grants AS (DELETE FROM budget_grants held USING old WHERE (${BUDGET_KEY.map((name) => `held.${name}`).join(', ')}) = ${OLD_BUDGET})
  DELETE FROM budget_periods periods USING old WHERE (${BUDGET_KEY.map((name) => `periods.${name}`).join(', ')}) = ${OLD_BUDGET}`;

/** A total has no end; it is deleted with its application. A run is of the day on which it began. */
const DELETE_BUDGETS = deleteBudgets(`period_start < $2 AND CASE window_name
      WHEN 'total' THEN NOT EXISTS (SELECT FROM apps app WHERE app.id = spent.app_id)
      WHEN 'run' THEN split_part(subject, E'\\n', 2)::bigint < extract(epoch FROM ${startOfDay(2)}) * 1000
      ELSE true END`);

/** Limits of a minute are useless after it. */
const DELETE_MINUTES = deleteBudgets(`window_name LIKE 'minute%'
      AND period_start < $2::timestamptz AT TIME ZONE 'UTC' - interval '1 hour'`);

/** A run that ended begins again under its id, with or without its row. */
const DELETE_RUNS = `
  DELETE FROM budget_runs WHERE ctid = ANY (ARRAY(
    SELECT old.ctid FROM budget_runs old WHERE old.called_at < ${startOfDay(2)} LIMIT $1 FOR UPDATE SKIP LOCKED))`;

/**
 * In the month of the day, only users without usage lose their budgets. A week may end in the month after its start.
 */
const DELETE_USER_BUDGETS = deleteBudgets(`scope = 'user'
      AND period_start < date_trunc('month', $2::date::timestamp)::date + interval '1 month'
      AND NOT EXISTS (SELECT FROM usage_user_months used
        WHERE used.app_id = spent.app_id AND used.user_id = spent.subject
          AND used.month IN (date_trunc('month', spent.period_start::timestamp)::date,
            date_trunc('month', spent.period_start + CASE window_name WHEN 'week' THEN interval '6 days' ELSE interval '0' END)::date))`);

const DELETE_LIMIT_COUNTS = `
  DELETE FROM limit_counts WHERE ctid = ANY (ARRAY(
    SELECT old.ctid FROM limit_counts old WHERE old.window_start_ms < extract(epoch FROM ${startOfDay(2)}) * 1000
    LIMIT $1 FOR UPDATE SKIP LOCKED))`;

const DELETE_UNSENT_REQUESTS = `
  DELETE FROM limit_unsent WHERE ctid = ANY (ARRAY(
    SELECT old.ctid FROM limit_unsent old WHERE old.day < $2 LIMIT $1 FOR UPDATE SKIP LOCKED))`;

/** Reads `usage_user_months` and `device_keys`, whose rows are deleted first. */
const DELETE_USERS = `
  DELETE FROM app_users WHERE ctid = ANY (ARRAY(
    SELECT unseen.ctid FROM app_users unseen
    WHERE unseen.status = 'active' AND unseen.recent_at < ${startOfDay(2)}
      AND coalesce(unseen.claim_pending_since, '-infinity') < ${startOfDay(2)}
      AND NOT EXISTS (SELECT FROM usage_user_months used
        WHERE used.app_id = unseen.app_id AND used.user_id = unseen.id)
      AND NOT EXISTS (SELECT FROM device_keys device
        WHERE device.app_id = unseen.app_id AND device.user_id = unseen.id)
    ORDER BY unseen.recent_at LIMIT $1 FOR UPDATE OF unseen SKIP LOCKED))`;

/** @param before UTC days, `YYYY-MM-DD`, or instants. @returns the number of affected rows in all batches. */
function touched(
  { connection, signal }: RetentionRun,
  statement: string,
  ...before: readonly (string | Instant)[]
): Promise<number> {
  return repeatUntilDone(async () => {
    const [, count]: [unknown[], number] = await connection.query(statement, [ROWS_PER_STATEMENT, ...before]);
    return count;
  }, signal);
}
