import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { Secret } from '../../common/log/secret.js';
import { parseIp, unmapped } from '../../platform/outbound/address.rules.js';

const BEARER = /^bearer +(\S+)$/i;
/** Headers that proxies add. */
const FORWARDING = /^(?:x-forwarded(?:-.+)?|forwarded|via|x-real-ip)$/;

/**
 * True for a request from this machine: the peer has a loopback address and is not a proxy. Headers never make a peer
 * local; forwarding headers reveal a proxy, whose clients may be anywhere.
 *
 * @param peer the remote address of the socket.
 */
export function isLocalRequest(peer: string | undefined, headers: IncomingHttpHeaders): boolean {
  const address = parseIp(peer ?? '');
  if (address === undefined || unmapped(address).range() !== 'loopback') return false;
  return !Object.keys(headers).some((name) => FORWARDING.test(name));
}

/** True when an `Authorization` header carries the token; compares in constant time. */
export function carriesToken(authorization: string | undefined, token: Secret): boolean {
  const given = BEARER.exec(authorization ?? '')?.[1] ?? '';
  return timingSafeEqual(digestOf(given), digestOf(token.reveal()));
}

function digestOf(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
