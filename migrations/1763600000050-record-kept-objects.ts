import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The owners of objects that providers store for applications. */
export class RecordKeptObjects1763600000050 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE kept_objects (
        app_id text CONSTRAINT kept_objects_app_fkey REFERENCES apps ON DELETE CASCADE,
        object_id text,
        user_id text,
        kept_until timestamptz NOT NULL,
        CONSTRAINT kept_objects_pkey PRIMARY KEY (app_id, object_id))`);
    await runner.query('CREATE INDEX kept_objects_kept_until_idx ON kept_objects (kept_until)');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE kept_objects');
  }
}
