import { type RequestTimings, SERVER_TIMING } from '../../common/http/gateway-request.js';
import type { SecretPatterns } from '../../providers/secret-patterns.js';
import { type ResponseHead, singleHeader } from '../connections/response-head.rules.js';
import { connectionTokens } from '../request-headers.rules.js';
import type { AddressRedaction } from './address-redaction.js';
import { maskText } from './answer-body.js';
import type { AnswerHead } from './client-answer.js';

/**
 * Response headers that are relayed by name: content, caching, redirection and authentication of HTTP, lifecycle,
 * versions.
 */
const RELAYED: ReadonlySet<string> = new Set([
  ...['accept-ranges', 'content-disposition', 'content-language', 'content-location', 'content-range', 'content-type'],
  ...['age', 'cache-control', 'date', 'etag', 'expires', 'last-modified', 'pragma', 'vary', 'warning'],
  ...['link', 'location', 'www-authenticate'],
  ...['deprecation', 'sunset', 'anthropic-version', 'openai-model', 'openai-version'],
  ...['cf-ray', 'x-should-retry', 'x-vercel-id'],
]);

/**
 * Response headers that are relayed by the end or a part of their name, with any provider prefix: request ids, limits
 * and their wait times, processing times.
 */
const RELAYED_KINDS = new RegExp(
  [
    '(?:^|-)(?:request-?id|correlation-id|generation-id)$',
    '(?:^|-)rate-?limits?(?:-|$)',
    '^anthropic-(?:fast|priority)-[a-z-]+-(?:limit|remaining|reset)$',
    '(?:^|-)retry-after(?:-ms)?$',
    '^(?!x-envoy-).*-(?:duration|latency|ms|time)$',
  ].join('|'),
);

/**
 * Builds the client's response headers as a flat list: those of the provider that clients use, without private
 * addresses. Everything else ends here: what concerns the connection, the host (`strict-transport-security`, cookies,
 * CORS permissions) or the provider's account. Values are unchanged. Source: docs/reference/application-api.md#answers.
 */
export function clientHeaders({ headers: upstream, text }: ResponseHead, redaction: AddressRedaction): string[] {
  const headers: string[] = [];
  const hopByHop = connectionTokens(upstream);
  const isSuspect = redaction.suspects(text);
  for (let at = 0; at < upstream.length; at += 2) {
    const name = upstream[at] ?? '';
    if (!isRelayed(name) || hopByHop?.has(name)) continue;
    const value = upstream[at + 1] ?? '';
    if (redaction.allows(name, value, isSuspect)) headers.push(name, value);
  }
  return headers;
}

function isRelayed(name: string): boolean {
  return RELAYED.has(name) || RELAYED_KINDS.test(name);
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
  headers.push(SERVER_TIMING, timings.header(), 'x-content-type-options', 'nosniff');
  // Reverse proxies hold an event stream back without it.
  if (isEventStream(singleHeader(head.headers, 'content-type') ?? '')) headers.push('x-accel-buffering', 'no');
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
