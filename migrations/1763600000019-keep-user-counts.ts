import type { MigrationInterface, QueryRunner } from 'typeorm';

const COUNTS = "count(*), count(*) FILTER (WHERE status = 'blocked')";

/**
 * How many users an application has, and how many of them are blocked, kept in step by the statements that change it:
 * pages of users say how many there are on all of them, and counting half a million takes longer than the page.
 *
 * The count of an application is spread over as many rows as ever wrote at once: whoever writes takes a row that nobody
 * else is changing, or adds one, and so waits for nobody.
 *
 * A page is found in one index: `recent_at` is the time that pages are ordered by, as a column, because an index of an
 * expression is not read without its table.
 */
export class KeepUserCounts1763600000019 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('DROP INDEX app_users_status_idx, app_users_recent_idx');
    await runner.query(`
      ALTER TABLE app_users
      ADD COLUMN recent_at timestamptz NOT NULL GENERATED ALWAYS AS (coalesce(last_seen_at, created_at)) STORED`);
    await runner.query('CREATE INDEX app_users_recent_idx ON app_users (organization_id, app_id, recent_at DESC, id)');
    await runner.query(`
      CREATE TABLE app_user_counts (
        id bigint GENERATED ALWAYS AS IDENTITY CONSTRAINT app_user_counts_pkey PRIMARY KEY,
        organization_id text NOT NULL,
        app_id text NOT NULL CONSTRAINT app_user_counts_app_fkey REFERENCES apps ON DELETE CASCADE,
        total bigint NOT NULL,
        blocked bigint NOT NULL
      ) WITH (fillfactor = 50)`);
    await runner.query('CREATE INDEX app_user_counts_app_idx ON app_user_counts (app_id)');
    await runner.query(`
      INSERT INTO app_user_counts (organization_id, app_id, total, blocked)
      SELECT organization_id, app_id, ${COUNTS} FROM app_users GROUP BY organization_id, app_id`);
    await runner.query(COUNT_APP_USERS);
    await createTrigger(runner, {
      when: 'insert',
      event: 'AFTER INSERT ON app_users REFERENCING NEW TABLE AS added FOR EACH STATEMENT',
      action: `PERFORM count_app_users(organization_id, app_id, ${COUNTS}) FROM added GROUP BY organization_id, app_id`,
    });
    await createTrigger(runner, {
      when: 'block',
      event: `AFTER UPDATE OF status ON app_users FOR EACH ROW WHEN (OLD.status IS DISTINCT FROM NEW.status)`,
      action: `PERFORM count_app_users(NEW.organization_id, NEW.app_id, 0,
        (NEW.status = 'blocked')::integer - (OLD.status = 'blocked')::integer)`,
    });
    await createTrigger(runner, {
      when: 'delete',
      event: 'AFTER DELETE ON app_users REFERENCING OLD TABLE AS gone FOR EACH STATEMENT',
      action: `
        PERFORM count_app_users(known.organization_id, known.app_id, -known.total, -known.blocked)
        FROM (SELECT organization_id, app_id, ${COUNTS} FROM gone GROUP BY organization_id, app_id)
          known (organization_id, app_id, total, blocked)
        JOIN apps app ON app.id = known.app_id`,
    });
    await runner.query('ANALYZE app_users, app_user_counts');
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const when of ['insert', 'block', 'delete']) {
      await runner.query(`DROP TRIGGER count_users_on_${when} ON app_users`);
      await runner.query(`DROP FUNCTION count_users_on_${when}`);
    }
    await runner.query('DROP FUNCTION count_app_users');
    await runner.query('DROP TABLE app_user_counts');
    await runner.query('ALTER TABLE app_users DROP COLUMN recent_at');
    await runner.query(
      'CREATE INDEX app_users_recent_idx ON app_users (organization_id, app_id, (coalesce(last_seen_at, created_at)) DESC, id)',
    );
    await runner.query('CREATE INDEX app_users_status_idx ON app_users (organization_id, app_id, status)');
  }
}

const COUNT_APP_USERS = `
  CREATE FUNCTION count_app_users(organization text, app text, users bigint, blocked_users bigint) RETURNS void
  LANGUAGE plpgsql AS $$
  BEGIN
    UPDATE app_user_counts SET total = total + users, blocked = blocked + blocked_users
    WHERE id = (SELECT id FROM app_user_counts WHERE app_id = app LIMIT 1 FOR UPDATE SKIP LOCKED);
    IF NOT FOUND THEN
      INSERT INTO app_user_counts (organization_id, app_id, total, blocked)
      VALUES (organization, app, users, blocked_users);
    END IF;
  END $$`;

interface CountingTrigger {
  readonly when: string;
  readonly event: string;
  readonly action: string;
}

async function createTrigger(runner: QueryRunner, { when, event, action }: CountingTrigger): Promise<void> {
  await runner.query(`
    CREATE FUNCTION count_users_on_${when}() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      ${action};
      RETURN NULL;
    END $$`);
  await runner.query(`CREATE TRIGGER count_users_on_${when} ${event} EXECUTE FUNCTION count_users_on_${when}()`);
}
