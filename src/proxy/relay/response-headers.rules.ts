import { type RequestTimings, SERVER_TIMING } from '../../common/http/gateway-request.js';
import type { SecretPatterns } from '../../providers/secret-patterns.js';
import type { AddressRedaction } from './address-redaction.js';
import { maskText } from './answer-body.js';
import type { AnswerHead } from './client-answer.js';

/**
 * Response headers that are not relayed: connection headers, the removed encoding, the operator's account, and upload
 * or operation addresses at the provider.
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

/** CORS permissions of a provider do not apply: application routes have no CORS. */
const CORS_PREFIX = 'access-control-';
/** Internal headers between a provider's own proxies. */
const ENVOY_PREFIX = 'x-envoy-';

/** Everything except tab, printable ASCII and the upper half of latin1. */
const NOT_SENDABLE = /[^\t\x20-\x7e\x80-\xff]/;
const ALL_NOT_SENDABLE = new RegExp(NOT_SENDABLE, 'g');

/** Header values in the form undici reports them. */
export type UpstreamHeaders = Readonly<Record<string, string | string[] | undefined>>;

/**
 * Builds the client's response headers as a flat list: the provider's headers without hop-by-hop headers, cookies,
 * account names, CORS permissions and private addresses. Control characters are removed; all other bytes are unchanged.
 */
export function clientHeaders(upstream: UpstreamHeaders, redaction: AddressRedaction): string[] {
  const headers: string[] = [];
  const listed = upstream.connection;
  const hopByHop = listed === undefined || listed === 'keep-alive' || listed === 'close' ? undefined : tokensOf(listed);
  for (const name in upstream) {
    if (DROPPED.has(name) || hopByHop?.has(name)) continue;
    if (name.startsWith(CORS_PREFIX) || name.startsWith(ENVOY_PREFIX)) continue;
    const value = upstream[name];
    if (typeof value === 'string') push(headers, name, value, redaction);
    else if (value !== undefined) for (const one of value) push(headers, name, one, redaction);
  }
  return headers;
}

function push(headers: string[], name: string, value: string, redaction: AddressRedaction): void {
  const text = withoutControls(value);
  if (redaction.allows(name, text)) headers.push(name, text);
}

/** Removes characters that no header line can carry, so that invalid provider text cannot break the answer. */
function withoutControls(text: string): string {
  return NOT_SENDABLE.test(text) ? text.replaceAll(ALL_NOT_SENDABLE, '') : text;
}

/** The value of a header that should occur once; the last one of several, as most parsers choose. */
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

/** A provider's head and the gateway's values for the client's head. */
interface UpstreamHead {
  readonly status: number;
  readonly statusText: string;
  readonly headers: UpstreamHeaders;
  /** Masked in every header value and in the status text. */
  readonly secrets: SecretPatterns;
  /** Whether the body length is unchanged. */
  readonly isWhole: boolean;
  readonly timings: RequestTimings;
  readonly redaction: AddressRedaction;
}

/** Builds the head of the client's answer. */
export function answerHead({
  status,
  statusText,
  headers,
  secrets,
  isWhole,
  timings,
  redaction,
}: UpstreamHead): AnswerHead {
  const list = clientHeaders(headers, redaction);
  for (let at = 1; at < list.length; at += 2) list[at] = maskText(list[at] ?? '', secrets);
  list.push(SERVER_TIMING, timings.header());
  const length = isWhole ? singleHeader(headers, 'content-length') : undefined;
  return {
    status,
    statusText: maskText(withoutControls(statusText), secrets),
    headers: list,
    bodyBytes: length === undefined ? undefined : Number(length),
  };
}

export function isSuccess(status: number): boolean {
  return status >= 200 && status < 300;
}

export function isEventStream(contentType: string): boolean {
  return contentType.toLowerCase().includes('text/event-stream');
}
