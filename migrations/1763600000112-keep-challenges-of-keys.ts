import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Challenges that one key has to sign. */
export class KeepChallengesOfKeys1763600000112 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE auth_challenges ADD COLUMN key_id text');
    await runner.query('CREATE UNIQUE INDEX auth_challenges_key_idx ON auth_challenges (app_id, key_id)');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP INDEX auth_challenges_key_idx');
    await runner.query('ALTER TABLE auth_challenges DROP COLUMN key_id');
  }
}
