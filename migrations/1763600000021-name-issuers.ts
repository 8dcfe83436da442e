import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The issuer of `google`, unless the settings named another one. */
const GOOGLE = 'https://accounts.google.com';

/**
 * Whose subjects they are: the same subject at another issuer is another person.
 *
 * Rows that name no issuer are Google's, also those that an earlier version still writes beside this one. So nobody
 * whom another issuer named is anybody until the operator says whose their rows are. `provider` goes in a later
 * version.
 */
export class NameIssuers1763600000021 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      ALTER TABLE openid_subjects
        ADD COLUMN issuer text NOT NULL DEFAULT '${GOOGLE}',
        ALTER COLUMN provider SET DEFAULT 'google'`);
    await runner.query(`
      ALTER TABLE openid_subjects
        DROP CONSTRAINT openid_subjects_pkey,
        ADD CONSTRAINT openid_subjects_pkey PRIMARY KEY (issuer, subject)`);
  }

  /** The earlier version treats every subject as Google's, so those of others are deleted. */
  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DELETE FROM openid_subjects WHERE issuer <> $1', [GOOGLE]);
    await runner.query(`
      ALTER TABLE openid_subjects
        DROP CONSTRAINT openid_subjects_pkey,
        ADD CONSTRAINT openid_subjects_pkey PRIMARY KEY (provider, subject)`);
    await runner.query('ALTER TABLE openid_subjects DROP COLUMN issuer, ALTER COLUMN provider DROP DEFAULT');
  }
}
