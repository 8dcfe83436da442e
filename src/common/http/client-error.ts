import type { Socket } from 'node:net';
import { errorCode } from '../errors/error-code.js';
import { errorEnvelope, errorHeaders } from '../errors/error-envelope.js';
import { GatewayError } from '../errors/gateway-error.js';
import type { Log } from '../log/log.js';

/** How long the other side has to read its refusal and close. */
const LINGER_MS = 2_000;

interface ParserRefusal {
  readonly status: number;
  readonly phrase: string;
  readonly message: string;
}

/** What Node's parser refuses, by its codes; anything else is simply not HTTP. */
const REFUSALS: ReadonlyMap<string, ParserRefusal> = new Map([
  [
    'HPE_HEADER_OVERFLOW',
    { status: 431, phrase: 'Request Header Fields Too Large', message: 'The headers are too large.' },
  ],
  [
    'ERR_HTTP_REQUEST_TIMEOUT',
    { status: 408, phrase: 'Request Timeout', message: 'The request took too long to arrive.' },
  ],
]);
const NOT_HTTP: ParserRefusal = { status: 400, phrase: 'Bad Request', message: 'The request is not valid HTTP/1.1.' };

/**
 * Answers what never became a request: same envelope, same log line as every other refusal (decision 6.9). The
 * connection is closed, because nobody knows where the next request would begin; one whose other side stays open, sending
 * or not, is given up: nothing else would ever end it (threats 10.1).
 */
export function refuseUnparsed(error: Error, socket: Socket, log: Log): void {
  const code = errorCode(error) ?? '';
  if (code === 'ECONNRESET' || !socket.writable || socket.bytesWritten > 0) {
    socket.destroy();
    return;
  }
  const { status, phrase, message } = REFUSALS.get(code) ?? NOT_HTTP;
  const refusal = new GatewayError('invalid_request', { status, message, headers: { connection: 'close' } });
  log.event('gateway_error', { code: refusal.code, reason: 'http_not_parsed', status, path: '', method: '' });
  const body = errorEnvelope(refusal);
  const headers = { ...errorHeaders(refusal), 'content-length': String(Buffer.byteLength(body)) };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.end(`HTTP/1.1 ${status} ${phrase}\r\n${lines.join('')}\r\n${body}`);
  const giveUp = setTimeout(() => socket.destroy(), LINGER_MS);
  socket.once('close', () => clearTimeout(giveUp));
}
