import type { ToldAddresses } from './told-addresses.js';

/**
 * Response headers that end here: of the connection, about the encoding we undid, about the operator's account, or with an
 * address at the provider that is for its own clients.
 */
const DROPPED: ReadonlySet<string> = new Set([
  'alt-svc',
  'azure-asyncoperation',
  'connection',
  'content-encoding',
  'content-length',
  'keep-alive',
  'nel',
  'openai-organization',
  'openai-project',
  'operation-location',
  'proxy-authenticate',
  'proxy-authentication-info',
  'proxy-connection',
  'refresh',
  'report-to',
  'reporting-endpoints',
  'server-timing',
  'set-cookie',
  'set-cookie2',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'x-goog-upload-control-url',
  'x-goog-upload-url',
]);

/** A provider's permissions for browsers are not ours: application routes have no CORS. */
const CORS_PREFIX = 'access-control-';
/** What a provider's own proxies tell each other. */
const ENVOY_PREFIX = 'x-envoy-';

/** Everything but tab, printable ASCII and the upper half of latin1. */
const NOT_SENDABLE = /[^\t\x20-\x7e\x80-\xff]/;
const ALL_NOT_SENDABLE = new RegExp(NOT_SENDABLE, 'g');

/** Header values as undici hands them over. */
export type UpstreamHeaders = Readonly<Record<string, string | string[] | undefined>>;

/**
 * The headers of the answer to the client as a flat list: the provider's, without hop-by-hop headers, cookies,
 * account names, permissions for browsers and private addresses. Values go out
 * byte for byte.
 */
export function clientHeaders(upstream: UpstreamHeaders, told: ToldAddresses): string[] {
  const headers: string[] = [];
  const listed = upstream.connection;
  const hopByHop = listed === undefined || listed === 'keep-alive' || listed === 'close' ? undefined : tokensOf(listed);
  for (const name in upstream) {
    if (DROPPED.has(name) || hopByHop?.has(name)) continue;
    if (name.startsWith(CORS_PREFIX) || name.startsWith(ENVOY_PREFIX)) continue;
    const value = upstream[name];
    if (typeof value === 'string') push(headers, name, value, told);
    else if (value !== undefined) for (const one of value) push(headers, name, one, told);
  }
  return headers;
}

function push(headers: string[], name: string, value: string, told: ToldAddresses): void {
  const text = withoutControls(value);
  if (told.mayTell(name, text)) headers.push(name, text);
}

/** Takes out what no header line can carry, so that a provider's odd text cannot break the answer. */
export function withoutControls(text: string): string {
  return NOT_SENDABLE.test(text) ? text.replaceAll(ALL_NOT_SENDABLE, '') : text;
}

/** One value of a header that should stand once; the last, as most parsers take it, when it does not. */
export function singleHeader(upstream: UpstreamHeaders, name: string): string | undefined {
  const value = upstream[name];
  return typeof value === 'string' || value === undefined ? value : value.at(-1);
}

function tokensOf(connection: string | string[]): Set<string> {
  return new Set(
    String(connection)
      .toLowerCase()
      .split(',')
      .map((token) => token.trim()),
  );
}
