import { type RequestTimings, SERVER_TIMING } from '../../common/http/gateway-request.js';
import type { SecretPatterns } from '../../providers/secret-patterns.js';
import { type ResponseHead, singleHeader } from '../connections/response-head.rules.js';
import { connectionTokens } from '../request-headers.rules.js';
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

/**
 * Builds the client's response headers as a flat list: the provider's headers without hop-by-hop headers, cookies,
 * account names, CORS permissions and private addresses. Values are unchanged.
 */
export function clientHeaders({ headers: upstream, text }: ResponseHead, redaction: AddressRedaction): string[] {
  const headers: string[] = [];
  const hopByHop = connectionTokens(upstream);
  const isSuspect = redaction.suspects(text);
  for (let at = 0; at < upstream.length; at += 2) {
    const name = upstream[at] ?? '';
    if (DROPPED.has(name) || hopByHop?.has(name)) continue;
    if (name.startsWith(CORS_PREFIX) || name.startsWith(ENVOY_PREFIX)) continue;
    const value = upstream[at + 1] ?? '';
    if (redaction.allows(name, value, isSuspect)) headers.push(name, value);
  }
  return headers;
}

/** The gateway's values for the client's head. */
interface HeadChanges {
  /** Masked in every header value and in the status text. */
  readonly secrets: SecretPatterns;
  /** Whether the body length is unchanged. */
  readonly isWhole: boolean;
  readonly timings: RequestTimings;
  readonly redaction: AddressRedaction;
}

/** Builds the head of the client's answer. */
export function answerHead(head: ResponseHead, { secrets, isWhole, timings, redaction }: HeadChanges): AnswerHead {
  const headers = clientHeaders(head, redaction);
  const isMasked = !secrets.isEmpty && secrets.mayHoldText(head.text);
  if (isMasked) for (let at = 1; at < headers.length; at += 2) headers[at] = maskText(headers[at] ?? '', secrets);
  headers.push(SERVER_TIMING, timings.header());
  const length = isWhole ? singleHeader(head.headers, 'content-length') : undefined;
  return {
    status: head.status,
    statusText: isMasked ? maskText(head.statusText, secrets) : head.statusText,
    headers,
    bodyBytes: length === undefined ? undefined : Number(length),
  };
}

export function isSuccess(status: number): boolean {
  return status >= 200 && status < 300;
}

export function isEventStream(contentType: string): boolean {
  return contentType.toLowerCase().includes('text/event-stream');
}
