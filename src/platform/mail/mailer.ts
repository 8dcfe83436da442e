import { Injectable } from '@nestjs/common';
import type { Transporter } from 'nodemailer';
import { Environment } from '../config/environment.js';
import { hostAndPort } from '../outbound/url-host.rules.js';
import { isPlainAddress } from './smtp-settings.rules.js';

const CONNECT_MS = 10_000;
/** How long the server may stay silent. */
const SILENCE_MS = 15_000;
/** How long an attempt may take in total. */
export const ATTEMPT_MS = 45_000;

/** A mail in plain text. */
export interface Mail {
  /** Before the `@` of its `Message-ID`: the same at each attempt, so that duplicates are recognisable. */
  readonly id: string;
  readonly to: string;
  /** Without control characters. */
  readonly subject: string;
  readonly text: string;
}

/**
 * `refused`: the server will never accept this mail. `failed`: a later attempt may succeed. The code is that of the
 * server, or of the connection.
 */
export type MailOutcome =
  | { readonly status: 'sent' }
  | { readonly status: 'refused' | 'failed'; readonly code: string; readonly isAnswer: boolean };

/** Sends mails by `SMTP_URL`. Source: docs/reference/webhooks.md#mail. */
@Injectable()
export class Mailer {
  constructor(private readonly environment: Environment) {}

  /** Whether mails can be sent at all. */
  get isConfigured(): boolean {
    return this.environment.SMTP_URL !== undefined;
  }

  /** One attempt, on a separate connection; ends within {@link ATTEMPT_MS}. */
  async send({ id, to, subject, text }: Mail): Promise<MailOutcome> {
    const { MAIL_FROM: from } = this.environment;
    if (from === undefined) throw new Error('mail is not configured');
    if (!isPlainAddress(to)) return { status: 'refused', code: 'address', isAnswer: true };
    const transport = await this.connect();
    const deadline = setTimeout(() => transport.close(), ATTEMPT_MS);
    try {
      await transport.sendMail({
        ...{ from, to: { name: '', address: to }, subject, text },
        messageId: `<${id}@${from.address.slice(from.address.lastIndexOf('@') + 1)}>`,
        headers: { 'Auto-Submitted': 'auto-generated' },
      });
      return { status: 'sent' };
    } catch (error) {
      return outcomeOf(error);
    } finally {
      clearTimeout(deadline);
      transport.close();
    }
  }

  /** A plain connection only to hosts that the operator trusts. */
  private async connect(): Promise<Transporter> {
    const { SMTP_URL: server, TRUSTED_PRIVATE_HOSTS: trusted } = this.environment;
    if (server === undefined) throw new Error('mail is not configured');
    const { createTransport } = await import('nodemailer');
    const { host, port, isTls, login } = server;
    return createTransport({
      ...{ host, port, secure: isTls, requireTLS: !isTls && !trusted.allowsHost(hostAndPort(host, String(port))) },
      ...(login !== undefined && { auth: { user: login.user, pass: login.password.reveal() } }),
      ...{
        connectionTimeout: CONNECT_MS,
        greetingTimeout: SILENCE_MS,
        socketTimeout: SILENCE_MS,
        dnsTimeout: CONNECT_MS,
      },
      ...{ disableFileAccess: true, disableUrlAccess: true },
    });
  }
}

/** A recipient or message that the server refuses permanently; a wrong password is for the operator to fix. */
function outcomeOf(error: unknown): MailOutcome {
  const { code, responseCode } = Object(error) as { readonly code?: unknown; readonly responseCode?: unknown };
  const isAnswer = typeof responseCode === 'number';
  const isForGood = isAnswer && responseCode >= 500 && (code === 'EENVELOPE' || code === 'EMESSAGE');
  const shown = isAnswer ? String(responseCode) : typeof code === 'string' ? code : 'unknown';
  return { status: isForGood ? 'refused' : 'failed', code: shown, isAnswer };
}
