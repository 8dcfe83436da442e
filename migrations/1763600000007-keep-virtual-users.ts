import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * A user known only from usage is stored as a virtual user, in the statement that counts the usage, so that lists of
 * users read one table and one index (ADR 0011). A stored or blocked user is not changed; a virtual one is written at
 * most once a minute. Applications that are deleted, or being deleted, get no users.
 */
export class KeepVirtualUsers1763600000007 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      INSERT INTO app_users (organization_id, app_id, id, status, created_at, last_seen_at, is_virtual)
      SELECT app.organization_id, app.id, used.user_id, 'active', min(used.first_at), max(used.last_at), true
      FROM usage_user_months used JOIN apps app ON app.organization_id = used.organization_id AND app.id = used.app_id
      GROUP BY app.organization_id, app.id, used.user_id
      ON CONFLICT (app_id, id) DO NOTHING`);
    await runner.query(`
      CREATE FUNCTION keep_virtual_users() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        INSERT INTO app_users AS known (organization_id, app_id, id, status, created_at, last_seen_at, is_virtual)
        SELECT app.organization_id, app.id, seen.user_id, 'active', seen.first_at, seen.last_at, true
        FROM (
          SELECT used.organization_id, used.app_id, used.user_id, min(used.first_at) AS first_at, max(used.last_at) AS last_at
          FROM changed used
          WHERE NOT EXISTS (SELECT FROM app_users known WHERE known.app_id = used.app_id AND known.id = used.user_id
            AND (NOT known.is_virtual OR known.status = 'blocked' OR (known.created_at <= used.first_at
              AND known.last_seen_at > used.last_at - interval '1 minute')))
          GROUP BY used.organization_id, used.app_id, used.user_id) seen
        JOIN apps app ON app.organization_id = seen.organization_id AND app.id = seen.app_id
        ORDER BY app.id COLLATE "C", seen.user_id COLLATE "C"
        FOR KEY SHARE OF app SKIP LOCKED
        ON CONFLICT (app_id, id) DO UPDATE SET created_at = least(known.created_at, excluded.created_at),
          last_seen_at = greatest(known.last_seen_at, excluded.last_seen_at)
        WHERE known.is_virtual AND known.status = 'active';
        RETURN NULL;
      END $$`);
    for (const change of ['INSERT', 'UPDATE']) {
      await runner.query(`
        CREATE TRIGGER keep_virtual_users_on_${change.toLowerCase()} AFTER ${change} ON usage_user_months
        REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION keep_virtual_users()`);
    }
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TRIGGER keep_virtual_users_on_insert ON usage_user_months');
    await runner.query('DROP TRIGGER keep_virtual_users_on_update ON usage_user_months');
    await runner.query('DROP FUNCTION keep_virtual_users');
    await runner.query('DELETE FROM app_users WHERE is_virtual');
  }
}
