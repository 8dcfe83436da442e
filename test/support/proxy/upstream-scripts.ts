import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';

/**
 * One request in progress. `body()` starts reading on its first call: a script that never calls it leaves it unread.
 */
export interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly socket: Socket;
  body(): Promise<Buffer>;
}

/** What the scripted provider does with one request. */
export type Script = (exchange: Exchange) => void | Promise<void>;

type Content = string | Buffer | object;

const EVENT_STREAM = { 'content-type': 'text/event-stream' };
const JSON_BODY = { 'content-type': 'application/json' };

const bytesOf = (content: Content): Buffer =>
  Buffer.isBuffer(content) ? content : Buffer.from(typeof content === 'string' ? content : JSON.stringify(content));

/** The wire form of one server-sent event; objects are written as JSON. */
export function event(data: string | object): string {
  return `data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`;
}

/** A whole answer with its length. A string is sent as it is, an object as JSON. */
export function json(status: number, content: Content, headers: OutgoingHttpHeaders = {}): Script {
  return async ({ body, response }) => {
    await body();
    const bytes = bytesOf(content);
    response.writeHead(status, { ...JSON_BODY, 'content-length': bytes.length, ...headers }).end(bytes);
  };
}

/** A stream of the given pieces, exactly as cut here. `delayMs` passes before each piece but the first. */
export function sse(
  chunks: readonly (string | Buffer)[],
  { delayMs = 0, headers = {} }: { delayMs?: number; headers?: OutgoingHttpHeaders } = {},
): Script {
  return async ({ body, response }) => {
    await body();
    response.writeHead(200, { ...EVENT_STREAM, ...headers });
    for (const [index, chunk] of chunks.entries()) {
      if (index > 0) await sleep(delayMs);
      if (response.destroyed) return;
      await written(response, chunk);
    }
    response.end();
  };
}

/** Resolves when the piece has left for the network, so that it is a piece of its own there. */
function written(response: ServerResponse, chunk: string | Buffer): Promise<void> {
  return new Promise((resolve) => response.write(chunk, () => resolve()));
}

/** Sends the first `byteCount` bytes of a chunked answer, then the connection dies without its end. */
export function dieAfter(
  byteCount: number,
  content: Content,
  { status = 200, headers = EVENT_STREAM }: { status?: number; headers?: OutgoingHttpHeaders } = {},
): Script {
  return async ({ body, response, socket }) => {
    await body();
    response.writeHead(status, headers);
    response.flushHeaders();
    if (byteCount > 0) await written(response, bytesOf(content).subarray(0, byteCount));
    socket.destroy();
  };
}

/** Declares `declaredBytes` and sends what it has; then the connection ends. The rest never comes, or is too much. */
export function badLength(declaredBytes: number, content: Content): Script {
  return async ({ body, socket }) => {
    await body();
    const head = `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${declaredBytes}\r\n\r\n`;
    socket.end(Buffer.concat([Buffer.from(head), bytesOf(content)]));
  };
}

/** Reads the request and never answers. */
export function silence(): Script {
  return async ({ body }) => {
    await body();
  };
}

/** The connection is reset once the request was read, before any byte of an answer. */
export function resetBeforeAnswer(): Script {
  return async ({ body, socket }) => {
    await body();
    socket.resetAndDestroy();
  };
}

/** Waits before it runs `next`, so that headers come late. */
export function slowHeaders(delayMs: number, next: Script): Script {
  return async (exchange) => {
    await exchange.body();
    await sleep(delayMs);
    if (!exchange.socket.destroyed) await next(exchange);
  };
}

/** A stream that stays open after its first piece until the test lets it go. */
export interface Hold {
  readonly script: Script;
  /** Streams open now. */
  open(): number;
  /** Sends `last` on every open stream and ends it. */
  release(last?: string | Buffer): void;
}

/** Keeps every stream it answers open until `release`. */
export function hold(first: string | Buffer): Hold {
  const held = new Set<ServerResponse>();
  return {
    script: async ({ body, response }) => {
      await body();
      response.writeHead(200, EVENT_STREAM).write(first);
      held.add(response);
      response.on('close', () => held.delete(response));
    },
    open: () => held.size,
    release: (last = event('[DONE]')) => {
      for (const response of held) response.end(last);
    },
  };
}

/** Headers only: a length of 0, or no body by definition for 204 and 304. */
export function emptyBody(status = 200, headers: OutgoingHttpHeaders = {}): Script {
  return async ({ body, response }) => {
    await body();
    response.writeHead(status, status === 204 || status === 304 ? headers : { 'content-length': 0, ...headers }).end();
  };
}

/** Compressed without being requested. */
export function unaskedGzip(content: Content, status = 200): Script {
  return async ({ body, response }) => {
    await body();
    const bytes = gzipSync(bytesOf(content));
    response.writeHead(status, { ...JSON_BODY, 'content-encoding': 'gzip', 'content-length': bytes.length }).end(bytes);
  };
}

/** Answers as soon as the request's head is there and leaves its body unread. */
export function earlyAnswer(status: number, content: Content): Script {
  return ({ response }) => {
    const bytes = bytesOf(content);
    response.writeHead(status, { ...JSON_BODY, 'content-length': bytes.length }).end(bytes);
  };
}

/** Sends interim answers (100 to 199, not 101) before the real one. */
export function informational(statuses: readonly number[], next: Script): Script {
  return async (exchange) => {
    await exchange.body();
    for (const status of statuses) exchange.socket.write(`HTTP/1.1 ${status} Interim\r\nx-interim: yes\r\n\r\n`);
    await next(exchange);
  };
}

/** Bytes that are not an HTTP answer, then the end of the connection. */
export function garbage(bytes: string | Buffer): Script {
  return async ({ body, socket }) => {
    await body();
    socket.end(bytes);
  };
}

/** A redirect, for proxies that must not follow it. */
export function redirect(status: 301 | 302 | 303 | 307 | 308, location: string): Script {
  return emptyBody(status, { location });
}

/** The first request gets the first script, and so on; the last one serves all that follow. */
export function inTurn(first: Script, ...others: readonly Script[]): Script {
  const scripts = [first, ...others];
  return (exchange) => ((scripts.length > 1 ? scripts.shift() : scripts[0]) ?? first)(exchange);
}
