import { invalidRequest } from '../common/errors/gateway-error.js';
import { requireFilledIn } from '../common/fields/config-values.js';
import { isMetadataHost } from '../platform/outbound/address.rules.js';
import { bareHost, dialledPort, privateHostProblem } from '../platform/outbound/url-host.rules.js';
import { isModelList } from './api-style.rules.js';
import { isSafeUpstreamPath } from './path-policy.rules.js';
import { dialectOf } from './provider-dialect.js';
import type { ProviderType } from './provider-types.js';

/** Of a base URL, in characters. */
export const BASE_URL_MAX_LENGTH = 200;
const NOT_PRINTABLE_ASCII = /[^\x21-\x7e]/;
const FORBIDDEN_SIGNS = ['\\', '@', '?', '#'] as const;
const SHAPE = /^(https?):\/\/([^/]+)(\/.*)?$/i;
const TRAILING_SLASHES = /\/+$/;

/**
 * Parses the base URL of a provider instance: https on the default port of a public DNS name. Checks the text only; the
 * resolved address is checked when the connection is dialled.
 *
 * @param isTrustedHost whether `TRUSTED_PRIVATE_HOSTS` lists a host. A trusted host may use plain http, any port, an IP
 *   address or a single label. Never called for a cloud metadata address. Receives the host in lower case, an IPv6
 *   address without brackets, and the effective port.
 * @returns the canonical form: lower-case host, no default port, exactly one trailing slash.
 * @throws invalid_request at `baseUrl`, naming the violated rule.
 * Source: docs/reference/management-api.md#base-urls, docs/reference/security.md#outbound-addresses.
 */
export function parseProviderBaseUrl(raw: string, isTrustedHost: (host: string, port: number) => boolean): string {
  refuseStrangeText(raw);
  const [, scheme = '', authority = '', path = ''] = SHAPE.exec(raw) ?? refuse('must be an https URL');
  const url = parseOrigin(scheme, authority);
  if (isMetadataHost(url.hostname)) refuse('must not be a cloud metadata address');
  const host = bareHost(url.hostname);
  if (!isTrustedHost(host, dialledPort(url))) refusePrivateOrigin(url, host);
  return `${url.protocol}//${url.host}${canonicalPath(path)}`;
}

/**
 * What an operator should know of a valid base URL that ends with the part with which the paths of its type begin: calls
 * contain it twice. It is no error, because a proxy may serve such paths.
 *
 * @param baseUrl canonical.
 * @returns a sentence with the address to use instead; undefined: nothing.
 * Source: docs/reference/management-api.md#base-urls.
 */
export function baseUrlWarning(type: ProviderType, baseUrl: string): string | undefined {
  const list = dialectOf(type).inferencePaths.find(isModelList) ?? '';
  const begin = list.slice(0, list.lastIndexOf('/') + 1);
  if (begin === '' || !baseUrl.endsWith(`/${begin}`)) return undefined;
  const better = baseUrl.slice(0, -begin.length);
  return `baseUrl ends with /${begin}, which the gateway adds: calls go to ${baseUrl}${list}. Use ${better} unless the provider is there.`;
}

function refuse(problem: string): never {
  throw invalidRequest('baseUrl', problem);
}

function refuseStrangeText(raw: string): void {
  if (raw.length > BASE_URL_MAX_LENGTH) refuse(`must be at most ${BASE_URL_MAX_LENGTH} characters long`);
  if (NOT_PRINTABLE_ASCII.test(raw)) refuse('must be printable ASCII without spaces (write other names in punycode)');
  requireFilledIn(raw, 'baseUrl');
  const sign = FORBIDDEN_SIGNS.find((forbidden) => raw.includes(forbidden));
  if (sign !== undefined) refuse(`must not contain "${sign}" (no credentials, query or fragment)`);
}

function parseOrigin(scheme: string, authority: string): URL {
  // Some clients decode an escape in a host and others do not.
  if (authority.includes('%')) refuse('must not contain escapes in its host');
  const url = URL.parse(`${scheme}://${authority}/`) ?? refuse('must have a valid host and port');
  if (url.hostname.endsWith('.')) refuse('must not end its host with a dot');
  if (url.port === '0') refuse('must not use port 0');
  return url;
}

function refusePrivateOrigin(url: URL, host: string): void {
  if (url.protocol !== 'https:') refuse('must use https');
  if (url.port !== '') refuse('must use the default port');
  const problem = privateHostProblem(host);
  if (problem !== undefined) refuse(problem);
}

function canonicalPath(path: string): string {
  const below = path.replace(TRAILING_SLASHES, '').slice(1);
  if (below === '') return '/';
  if (!isSafeUpstreamPath(below))
    refuse('must have a plain path, without dot segments, empty segments or escaped slashes');
  return `/${below}/`;
}
