import type { MigrationInterface, QueryRunner } from 'typeorm';

/** How often each part of the deployment failed in each quarter of an hour of the last day, over all instances. */
export class KeepHealthHistory1763600000073 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE health_slots (
        slot_at timestamptz NOT NULL,
        part text NOT NULL,
        samples integer NOT NULL CONSTRAINT health_slots_samples_check CHECK (samples > 0),
        failing integer NOT NULL CONSTRAINT health_slots_failing_check CHECK (failing BETWEEN 0 AND samples),
        CONSTRAINT health_slots_pkey PRIMARY KEY (slot_at, part)
      )`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE health_slots');
  }
}
