import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The vendor's list of revoked attestation keys of Android devices, and when it is read next. */
export class ReadRevocationList1763600000101 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE android_revocation_list (
        singleton boolean DEFAULT true,
        next_read_at timestamptz NOT NULL,
        asked_since timestamptz,
        read_at timestamptz,
        url text,
        etag text,
        CONSTRAINT android_revocation_list_pkey PRIMARY KEY (singleton),
        CONSTRAINT android_revocation_list_singleton_check CHECK (singleton))`);
    await runner.query(`INSERT INTO android_revocation_list (next_read_at) VALUES ('-infinity')`);
    await runner.query(`
      CREATE TABLE android_revoked_serials (
        serial text,
        status text NOT NULL CONSTRAINT android_revoked_serials_status_check CHECK (status IN ('REVOKED', 'SUSPENDED')),
        CONSTRAINT android_revoked_serials_pkey PRIMARY KEY (serial))`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE android_revoked_serials');
    await runner.query('DROP TABLE android_revocation_list');
  }
}
