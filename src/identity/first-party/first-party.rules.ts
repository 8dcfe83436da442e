import { GatewayError } from '../../common/errors/gateway-error.js';

/** What the console's pages send with the session's cookie, always `1`; other sites' pages cannot. */
export const CONSOLE_HEADER = 'x-console-request';

/** What is known of a request before its body is read. */
export interface FirstPartyRequest {
  readonly method: string;
  /** Whether the route takes nothing without an origin. */
  readonly demandsOrigin: boolean;
  readonly origin: string | undefined;
  /** Whether `origin` is the console's own. */
  readonly isOwnOrigin: boolean;
  /** `Sec-Fetch-Site`, which pages cannot set. */
  readonly fetchSite: string | undefined;
  readonly hasSessionCookie: boolean;
  /** {@link CONSOLE_HEADER} was sent. */
  readonly hasConsoleHeader: boolean;
}

/** What a browser says of a request that no other site's page began. */
const OWN_FETCH_SITES: ReadonlySet<string> = new Set(['same-origin', 'none']);

/**
 * Refuses a request that another site's page may have made: in its visitor's name, or to sign them in as somebody else.
 * Browsers say where a request comes from; programs say nothing, and bring no cookie they did not mean to send.
 *
 * @throws forbidden
 * Source: docs/reference/management-api.md#console-requests-and-origins, docs/reference/security.md#browser-requests.
 */
export function requireFirstParty(request: FirstPartyRequest): void {
  const { method, demandsOrigin, origin, isOwnOrigin, fetchSite, hasSessionCookie, hasConsoleHeader } = request;
  if (origin !== undefined) {
    if (!isOwnOrigin) throw foreignOrigin(`The origin ${printable(origin)} is not this console's.`);
    return;
  }
  if (demandsOrigin) throw foreignOrigin("Send the console's origin in `Origin`, as browsers do.");
  if (method === 'GET' || method === 'HEAD') return;
  if (fetchSite !== undefined && !OWN_FETCH_SITES.has(fetchSite)) throw foreignOrigin('The request has no origin.');
  if (hasSessionCookie && !hasConsoleHeader) {
    throw foreignOrigin(`Send \`${CONSOLE_HEADER}: 1\` with a session cookie.`);
  }
}

function foreignOrigin(message: string): GatewayError {
  return new GatewayError('forbidden', { message, reason: 'foreign_origin' });
}

function printable(origin: string): string {
  return /^[\x21-\x7e]{1,200}$/.test(origin) ? origin : 'that was sent';
}
