import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { Secret } from '../common/log/secret.js';
import { parseIp, unmapped } from '../platform/outbound/address.rules.js';

const BEARER = /^bearer +(\S+)$/i;
/** What proxies add to the requests they pass on. */
const FORWARDING = /^(?:x-forwarded(?:-.+)?|forwarded|via|x-real-ip)$/;

/**
 * Whether a request was made on this machine: its peer has a loopback address and passes nothing on for others. No header
 * makes a peer local; some tell that it is a proxy, whose clients may be anywhere.
 *
 * @param peer address of the socket's other end.
 */
export function isLocalRequest(peer: string | undefined, headers: IncomingHttpHeaders): boolean {
  const address = parseIp(peer ?? '');
  if (address === undefined || unmapped(address).range() !== 'loopback') return false;
  return !Object.keys(headers).some((name) => FORWARDING.test(name));
}

/** Whether an `Authorization` header carries the token; takes the same time whatever it carries. */
export function carriesToken(authorization: string | undefined, token: Secret): boolean {
  const given = BEARER.exec(authorization ?? '')?.[1] ?? '';
  return timingSafeEqual(digestOf(given), digestOf(token.reveal()));
}

function digestOf(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
