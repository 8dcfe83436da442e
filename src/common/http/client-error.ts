import { type IncomingMessage, type RequestListener, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { errorEnvelope, errorHeaders, refusalHeaders } from '../errors/error-answers.js';
import { GatewayError } from '../errors/gateway-error.js';
import { GatewayErrorLog } from '../errors/gateway-error-log.js';
import { systemErrorCode } from '../errors/system-error-code.js';
import type { Log } from '../log/log.js';
import { cutConnection } from './connections/cut-answer.js';

/** Time for the client to read the refusal and close. */
const LINGER_MS = 2_000;

interface ParserRefusal {
  readonly status: number;
  readonly phrase: string;
  readonly message: string;
}

/** Node's parser errors with their responses; any other error means that the bytes are not HTTP. */
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

/** The latest response of each connection. */
const ANSWERS = new WeakMap<Socket, ServerResponse>();
/** Connections with a refusal in progress. */
const REFUSED = new WeakSet<Socket>();

/** Call once per request, before its response. */
export function noteAnswer(response: ServerResponse): void {
  ANSWERS.set(response.req.socket, response);
}

/**
 * Refuses bytes that are no valid request, with the envelope and log line of every other refusal. The connection is
 * closed, because the start of the next request is unknown; if the client keeps it open, it is destroyed after
 * {@link LINGER_MS}.
 *
 * A request with a malformed body is itself refused. Malformed bytes after a complete request are refused behind its
 * response, so that the client does not take the refusal for that response; in the middle of a response, the connection
 * is cut and the client counts as disconnected (ADR 0030).
 */
export function refuseUnparsed(error: Error, socket: Socket, log: Log): void {
  const code = systemErrorCode(error) ?? '';
  // The parser reports another error for every further chunk.
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

/** Sends the refusal in order, behind the responses of earlier requests. */
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

/**
 * Routes CONNECT requests to the normal refusal of a method. Without a listener Node closes their connection without a
 * response.
 */
export function answerTunnels(serve: RequestListener): (message: IncomingMessage, socket: Socket) => void {
  return (message, socket) => {
    socket.on('error', () => socket.destroy());
    const response = new ServerResponse(message);
    response.shouldKeepAlive = false;
    response.assignSocket(socket);
    response.once('finish', () => socket.destroySoon());
    serve(message, response);
  };
}
