import type { IncomingMessage } from 'node:http';
import { GatewayError, invalidRequest } from '../errors/gateway-error.js';
import type { Reason } from '../errors/reasons.js';

/** Characters of a host with a port. Source: RFC 9110 7.2, RFC 3986 3.2. */
const HOST = /^[\w.~!$&'()*+,;=%:[\]-]*$/;
/** Closes the connection, so that a body that still follows is not read as the next request. */
const CLOSE = { connection: 'close' };

const IDENTITY = 'identity';
const NO_CODINGS: ReadonlySet<string> = new Set();

/** The part of a request that is validated first. */
export type RequestHead = Pick<IncomingMessage, 'headers' | 'httpVersion' | 'rawHeaders'>;

/**
 * Refuses ambiguous or meaningless request heads that Node's parser accepts: versions other than HTTP/1.0 and HTTP/1.1;
 * repeated headers that matter; a missing host in HTTP/1.1, or an invalid one; transfer codings other than chunked, and
 * chunked in HTTP/1.0; other content codings than the route takes; unsupported expectations. Node itself would answer
 * some of these without an envelope and a log line.
 *
 * @param codings the content codings that the route takes, beside `identity`.
 * @throws invalid_request naming the header; 415 for a content coding, 417 for an expectation.
 * Source: RFC 9110 8.4, 10.1.1, 15.5.16; RFC 9112 3.2, 6.1.
 */
export function requireOneMeaning({ rawHeaders, headers, httpVersion }: RequestHead, codings = NO_CODINGS): void {
  if (httpVersion !== '1.1' && httpVersion !== '1.0') {
    throw malformed('HTTP version: must be 1.1 or 1.0', 'http_version_unsupported');
  }
  refuseRepeatedHeaders(rawHeaders);
  const { host, expect, 'transfer-encoding': coding, 'content-encoding': contentCoding } = headers;
  if (host === undefined && httpVersion !== '1.0') throw invalidRequest('host', 'header is required', 'host_missing');
  if (host !== undefined && !HOST.test(host)) throw invalidRequest('host', 'is not a host', 'host_malformed');
  if (coding !== undefined && (coding.toLowerCase() !== 'chunked' || httpVersion === '1.0')) {
    const problem = httpVersion === '1.0' ? 'is not part of HTTP/1.0' : 'must be chunked';
    throw malformed(`transfer-encoding: ${problem}`, 'transfer_coding_unsupported');
  }
  // Node joins repeated values with commas, which matches no known coding.
  if (contentCoding !== undefined) requireCoding(contentCoding.toLowerCase(), codings);
  if (expect !== undefined && expect.toLowerCase() !== '100-continue') {
    throw new GatewayError('invalid_request', {
      status: 417,
      message: 'expect: must be 100-continue',
      reason: 'expectation_unsupported',
      headers: CLOSE,
    });
  }
}

/** Names the codings that the client may send (RFC 9110 12.5.3). */
function requireCoding(coding: string, codings: ReadonlySet<string>): void {
  if (coding === IDENTITY || codings.has(coding)) return;
  const message =
    codings.size === 0
      ? 'content-encoding: must be identity; send the body as it is'
      : `content-encoding: must be one of ${[...codings].join(', ')}, or absent`;
  throw new GatewayError('invalid_request', {
    status: 415,
    message,
    reason: 'content_coding_unsupported',
    headers: { 'accept-encoding': [...codings, IDENTITY].join(', ') },
  });
}

/**
 * Refuses a request target with a fragment. Provider paths have their own rules.
 *
 * @throws invalid_request
 * Source: RFC 9110 2.5; RFC 9112 3.2.
 */
export function refuseFragment(url: string): void {
  if (url.includes('#')) throw invalidRequest('URL', 'has a fragment', 'fragment_sent');
}

/** The refusal of a message whose end is uncertain. */
function malformed(message: string, reason: Reason): GatewayError {
  return new GatewayError('invalid_request', { message, reason, headers: CLOSE });
}

/** Headers whose repetition could make two parsers see different requests. */
const SINGLE: ReadonlySet<string> = new Set([
  'authorization',
  'content-length',
  'content-type',
  'host',
  'idempotency-key',
  'transfer-encoding',
  'x-api-key',
  'x-app-version',
  'x-console-request',
  'x-goog-api-key',
  'x-idempotency-proof',
]);
/** Lengths of these names: a cheap filter that excludes almost every other header. */
const LENGTHS: ReadonlySet<number> = new Set([...SINGLE].map((name) => name.length));

/**
 * Refuses a repeated header that determines the caller or the request.
 *
 * @param rawHeaders flat list of names and values as Node received them.
 * @throws invalid_request naming the header.
 */
export function refuseRepeatedHeaders(rawHeaders: readonly string[]): void {
  let seen: string[] | undefined;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const sent = rawHeaders[at] ?? '';
    if (!LENGTHS.has(sent.length)) continue;
    const name = sent.toLowerCase();
    if (!SINGLE.has(name)) continue;
    if (seen?.includes(name)) throw invalidRequest(name, 'header is sent more than once', 'header_repeated');
    seen ??= [];
    seen.push(name);
  }
}
