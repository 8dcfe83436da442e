import { invalidRequest } from '../../common/errors/gateway-error.js';
import { distinct, listOf, type Read, refined, text } from '../../common/fields/config-values.js';
import { LOOPBACK_HOSTS } from '../../platform/outbound/url-host.rules.js';

const MAX_ORIGINS = 20;
/** Fits a host of 253 characters with its scheme and port. */
const MAX_LENGTH = 280;
/** Where the web views of Capacitor and Ionic load their pages from. */
const WEB_VIEWS: ReadonlySet<string> = new Set(['capacitor://localhost', 'ionic://localhost']);
const KINDS = 'an https origin, http on this machine (localhost, 127.0.0.1, [::1]), or the origin of a web view';

/** An origin, exactly as browsers send it. */
const origin: Read<string> = refined(text({ max: MAX_LENGTH }), (sent, path) => {
  const problem = WEB_VIEWS.has(sent) ? undefined : problemOf(sent);
  if (problem !== undefined) throw invalidRequest(path, problem);
  return sent;
});

/** The origins whose pages may call an application. */
export const allowedOrigins = distinct(listOf(origin, { max: MAX_ORIGINS }), 'must not name an origin twice');

/** What is wrong with an origin, and how to write it; undefined when it is the form that browsers send. */
function problemOf(sent: string): string | undefined {
  const url = URL.parse(sent);
  if (url === null || !['https:', 'http:'].includes(url.protocol) || url.hostname.includes('*')) {
    return `must be ${KINDS}, such as "https://app.example.com"; null and wildcards are not accepted`;
  }
  if (url.protocol === 'http:' && !LOOPBACK_HOSTS.includes(url.hostname)) {
    return 'must be https; http is for localhost, 127.0.0.1 and [::1] only';
  }
  return url.origin === sent ? undefined : `must be exactly as browsers send it: "${url.origin}"`;
}
