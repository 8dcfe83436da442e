import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Values that identify the operator's key. */
export class StoreKeyCanaries1763600000051 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE key_canaries (
        name text CONSTRAINT key_canaries_pkey PRIMARY KEY,
        canary text NOT NULL)`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE key_canaries');
  }
}
