import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import type { Instant } from '../../common/clock.js';
import type { Secret } from '../../common/log/secret.js';
import { MailLinks } from '../mail/mail-links.js';
import { Mailer } from '../mail/mailer.js';

/** Maximum mailed invitations per account and day: strangers must not be flooded. */
const MOST_A_DAY = 100;

/** Pending mails without an event; `src/mail` sends them. */
@Injectable()
export class MailOutbox {
  constructor(
    private readonly mailer: Mailer,
    private readonly links: MailLinks,
  ) {}

  /**
   * Stores the mail of an invitation in the transaction of the invitation.
   *
   * @returns whether there will be a mail: not without `SMTP_URL`, nor beyond 100 a day of one account.
   */
  async addInvitation(
    tx: EntityManager,
    invitation: { readonly id: string; readonly organizationId: string; readonly createdAt: Instant },
    link: Secret,
  ): Promise<boolean> {
    if (!this.mailer.isConfigured) return false;
    const { id, organizationId, createdAt } = invitation;
    const sealed = this.links.seal(id, link);
    const added = await tx.query<unknown[]>(ADD_INVITATION, [organizationId, id, sealed, createdAt, MOST_A_DAY]);
    return added.length === 1;
  }
}

const ADD_INVITATION = `
  INSERT INTO mails (organization_id, invitation_id, sealed_link, status, attempts, created_at, next_attempt_at)
  SELECT $1, $2, $3, 'pending', 0, $4, $4
   WHERE $5 > (
     SELECT count(*) FROM mails earlier
      WHERE earlier.organization_id = $1 AND earlier.invitation_id IS NOT NULL
        AND earlier.created_at > $4::timestamptz - interval '1 day')
  RETURNING 1`;
