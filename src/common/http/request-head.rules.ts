import type { IncomingMessage } from 'node:http';
import { GatewayError, invalidRequest } from '../errors/gateway-error.js';
import { refuseRepeatedHeaders } from './repeated-headers.rules.js';

/** A host and its port, of the characters either may have. Source: RFC 9110 7.2, RFC 3986 3.2. */
const HOST = /^[\w.~!$&'()*+,;=%:[\]-]*$/;
/** A body that was announced and may follow is nobody's next request. */
const CLOSE = { connection: 'close' };

/** Tells the client what it may send instead (RFC 9110 12.5.3). */
const ACCEPT_IDENTITY = { 'accept-encoding': 'identity' };

/** What of a request is judged before anybody looks at what it asks for. */
export type RequestHead = Pick<IncomingMessage, 'headers' | 'httpVersion' | 'rawHeaders'>;

/**
 * Refuses a request whose head has no meaning, or two, that Node's parser lets through: another version than HTTP/1.0 and
 * HTTP/1.1; a header that decides and is repeated; no host in HTTP/1.1, or something that is none; a transfer
 * coding other than chunks, and chunks in HTTP/1.0; a body in a content coding, which nobody here decodes; an expectation
 * that nobody here meets. Node itself would answer some of these without an envelope and without a line in the log.
 *
 * @throws invalid_request naming the header; 415 for a content coding, 417 for an expectation.
 * Source: RFC 9110 8.4, 10.1.1, 15.5.16; RFC 9112 3.2, 6.1.
 */
export function requireOneMeaning({ rawHeaders, headers, httpVersion }: RequestHead): void {
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
  // Node joins repeated ones by commas, so that they are none that is known here.
  if (contentCoding !== undefined && contentCoding.toLowerCase() !== 'identity') {
    throw new GatewayError('invalid_request', {
      status: 415,
      message: 'content-encoding: must be identity; send the body as it is',
      reason: 'content_coding_unsupported',
      headers: ACCEPT_IDENTITY,
    });
  }
  if (expect !== undefined && expect.toLowerCase() !== '100-continue') {
    throw new GatewayError('invalid_request', {
      status: 417,
      message: 'expect: must be 100-continue',
      reason: 'expectation_unsupported',
      headers: CLOSE,
    });
  }
}

/**
 * Refuses a target with a fragment, which is no part of one. Paths of providers have rules of their own for it.
 *
 * @throws invalid_request
 * Source: RFC 9110 2.5; RFC 9112 3.2.
 */
export function refuseFragment(url: string): void {
  if (url.includes('#')) throw invalidRequest('URL', 'has a fragment', 'fragment_sent');
}

/** The refusal of a message of which nobody knows for sure where it ends. */
function malformed(message: string, reason: string): GatewayError {
  return new GatewayError('invalid_request', { message, reason, headers: CLOSE });
}
