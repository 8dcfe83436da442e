import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import type { Instant } from '../common/clock.js';

/**
 * A mail to send. One without an address has no recipient any more: a former member, or an invitation that has ended.
 */
export interface DueMail {
  /** `bigint`, as text. */
  readonly id: string;
  readonly attempts: number;
  readonly created_at: Instant;
  readonly organization_id: string;
  readonly account_name: string;
  readonly address: string | null;
  readonly event_id: string | null;
  readonly type: string | null;
  readonly body: string | null;
  readonly invitation_id: string | null;
  readonly sealed_link: string | null;
  readonly role: string | null;
  readonly expires_at: Instant | null;
  readonly inviter_name: string | null;
}

/** What follows an attempt. */
export type MailEnd =
  | { readonly status: 'sent' | 'failed' }
  | { readonly status: 'pending'; readonly nextAttemptAt: Instant };

/** The tables mail_subscriptions and mails, to which `Outbox` and `MailOutbox` of the platform add. */
@Injectable()
export class MailRepository {
  constructor(private readonly dataSource: DataSource) {}

  /** Of a person that may have no address, or be a service. */
  async choiceOf(
    organizationId: string,
    identityId: string,
  ): Promise<{ readonly address: string | null; readonly events: readonly string[] | null }> {
    const [row] = await this.dataSource.query(CHOICE, [organizationId, identityId]);
    return row ?? { address: null, events: [] };
  }

  async choose(
    tx: EntityManager,
    {
      organizationId,
      identityId,
      events,
      at,
    }: {
      readonly organizationId: string;
      readonly identityId: string;
      readonly events: readonly string[] | null;
      readonly at: Instant;
    },
  ): Promise<void> {
    await tx.query(CHOOSE, [organizationId, identityId, events, at]);
  }

  /** With the mails on their way. */
  async end(tx: EntityManager, organizationId: string, identityId: string): Promise<void> {
    await tx.query('DELETE FROM mail_subscriptions WHERE organization_id = $1 AND identity_id = $2', [
      ...[organizationId, identityId],
    ]);
  }

  /** Leases due mails of every account to the caller; another instance gets none of them before `until`. */
  async lease(connection: DataSource, now: Instant, until: Instant, limit: number): Promise<DueMail[]> {
    const [leased]: [{ id: string }[], number] = await connection.query(LEASE, [now, limit, until]);
    if (leased.length === 0) return [];
    return connection.query(DUE, [leased.map(({ id }) => id), now]);
  }

  /** Stores what an attempt resulted in; one whose mail is gone meanwhile changes nothing. */
  async record(connection: DataSource, { id, organization_id }: DueMail, end: MailEnd): Promise<void> {
    const nextAttemptAt = end.status === 'pending' ? end.nextAttemptAt : null;
    await connection.query(RECORD, [organization_id, id, end.status, nextAttemptAt]);
  }
}

const CHOICE = `
  SELECT person.email AS address,
         CASE WHEN chosen.identity_id IS NULL THEN '{}' ELSE chosen.events END AS events
    FROM memberships member
    JOIN identities person ON person.id = member.identity_id
    LEFT JOIN mail_subscriptions chosen
      ON chosen.organization_id = member.organization_id AND chosen.identity_id = member.identity_id
   WHERE member.organization_id = $1 AND member.identity_id = $2`;
const CHOOSE = `
  INSERT INTO mail_subscriptions (organization_id, identity_id, events, updated_at) VALUES ($1, $2, $3, $4)
  ON CONFLICT (organization_id, identity_id) DO UPDATE SET events = excluded.events, updated_at = excluded.updated_at`;
const LEASE = `
  WITH due AS MATERIALIZED (
    SELECT id FROM mails WHERE status = 'pending' AND next_attempt_at <= $1
     ORDER BY next_attempt_at, id LIMIT $2 FOR UPDATE SKIP LOCKED)
  UPDATE mails SET next_attempt_at = $3 FROM due WHERE mails.id = due.id RETURNING mails.id`;
const DUE = `
  SELECT mail.id, mail.attempts, mail.created_at, mail.organization_id, account.name AS account_name,
         coalesce(invitation.email, reader.email) AS address, mail.event_id, event.type, event.body,
         mail.invitation_id, mail.sealed_link, invitation.role, invitation.expires_at, inviter.name AS inviter_name
    FROM mails mail
    JOIN organizations account ON account.id = mail.organization_id
    LEFT JOIN webhook_events event ON event.id = mail.event_id
    LEFT JOIN memberships member
      ON member.organization_id = mail.organization_id AND member.identity_id = mail.identity_id
    LEFT JOIN identities reader ON reader.id = member.identity_id
    LEFT JOIN invitations invitation
      ON invitation.id = mail.invitation_id AND invitation.organization_id = mail.organization_id
      AND invitation.accepted_at IS NULL AND invitation.revoked_at IS NULL AND invitation.expires_at > $2
    LEFT JOIN identities inviter ON inviter.id = invitation.invited_by
   WHERE mail.id = ANY ($1) ORDER BY mail.id`;
const RECORD = `
  UPDATE mails
     SET status = $3, attempts = attempts + 1, next_attempt_at = $4,
         sealed_link = CASE WHEN $4::timestamptz IS NULL THEN NULL ELSE sealed_link END
   WHERE organization_id = $1 AND id = $2 AND status = 'pending'`;
