import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Which events are mailed to members, and the pending mails. */
export class CreateMails1763600000095 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE mail_subscriptions (
        organization_id text,
        identity_id text,
        events text[],
        updated_at timestamptz NOT NULL,
        CONSTRAINT mail_subscriptions_pkey PRIMARY KEY (organization_id, identity_id),
        CONSTRAINT mail_subscriptions_member_fkey FOREIGN KEY (organization_id, identity_id)
          REFERENCES memberships ON DELETE CASCADE)`);
    await runner.query(`
      CREATE TABLE mails (
        id bigint GENERATED ALWAYS AS IDENTITY,
        organization_id text NOT NULL CONSTRAINT mails_organization_fkey REFERENCES organizations ON DELETE CASCADE,
        identity_id text,
        event_id text CONSTRAINT mails_event_fkey REFERENCES webhook_events ON DELETE CASCADE,
        invitation_id text CONSTRAINT mails_invitation_fkey REFERENCES invitations ON DELETE CASCADE,
        sealed_link text,
        status text NOT NULL CONSTRAINT mails_status_check CHECK (status IN ('pending', 'sent', 'failed')),
        attempts integer NOT NULL,
        created_at timestamptz NOT NULL,
        next_attempt_at timestamptz,
        CONSTRAINT mails_pkey PRIMARY KEY (id),
        CONSTRAINT mails_event_key UNIQUE (event_id, identity_id),
        CONSTRAINT mails_subscription_fkey FOREIGN KEY (organization_id, identity_id)
          REFERENCES mail_subscriptions ON DELETE CASCADE,
        CONSTRAINT mails_subject_check CHECK (
          (event_id IS NULL) = (identity_id IS NULL) AND (event_id IS NULL) <> (invitation_id IS NULL)),
        CONSTRAINT mails_next_check CHECK ((status = 'pending') = (next_attempt_at IS NOT NULL)),
        CONSTRAINT mails_link_check CHECK ((status = 'pending' AND invitation_id IS NOT NULL) = (sealed_link IS NOT NULL)))`);
    await runner.query("CREATE INDEX mails_due_idx ON mails (next_attempt_at) WHERE status = 'pending'");
    await runner.query('CREATE INDEX mails_organization_idx ON mails (organization_id, identity_id)');
    await runner.query('CREATE INDEX mails_invitation_idx ON mails (invitation_id) WHERE invitation_id IS NOT NULL');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE mails');
    await runner.query('DROP TABLE mail_subscriptions');
  }
}
