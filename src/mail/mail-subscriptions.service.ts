import { Injectable } from '@nestjs/common';
import type { AdminPrincipal } from '../accounts/access/admin-principal.js';
import { ConfigurationWrites } from '../accounts/audit/configuration-writes.js';
import { Clock } from '../common/clock.js';
import { GatewayError } from '../common/errors/gateway-error.js';
import { Mailer } from '../platform/mail/mailer.js';
import { parseEventFilter } from '../webhooks/webhook.rules.js';
import { MailRepository } from './mail.repository.js';

/** Which events of an account are mailed to a member. */
export interface MailChoice {
  /** Whether the gateway sends mail at all. */
  readonly isConfigured: boolean;
  readonly address: string | null;
  /** Empty: nothing. Null: every event. */
  readonly events: readonly string[] | null;
}

/** Members choose which events of an account are mailed to them. Source: docs/reference/webhooks.md#mail. */
@Injectable()
export class MailSubscriptions {
  constructor(
    private readonly mails: MailRepository,
    private readonly mailer: Mailer,
    private readonly writes: ConfigurationWrites,
    private readonly clock: Clock,
  ) {}

  async get({ organizationId, identityId }: AdminPrincipal): Promise<MailChoice> {
    const { address, events } = await this.mails.choiceOf(organizationId, identityId);
    return { isConfigured: this.mailer.isConfigured, address, events };
  }

  /**
   * @param sent a filter as that of a webhook; an empty list ends the mails, pending ones too.
   * @throws invalid_request at `events`; conflict mail is not configured, or the member has no address.
   */
  async set(admin: AdminPrincipal, sent: unknown): Promise<MailChoice> {
    const { organizationId, identityId } = admin;
    const isEnd = Array.isArray(sent) && sent.length === 0;
    const events = isEnd ? [] : parseEventFilter(sent);
    const before = await this.get(admin);
    if (!isEnd) requirePossible(before);
    await this.writes.run(admin, async (tx) => {
      if (isEnd) await this.mails.end(tx, organizationId, identityId);
      else await this.mails.choose(tx, { organizationId, identityId, events, at: this.clock.now() });
      return {
        result: undefined,
        entry: {
          ...{ action: 'mail.changed', targetType: 'member', targetId: identityId },
          details: { events: events === null ? 'all' : events.join(' ').slice(0, MAX_DETAIL) },
        },
      };
    });
    return { ...before, events };
  }
}

const MAX_DETAIL = 1_000;

function requirePossible({ isConfigured, address }: MailChoice): void {
  if (!isConfigured) {
    throw new GatewayError('conflict', {
      message: 'This gateway sends no mail: its operator can set SMTP_URL.',
      reason: 'mail_not_configured',
    });
  }
  if (address === null) {
    throw new GatewayError('conflict', { message: 'You have no e-mail address.', reason: 'no_mail_address' });
  }
}
