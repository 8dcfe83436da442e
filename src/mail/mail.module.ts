import { Module } from '@nestjs/common';
import { AccessModule } from '../accounts/access/access.module.js';
import { MailController } from './mail.controller.js';
import { MailRepository } from './mail.repository.js';
import { MailSenderService } from './mail-sender.service.js';
import { MailSubscriptions } from './mail-subscriptions.service.js';

/**
 * Mails to members about events that they chose, and mails of invitations.
 *
 * Tables: mail_subscriptions, and mails, to which `Outbox` and `MailOutbox` of the platform add. Routes:
 * `/v1/admin/mail`. Codes: invalid_request, conflict. Log lines: mail_not_sent, mails_failed.
 */
@Module({
  imports: [AccessModule],
  controllers: [MailController],
  providers: [MailRepository, MailSenderService, MailSubscriptions],
})
export class MailModule {}
