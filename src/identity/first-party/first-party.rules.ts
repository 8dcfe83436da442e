import { GatewayError } from '../../common/errors/gateway-error.js';

/** The console's pages send it with the session cookie, always `1`. Cross-site pages cannot set it. */
export const CONSOLE_HEADER = 'x-console-request';

/** The request head, as far as the cross-site check uses it. */
export interface FirstPartyRequest {
  readonly method: string;
  /** Whether the route refuses requests without an origin. */
  readonly requiresOrigin: boolean;
  readonly origin: string | undefined;
  /** Whether `origin` is the console's own. */
  readonly isOwnOrigin: boolean;
  /** `Sec-Fetch-Site`; pages cannot set it. */
  readonly fetchSite: string | undefined;
  readonly hasSessionCookie: boolean;
  /** Whether {@link CONSOLE_HEADER} was sent. */
  readonly hasConsoleHeader: boolean;
}

/** Values of `Sec-Fetch-Site` for requests that are not cross-site. */
const OWN_FETCH_SITES: ReadonlySet<string> = new Set(['same-origin', 'none']);

/**
 * Refuses requests that a cross-site page may have sent (CSRF and login CSRF). Browsers send `Origin` or
 * `Sec-Fetch-Site`. Other clients send neither, and send a cookie only on purpose.
 *
 * @throws forbidden
 * Source: docs/reference/management-api.md#console-requests-and-origins, docs/reference/security.md#browser-requests.
 */
export function requireFirstParty(request: FirstPartyRequest): void {
  const { method, requiresOrigin, origin, isOwnOrigin, fetchSite, hasSessionCookie, hasConsoleHeader } = request;
  if (origin !== undefined) {
    if (!isOwnOrigin) throw foreignOrigin(`The origin ${printable(origin)} is not this console's.`);
    return;
  }
  if (requiresOrigin) throw foreignOrigin("Send the console's origin in `Origin`, as browsers do.");
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
