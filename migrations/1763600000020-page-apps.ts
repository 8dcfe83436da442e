import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Applications of an account by id in byte order, in which they are listed page by page. */
export class PageApps1763600000020 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('DROP INDEX apps_organization_idx');
    await runner.query('CREATE INDEX apps_organization_idx ON apps (organization_id, id COLLATE "C")');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP INDEX apps_organization_idx');
    await runner.query('CREATE INDEX apps_organization_idx ON apps (organization_id, id)');
  }
}
