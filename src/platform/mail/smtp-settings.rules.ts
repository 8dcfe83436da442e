import { Secret } from '../../common/log/secret.js';

/** A server that accepts mails. */
export interface SmtpServer {
  readonly host: string;
  readonly port: number;
  /** TLS from the first byte; else by STARTTLS. */
  readonly isTls: boolean;
  readonly login: { readonly user: string; readonly password: Secret } | undefined;
}

/** Of RFC 8314 and RFC 6409. */
const PORTS: Readonly<Record<string, number>> = { 'smtps:': 465, 'smtp:': 587 };
/** No quotes, groups or lists: only a plain address is valid. */
const ADDRESS = /^[^\s\p{C}<>()[\]\\,;:"@]{1,64}@[^\s\p{C}<>()[\]\\,;:"@]{1,255}$/u;
const NAMED = /^(?<name>[^<>"\p{C}]*)<(?<address>[^<>]+)>$/u;

/**
 * Reads `SMTP_URL`: `smtps://user:password@host:port`, or `smtp://` for STARTTLS.
 *
 * @throws Error what is wrong with it, without repeating it.
 */
export function parseSmtpUrl(text: string): SmtpServer {
  const url = URL.parse(text.trim());
  const usualPort = PORTS[url?.protocol ?? ''];
  if (url === null || usualPort === undefined || url.hostname === '') {
    throw new Error('must be smtps://user:password@host, or smtp:// for STARTTLS');
  }
  if (!['', '/'].includes(url.pathname) || url.search !== '' || url.hash !== '') {
    throw new Error('must not have a path, query or fragment');
  }
  if ((url.username === '') !== (url.password === '')) throw new Error('must have a user and a password, or neither');
  return {
    host: url.hostname.replace(/^\[(.*)\]$/, '$1'),
    port: url.port === '' ? usualPort : Number(url.port),
    isTls: url.protocol === 'smtps:',
    login:
      url.username === '' ? undefined : { user: decoded(url.username), password: new Secret(decoded(url.password)) },
  };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new Error('must have user and password percent-encoded');
  }
}

/** The sender of mails. */
export interface MailSender {
  readonly name: string;
  readonly address: string;
}

/** Reads `MAIL_FROM`: an address, or `Name <address>`. @throws Error what is wrong with it. */
export function parseMailFrom(text: string): MailSender {
  const { name = '', address = text.trim() } = NAMED.exec(text.trim())?.groups ?? {};
  if (!isPlainAddress(address)) throw new Error('must be an address, or Name <address>');
  return { name: name.trim(), address };
}

/** Whether a text is one address, which no parser of headers reads as anything else. */
export function isPlainAddress(text: string): boolean {
  return ADDRESS.test(text);
}
