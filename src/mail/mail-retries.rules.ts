import { type Instant, instantOf } from '../common/clock.js';
import type { MailOutcome } from '../platform/mail/mailer.js';
import type { MailEnd } from './mail.repository.js';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
/** Waiting times after failed attempts. */
const RETRY_AFTER_MS = [MINUTE_MS, 5 * MINUTE_MS, 30 * MINUTE_MS, 2 * HOUR_MS, 6 * HOUR_MS, 12 * HOUR_MS];
/** Older mails are useless: a gateway without mail may have stored them. */
const MAX_AGE_MS = 24 * HOUR_MS;

/** Whether a mail is not worth sending any more. */
export function isTooOld({ created_at }: { readonly created_at: Instant }, now: Instant): boolean {
  return now.getTime() - created_at.getTime() >= MAX_AGE_MS;
}

/** What follows an attempt. @param mail before the attempt. */
export function mailEndOf(
  status: MailOutcome['status'],
  mail: { readonly attempts: number; readonly created_at: Instant },
  now: Instant,
): MailEnd {
  if (status === 'sent') return { status };
  const waitMs = RETRY_AFTER_MS[mail.attempts];
  if (status === 'refused' || waitMs === undefined || isTooOld(mail, now)) return { status: 'failed' };
  return { status: 'pending', nextAttemptAt: instantOf(now.getTime() + waitMs) };
}
