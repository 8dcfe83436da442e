import { BrokenConnection } from './broken-connection.js';
import type { HeaderList } from './response-head.rules.js';

/** A request to a provider. */
export interface SentRequest {
  readonly method: string;
  /** Path and query. */
  readonly path: string;
  /** Without `host`, `connection` and `content-length`, which the connection adds. */
  readonly headers: HeaderList;
  readonly body: Buffer | readonly Buffer[] | undefined;
  /** Time limit until the head of the response, connecting included, in milliseconds; 0 = none. */
  readonly ttfbTimeoutMs: number;
}

const LINE_END = '\r\n';
const NOT_IN_PATH = /[^\x21-\x7e\x80-\xff]/;
const NOT_IN_HEADER = /[^\t\x20-\x7e\x80-\xff]/;
/** Methods whose requests state a length even without a body (RFC 9110 section 8.6). */
const WITH_BODY: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH']);

/**
 * The head of a request as latin1, with the empty line.
 *
 * @param host for the `host` header.
 * @throws BrokenConnection `invalid_request` where a line would end within the path or a header
 */
export function requestHead({ method, path, headers, body }: SentRequest, host: string): string {
  if (NOT_IN_PATH.test(path)) throw new BrokenConnection('invalid_request', 'the path contains invalid characters');
  if (NOT_IN_HEADER.test(headers.join(' ')))
    throw new BrokenConnection('invalid_request', 'a header contains invalid characters');
  let text = `${method} ${path} HTTP/1.1\r\nhost: ${host}\r\nconnection: keep-alive\r\n`;
  for (let at = 0; at < headers.length; at += 2) text += `${headers[at]}: ${headers[at + 1]}${LINE_END}`;
  if (body !== undefined) text += `content-length: ${bytesOf(body)}${LINE_END}`;
  else if (WITH_BODY.has(method)) text += `content-length: 0${LINE_END}`;
  return text + LINE_END;
}

function bytesOf(body: Buffer | readonly Buffer[]): number {
  return Buffer.isBuffer(body) ? body.length : body.reduce((sum, piece) => sum + piece.length, 0);
}
