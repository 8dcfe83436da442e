/**
 * Fills a migrated database with two accounts that are large in different ways, and with a person who owns both.
 *
 * The first has 50 of everything, an application with half of all users, and all auth and audit events; the second has
 * the other applications, with the other half of the users.
 */
import { ACCOUNTS } from './owner-console.mjs';

/** Of every list that is answered whole, and on every page. */
const PAGE = 50;
const CONFIG = JSON.stringify({
  authentication: { type: 'api_key', end_user: { source: 'header', header: 'x-end-user-id' } },
  routing: { providers: { mode: 'all' }, model_rewrites: {} },
});

const EXTRAS = [
  `INSERT INTO organizations (id, name, created_at) VALUES ($1, 'Small', now()), ($2, 'Large', now())`,
  `INSERT INTO identities (id, kind, name, email, created_at)
   SELECT 'user_' || n, 'human', 'Person ' || n, 'person-' || n || '@example.com', now() FROM generate_series(1, $3::integer) n
   WHERE $1 <> $2`,
  `INSERT INTO memberships (organization_id, identity_id, role, joined_at)
   SELECT $1, 'user_' || n, 'owner', now() FROM generate_series(1, $3::integer) n UNION ALL SELECT $2, 'user_1', 'owner', now()`,
  `INSERT INTO invitations (id, organization_id, role, token_hash, invited_by, created_at, expires_at)
   SELECT 'inv_' || n, $1, 'member', 'hash ' || n, 'user_1', now(), now() + interval '7 days'
   FROM generate_series(1, $3::integer) n WHERE $1 <> $2`,
  `INSERT INTO management_keys (id, organization_id, identity_id, name, token_hash, token_hint, access_grant, source, created_at)
   SELECT 'mkey_' || n, $1, 'user_1', 'Key', 'hash ' || n, 'abcd', 'manage', 'console', now()
   FROM generate_series(1, $3::integer) n WHERE $1 <> $2`,
  `INSERT INTO provider_gateways (id, organization_id, type, name, config, secret_blob, secret_hint, revision, status,
     created_by, created_at, updated_at)
   SELECT gen_random_uuid(), $1, 'vercel', 'Gateway ' || n, '{}', 'sealed', 'abcd', 1, 'active', 'user_1', now(), now()
   FROM generate_series(1, $3::integer) n WHERE $1 <> $2`,
  `INSERT INTO providers (id, organization_id, type, slug, name, secret_blob, secret_hint, revision, status,
     created_by, created_at, updated_at)
   SELECT gen_random_uuid(), account, 'openai', 'openai-' || n, 'Provider ' || n, 'sealed', 'abcd', 1, 'active', 'user_1',
     now(), now()
   FROM generate_series(1, $3::integer) n, unnest(ARRAY[$1, $2]) account`,
];

const APPS = `
  INSERT INTO apps (id, organization_id, name, config, authentication_type, revision, status, created_at, updated_at)
  SELECT CASE WHEN n <= $3 THEN 'small-' ELSE 'large-' END || n, CASE WHEN n <= $3 THEN $1 ELSE $2 END, 'App ' || n,
    $4::json, 'api_key', 1, 'active', now(), now()
  FROM generate_series(1, $5::integer) n`;
const KEYS = `
  INSERT INTO app_keys (id, organization_id, app_id, name, key_hash, key_prefix, status, created_at)
  SELECT 'key_' || app.id || '_' || n, app.organization_id, app.id, 'Key', app.id || ' ' || n, 'gw_abcdefghi', 'active', now()
  FROM apps app, generate_series(1, CASE WHEN app.id = 'small-1' THEN $1::integer ELSE 1 END) n`;
const USERS = `
  INSERT INTO app_users (organization_id, app_id, id, status, created_at, last_seen_at)
  SELECT app.organization_id, app.id, 'user-' || n, CASE WHEN n % 100 = 0 THEN 'blocked' ELSE 'active' END,
    now() - interval '60 days', now() - n * interval '1 second'
  FROM generate_series(1, $1::integer) n
  JOIN apps app ON app.id = CASE WHEN n % 2 = 0 THEN 'small-1' ELSE 'large-' || ($2::integer + 1 + n / 2 % $3::integer) END`;
const AUTH_EVENTS = `
  INSERT INTO auth_events (event_id, organization_id, app_id, user_id, event, auth_method, outcome, latency_ms, created_at)
  SELECT gen_random_uuid(), $1, 'small-1', 'user-' || n % 1000, 'token_exchange', 'api_key', 'ok', 12,
    now() - n * interval '5 seconds'
  FROM generate_series($2::integer, 1, -1) n`;
const AUDIT_EVENTS = `
  INSERT INTO audit_events (organization_id, created_at, action, actor_id, actor_kind, credential_type, credential_id,
    action_source, target_type, target_id, app_id)
  SELECT $1, now() - n * interval '5 seconds', CASE WHEN n % 1000 = 0 THEN 'app.deleted' ELSE 'app.replaced' END,
    'user_' || 1 + n % 50, 'human', 'session', 'session_1', 'web', 'app', 'small-' || 1 + n % 50, 'small-' || 1 + n % 50
  FROM generate_series($2::integer, 1, -1) n`;

/**
 * @param {import('pg').Client} database migrated, without accounts
 * @param {{ apps: number, users: number, events: number }} size
 */
export async function fillAccounts(database, { apps, users, events }) {
  const { small, large } = ACCOUNTS;
  const [organizations, ...extras] = EXTRAS;
  await database.query(organizations, [small, large]);
  for (const statement of extras) await database.query(statement, [small, large, PAGE]);
  await database.query(APPS, [small, large, PAGE, CONFIG, apps]);
  await database.query(KEYS, [PAGE]);
  await database.query(USERS, [users, PAGE, apps - PAGE]);
  await database.query(AUTH_EVENTS, [small, events]);
  await database.query(AUDIT_EVENTS, [small, events]);
  await database.query('VACUUM ANALYZE');
}
