import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { errorCode } from '../errors/error-code.js';
import { errorEnvelope, errorHeaders, refusalHeaders } from '../errors/error-envelope.js';
import { GatewayError } from '../errors/gateway-error.js';
import { GatewayErrorLog } from '../errors/gateway-error-log.js';
import type { Log } from '../log/log.js';
import { cutConnection } from './connections/cut-answer.js';

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

/** The latest answer of each connection. */
const ANSWERS = new WeakMap<Socket, ServerResponse>();
/** Connections whose refusal is on its way. */
const REFUSED = new WeakSet<Socket>();

/** To be called once for each request, before it is answered. */
export function noteAnswer(response: ServerResponse): void {
  ANSWERS.set(response.req.socket, response);
}

/**
 * Answers what never became a request: same envelope, same log line as every other refusal. The
 * connection is closed, because nobody knows where the next request would begin; one whose other side stays open, sending
 * or not, is given up: nothing else would ever end it.
 *
 * A request whose own body is broken is what is refused. What follows a whole one is refused behind its answer, so that no
 * client takes the refusal for that answer; in the middle of an answer, the client has left by its own doing (ADR 0030).
 */
export function refuseUnparsed(error: Error, socket: Socket, log: Log): void {
  const code = errorCode(error) ?? '';
  // The parser fails anew with everything that still comes.
  if (REFUSED.has(socket) && code !== 'ECONNRESET') return;
  const answer = ANSWERS.get(socket);
  const current = answer?.writableFinished ? undefined : answer;
  const isInMiddle = current?.headersSent && !current.writableEnded;
  if (code === 'ECONNRESET' || !socket.writable || isInMiddle) {
    cutConnection(socket);
    return;
  }
  REFUSED.add(socket);
  const refusal = REFUSALS.get(code) ?? NOT_HTTP;
  if (current === undefined) refuse(refusal, socket, log);
  else if (current.req.complete || current.headersSent) current.once('finish', () => refuse(refusal, socket, log));
  else refuseRequest(refusal, current, log);
}

function refuse(refused: ParserRefusal, socket: Socket, log: Log): void {
  if (!socket.writable) return;
  const refusal = errorOf(refused);
  const { code, reason, status } = refusal;
  log.event('gateway_error', { code, reason, status, path: '', method: '' });
  const body = errorEnvelope(refusal);
  const headers = { ...errorHeaders(refusal), 'content-length': String(Buffer.byteLength(body)) };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.end(`HTTP/1.1 ${status} ${refused.phrase}\r\n${lines.join('')}\r\n${body}`);
  giveUpSoon(socket);
}

/** In its turn, behind the answers of requests before it. */
function refuseRequest(refused: ParserRefusal, answer: ServerResponse, log: Log): void {
  const { method = '', headers, socket } = answer.req;
  const request = { raw: answer.req, method, headers };
  const refusal = errorOf(refused);
  new GatewayErrorLog(log).write(request, refusal);
  answer.once('finish', () => giveUpSoon(socket));
  answer.writeHead(refusal.status, refusalHeaders(request, refusal)).end(errorEnvelope(refusal));
}

function errorOf({ status, message }: ParserRefusal): GatewayError {
  const headers = { connection: 'close' };
  return new GatewayError('invalid_request', { status, message, headers, reason: 'http_not_parsed' });
}

function giveUpSoon(socket: Socket): void {
  const giveUp = setTimeout(() => socket.destroy(), LINGER_MS);
  socket.once('close', () => clearTimeout(giveUp));
}
