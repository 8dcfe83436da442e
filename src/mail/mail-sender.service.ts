import { type BeforeApplicationShutdown, Injectable } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { ConsoleOrigin } from '../accounts/csrf/csrf-origins.js';
import { Clock, instantOf } from '../common/clock.js';
import { errorText } from '../common/errors/error-text.js';
import { Log } from '../common/log/log.js';
import { BackgroundDataSource } from '../platform/database/pools.js';
import { MailLinks } from '../platform/mail/mail-links.js';
import { ATTEMPT_MS, Mailer, type MailOutcome } from '../platform/mail/mailer.js';
import { EVENT_TYPES } from '../webhooks/event-types.js';
import { type DueMail, MailRepository } from './mail.repository.js';
import { isTooOld, mailEndOf } from './mail-retries.rules.js';
import { eventWords, invitationWords, type MailWords } from './mail-text.rules.js';

/** Name of the interval in the scheduler. */
const MAILS = 'mails';
const LOOK_EVERY_MS = 1_000;
/** Mails that one process sends at the same time. */
const AT_ONCE = 4;
/** How long an instance leases a mail: longer than an attempt takes. */
const LEASE_MS = 2 * ATTEMPT_MS;
/** Pause after a server did not answer. */
const PAUSE_MS = 15_000;

/**
 * Sends mails that are due, on every instance, where mail is configured. At least once: a process that is killed after
 * an attempt repeats it, with the same `Message-ID`.
 *
 * Source: docs/reference/webhooks.md#mail.
 */
@Injectable()
export class MailSenderService implements BeforeApplicationShutdown {
  #sending: Promise<void> | undefined;
  #isStopping = false;
  #pausedUntilMs = 0;

  constructor(
    private readonly mails: MailRepository,
    private readonly mailer: Mailer,
    private readonly links: MailLinks,
    private readonly origin: ConsoleOrigin,
    private readonly background: BackgroundDataSource,
    private readonly clock: Clock,
    private readonly log: Log,
  ) {}

  /** Sends what is due, unless that is in progress. Resolves when nothing is. */
  @Interval(MAILS, LOOK_EVERY_MS)
  async look(): Promise<void> {
    if (!this.mailer.isConfigured || this.#isStopping) return;
    this.#sending ??= this.sendDue()
      .catch((error: unknown) => {
        this.log.event('mails_failed', { error: errorText(error) });
      })
      .finally(() => {
        this.#sending = undefined;
      });
    await this.#sending;
  }

  /** Lets attempts in progress end; other instances, or the next start, do the rest. */
  async beforeApplicationShutdown(): Promise<void> {
    this.#isStopping = true;
    await this.#sending;
  }

  private async sendDue(): Promise<void> {
    while (!this.#isStopping && this.clock.monotonicMs() >= this.#pausedUntilMs) {
      const now = this.clock.now();
      const due = await this.mails.lease(this.background, now, instantOf(now.getTime() + LEASE_MS), AT_ONCE);
      if (due.length === 0) return;
      await Promise.all(due.map((mail) => this.deliver(mail)));
    }
  }

  private async deliver(mail: DueMail): Promise<void> {
    const outcome = await this.attempt(mail);
    if (outcome.status !== 'sent') {
      const attempts = mail.attempts + 1;
      this.log.event('mail_not_sent', { mail: mail.id, code: outcome.code, attempts });
      if (!outcome.isAnswer) this.#pausedUntilMs = this.clock.monotonicMs() + PAUSE_MS;
    }
    await this.mails.record(this.background, mail, mailEndOf(outcome.status, mail, this.clock.now()));
  }

  private async attempt(mail: DueMail): Promise<MailOutcome> {
    if (isTooOld(mail, this.clock.now())) return { status: 'refused', code: 'too_old', isAnswer: true };
    const words = this.wordsOf(mail);
    if (words === undefined || mail.address === null) return { status: 'refused', code: 'ended', isAnswer: true };
    return this.mailer.send({
      id: `mail-${mail.event_id ?? mail.invitation_id}-${mail.id}`,
      to: mail.address,
      ...words,
    });
  }

  /** Undefined when there is nothing left to report. */
  private wordsOf(mail: DueMail): MailWords | undefined {
    const { type, body, account_name: accountName, sealed_link: sealed, role, expires_at: expiresAt } = mail;
    if (type !== null && body !== null) {
      const means = Object.hasOwn(EVENT_TYPES, type) ? EVENT_TYPES[type]?.means : undefined;
      return eventWords({ means: means ?? type, accountName, body, consoleUrl: this.origin.url });
    }
    if (mail.invitation_id === null || sealed === null || role === null || expiresAt === null) return undefined;
    const link = this.links.open(mail.invitation_id, sealed)?.reveal();
    if (link === undefined) return undefined;
    return invitationWords({ accountName, inviterName: mail.inviter_name, role, expiresAt, link });
  }
}
