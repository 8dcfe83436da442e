import type { Instant } from '../common/clock.js';

const MAX_NAME = 80;
const MAX_VALUE = 300;
const MAX_LINES = 60;
/** Control, format and direction characters, line ends among them. */
const UNSEEN = /[\p{C}\p{Zl}\p{Zp}]+/gu;
/** What mail programs turn into links: a scheme, or a name with a domain. */
const LINK = /:\/\/|(?<=\S)[.:/\\@]+(?=\p{L})/gu;

/** The words of a mail. */
export interface MailWords {
  readonly subject: string;
  readonly text: string;
}

/** Text from others on one line, which no mail program turns into a header or a link. */
export function plainWords(text: string, max = MAX_VALUE): string {
  const line = text.replaceAll(UNSEEN, ' ').replaceAll(LINK, '$& ').replaceAll(/\s+/g, ' ').trim();
  const characters = Array.from(line);
  return characters.length > max ? `${characters.slice(0, max - 1).join('')}…` : line;
}

/** An event as it is mailed. */
export interface MailedEvent {
  /** What happened, as a sentence. */
  readonly means: string;
  readonly accountName: string;
  /** As webhooks send it. */
  readonly body: string;
  readonly consoleUrl: string;
}

/** The mail of an event: what happened and where, then every fact of it. */
export function eventWords({ means, accountName, body, consoleUrl }: MailedEvent): MailWords {
  const { type, timestamp, data } = JSON.parse(body) as { type: string; timestamp: string; data: object };
  const account = plainWords(accountName, MAX_NAME);
  const facts = factsOf(data);
  const rest = facts.length - MAX_LINES;
  return {
    subject: `${plainWords(means).replace(/\.$/, '')} (${account})`,
    text: [
      ...[plainWords(means), ''],
      ...[`Account: ${account}`, `Event: ${type}`, `Time: ${timestamp}`],
      ...facts.slice(0, MAX_LINES),
      ...(rest > 0 ? [`${rest} more details are in the audit trail.`] : []),
      ...['', `Audit trail: ${consoleUrl}/audit`, `Choose your mails: ${consoleUrl}/settings/mail`],
    ].join('\n'),
  };
}

/** A line for each value, as `details.name: Deployment`; nulls are left out. */
function factsOf(value: unknown, path = ''): string[] {
  if (value === null || value === undefined) return [];
  if (typeof value !== 'object') return [`${path}: ${plainWords(String(value))}`];
  return Object.entries(value).flatMap(([name, member]) => {
    const shown = plainWords(name, MAX_NAME);
    return factsOf(member, path === '' ? shown : `${path}.${shown}`);
  });
}

/** An invitation as it is mailed. */
export interface MailedInvitation {
  readonly accountName: string;
  readonly inviterName: string | null;
  readonly role: string;
  readonly expiresAt: Instant;
  readonly link: string;
}

/** The mail of an invitation. The recipient does not know the gateway: names given by others are in quotes. */
export function invitationWords({ accountName, inviterName, role, expiresAt, link }: MailedInvitation): MailWords {
  const account = plainWords(accountName, MAX_NAME);
  const inviter = inviterName === null ? 'A member' : `“${plainWords(inviterName, MAX_NAME)}”`;
  return {
    subject: `Invitation to “${account}”`,
    text: [
      `${inviter} invites you to the account “${account}” on an AI gateway, as ${role}.`,
      ...['', `Accept with this link, once, until ${expiresAt.toISOString().slice(0, 10)} (UTC):`, link],
      ...['', 'If you do not expect this, ignore it: without the link nothing happens.'],
    ].join('\n'),
  };
}
