import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Applications can have a handle, unique in their account. */
export class NameAppsByHandle1763600000044 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      ALTER TABLE apps
        ADD COLUMN handle text CONSTRAINT apps_handle_check CHECK (handle ~ '^[a-z0-9][a-z0-9-]{0,62}$'),
        ADD CONSTRAINT apps_handle_key UNIQUE (organization_id, handle)`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE apps DROP COLUMN handle');
  }
}
