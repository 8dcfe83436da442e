/** The kinds of redirect URIs of native and web clients. Source: RFC 8252 7, OAuth 2.1 2.3.1. */
const MAX_REDIRECT_URI = 2_048;
/** Visible ASCII, without characters that URL parsers interpret differently. */
const PLAIN = /^[\x21-\x7e]+$/;
const AMBIGUOUS = /[\\^`{}|"<>#]/;
/** Loopback hosts as a client writes them. The port, from 1 to 65535, may differ from one request to the next. */
const LOOPBACK = /^http:\/\/(127\.0\.0\.1|\[::1\]|localhost)(?::([1-9]\d{0,4}))?(\/[^?]*)?(\?.*)?$/;
const MAX_PORT = 65_535;
const HTTPS = /^https:\/\/([a-z0-9.-]+)(?::([1-9]\d{0,4}))?(?:[/?]|$)/;
/** A scheme that is a reversed domain name, such as `com.example.app`, and no authority. Source: RFC 8252 7.1. */
const PRIVATE_SCHEME = /^[a-z][a-z0-9-]*(?:\.[a-z0-9-]+)+:\/(?!\/)\S*$/;

/** A loopback redirect URI without its port. */
interface LoopbackRedirect {
  readonly host: string;
  readonly rest: string;
}

/** Whether a text can be a redirect URI: https, http on loopback, or a private scheme; without fragment or user. */
export function isRedirectUri(uri: string): boolean {
  if (uri.length > MAX_REDIRECT_URI || !PLAIN.test(uri) || AMBIGUOUS.test(uri)) return false;
  if (uri.startsWith('http://')) return loopbackOf(uri) !== undefined && isNormal(uri);
  if (uri.startsWith('https://')) return HTTPS.test(uri) && isNormal(uri);
  return PRIVATE_SCHEME.test(uri) && URL.canParse(uri);
}

/**
 * Whether a request may redirect to `sent`: byte for byte as the client declared it, except that the port of a loopback
 * listener may differ.
 *
 * Source: RFC 8252 7.3, RFC 9700 4.1.3.
 */
export function matchesRedirectUri(declared: string, sent: string): boolean {
  if (!isRedirectUri(sent)) return false;
  if (declared === sent) return true;
  const expected = loopbackOf(declared);
  const actual = loopbackOf(sent);
  return (
    expected !== undefined && actual !== undefined && expected.host === actual.host && expected.rest === actual.rest
  );
}

/** The part of a redirect URI that pages show: host and port of a web page, the scheme of any other address. */
export function redirectHost(uri: string): string {
  const { protocol, host } = new URL(uri);
  return isPage(protocol) ? host : protocol.slice(0, -1);
}

/** Whether the browser goes back to a page, and not to an application of the device. */
export function leadsToPage(uri: string): boolean {
  return isPage(new URL(uri).protocol);
}

function isPage(protocol: string): boolean {
  return protocol === 'https:' || protocol === 'http:';
}

function loopbackOf(uri: string): LoopbackRedirect | undefined {
  const [, host, port, path = '', query = ''] = LOOPBACK.exec(uri) ?? [];
  if (host === undefined || (port !== undefined && Number(port) > MAX_PORT)) return undefined;
  return { host, rest: `${path}${query}` };
}

/** Whether a URL parser finds in it exactly the host, port and path that are written there, and no user. */
function isNormal(uri: string): boolean {
  const url = URL.parse(uri);
  const [, host, path = ''] = /^[^:]+:\/\/([^/?]*)([^?]*)/.exec(uri) ?? [];
  if (url === null || host !== url.host || url.hostname.endsWith('.')) return false;
  const isAddress = /^[\d.]+$/.test(url.hostname) && url.hostname !== '127.0.0.1';
  return !isAddress && (path === '' || path === url.pathname);
}
