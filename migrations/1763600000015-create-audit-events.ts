import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The filters of a list, each with the newest entries next to each other. */
const NARROWED = {
  action: 'action',
  actor: 'actor_id',
  app: 'app_id',
  day: "((created_at AT TIME ZONE 'UTC')::date)",
};

/** Who did what in an account, with which credential. Entries outlive their targets: there are no foreign keys. */
export class CreateAuditEvents1763600000015 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE audit_events (
        id bigint GENERATED ALWAYS AS IDENTITY CONSTRAINT audit_events_pkey PRIMARY KEY,
        organization_id text NOT NULL,
        created_at timestamptz NOT NULL,
        action text NOT NULL,
        actor_id text NOT NULL,
        actor_kind text NOT NULL CONSTRAINT audit_events_actor_kind_check CHECK (actor_kind IN ('human', 'service')),
        credential_type text NOT NULL
          CONSTRAINT audit_events_credential_type_check CHECK (credential_type IN ('session', 'apiKey', 'oauth')),
        credential_id text,
        action_source text NOT NULL CONSTRAINT audit_events_source_check
          CHECK (action_source IN ('web', 'api', 'cli', 'mcp', 'system')),
        target_type text NOT NULL,
        target_id text NOT NULL,
        app_id text,
        details json
      )`);
    await runner.query('CREATE INDEX audit_events_organization_idx ON audit_events (organization_id, id)');
    for (const [name, column] of Object.entries(NARROWED)) {
      await runner.query(`CREATE INDEX audit_events_${name}_idx ON audit_events (organization_id, ${column}, id)`);
    }
    await runner.query('CREATE INDEX audit_events_created_idx ON audit_events (created_at)');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE audit_events');
  }
}
