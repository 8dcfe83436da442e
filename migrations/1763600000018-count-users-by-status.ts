import type { MigrationInterface, QueryRunner } from 'typeorm';

/** How many users an application has, and how many of them are blocked, from a tenth of the former pages. */
export class CountUsersByStatus1763600000018 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('CREATE INDEX app_users_status_idx ON app_users (organization_id, app_id, status)');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP INDEX app_users_status_idx');
  }
}
