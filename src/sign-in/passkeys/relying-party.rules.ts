import { isIP } from 'node:net';

/** The site that a passkey belongs to. Source: WebAuthn Level 3, 5.4.2 and 13.4.9. */
export interface RelyingParty {
  /** A host name; never an IP address. */
  readonly id: string;
  /** The only origin whose pages may use it. */
  readonly origin: string;
}

const LOCALHOST = 'localhost';

/**
 * The site of a request: that of `PUBLIC_URL`, or localhost without one.
 *
 * @param publicUrl an origin.
 * @param host the `Host` header, used without `publicUrl`.
 * @param port the local port of the request's socket.
 * @returns `undefined` where browsers have no passkeys: at IP addresses, and without https except on localhost.
 */
export function relyingPartyOf(
  publicUrl: string | undefined,
  host: string | undefined,
  port: number | undefined,
): RelyingParty | undefined {
  if (publicUrl === undefined) {
    const isLocal = host?.toLowerCase() === `${LOCALHOST}:${port}`;
    return isLocal ? { id: LOCALHOST, origin: `http://${LOCALHOST}:${port}` } : undefined;
  }
  const { protocol, hostname, origin } = new URL(publicUrl);
  const isSecure = protocol === 'https:' || hostname === LOCALHOST || hostname.endsWith(`.${LOCALHOST}`);
  const isName = !hostname.startsWith('[') && isIP(hostname) === 0;
  return isSecure && isName ? { id: hostname, origin } : undefined;
}
