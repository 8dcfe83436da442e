import type { IncomingMessage } from 'node:http';
import { GatewayError, invalidRequest } from '../errors/gateway-error.js';
import { refuseRepeatedHeaders } from './repeated-headers.rules.js';

/** A host and its port, of the characters either may have. Source: RFC 9110 7.2, RFC 3986 3.2. */
const HOST = /^[\w.~!$&'()*+,;=%:[\]-]*$/;
/** A body that was announced and may follow is nobody's next request. */
const CLOSE = { connection: 'close' };

/** What of a request is judged before anybody looks at what it asks for. */
export type RequestHead = Pick<IncomingMessage, 'headers' | 'httpVersion' | 'rawHeaders'>;

/**
 * Refuses a request whose head has no meaning, or two, that Node's parser lets through: a header that decides and is
 * repeated; no host in HTTP/1.1, or something that is none; a coding of the body other than chunks; an expectation that
 * nobody here meets. Node itself would answer some of these without an envelope and without a line in the log.
 *
 * @throws invalid_request naming the header; 417 for an expectation.
 * Source: threats 2.1; decision 6.9; RFC 9110 10.1.1; RFC 9112 3.2, 6.1.
 */
export function requireOneMeaning({ rawHeaders, headers, httpVersion }: RequestHead): void {
  refuseRepeatedHeaders(rawHeaders);
  const { host, expect, 'transfer-encoding': coding } = headers;
  if (host === undefined && httpVersion !== '1.0') throw invalidRequest('host', 'header is required', 'host_missing');
  if (host !== undefined && !HOST.test(host)) throw invalidRequest('host', 'is not a host', 'host_malformed');
  if (coding !== undefined && coding.toLowerCase() !== 'chunked') {
    throw new GatewayError('invalid_request', {
      message: 'transfer-encoding: must be chunked',
      reason: 'transfer_coding_unsupported',
      headers: CLOSE,
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
