import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The nightly job finds old user months, users and device keys without reading all of them. */
export class IndexOldUsers1763600000032 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('CREATE INDEX usage_user_months_month_idx ON usage_user_months (month)');
    await runner.query("CREATE INDEX app_users_unseen_idx ON app_users (recent_at) WHERE status = 'active'");
    await runner.query('CREATE INDEX device_keys_unused_idx ON device_keys (last_used_at)');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP INDEX device_keys_unused_idx, app_users_unseen_idx, usage_user_months_month_idx');
  }
}
