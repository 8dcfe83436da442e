import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What tells a key of the operator from another one. */
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
