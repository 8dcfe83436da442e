/**
 * The yardstick: the least a Node process can do and still be a proxy, as its own process. `node:http` in, an undici
 * pool's dispatcher out, flat header lists, back-pressure both ways, the answer's content-length kept, the upstream
 * call cancelled when the client leaves. It knows nothing of credentials, policy, prices or usage.
 *
 * After a message `{ computeUs }` each call also computes for so many microseconds, without memory of its own: the
 * least that a proxy of that cost does to latency.
 */
import http from 'node:http';
import { Pool } from 'undici';
import { announce } from './processes.mjs';

const HOP_BY_HOP = new Set(['connection', 'host', 'keep-alive', 'transfer-encoding', 'upgrade', 'te', 'trailer']);
const [upstreamOrigin] = process.argv.slice(2);
let computeMs = 0;
process.on('message', ({ computeUs }) => {
  computeMs = computeUs / 1e3;
});
const pool = new Pool(upstreamOrigin, { pipelining: 1, headersTimeout: 120_000, bodyTimeout: 0 });

/** A flat header list without the hop-by-hop names. */
function endToEnd(rawHeaders) {
  const kept = [];
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i].toString('latin1');
    if (!HOP_BY_HOP.has(name.toLowerCase())) kept.push(name, rawHeaders[i + 1].toString('latin1'));
  }
  return kept;
}

/** Relays one response. A refused write pauses the upstream until the client's socket has drained. */
class Relay {
  #response;
  #controller = null;

  constructor(response) {
    this.#response = response;
    response.on('close', () => {
      if (!response.writableFinished) this.#controller?.abort(new Error('the client left'));
    });
  }

  onRequestStart(controller) {
    this.#controller = controller;
    if (this.#response.destroyed) controller.abort(new Error('the client left'));
  }

  onResponseStart(controller, statusCode) {
    this.#response.writeHead(statusCode, endToEnd(controller.rawHeaders));
  }

  onResponseData(controller, chunk) {
    if (this.#response.write(chunk)) return;
    controller.pause();
    this.#response.once('drain', () => controller.resume());
  }

  onResponseEnd() {
    this.#response.end();
  }

  onResponseError() {
    if (this.#response.headersSent) this.#response.destroy();
    else this.#response.writeHead(502).end();
  }
}

/** Keeps the processor busy for the given time. */
function compute(durationMs) {
  const untilMs = performance.now() + durationMs;
  while (performance.now() < untilMs);
}

function forward(request, response, body) {
  if (computeMs > 0) compute(computeMs);
  pool.dispatch(
    { path: request.url, method: request.method, headers: endToEnd(request.rawHeaders), body },
    new Relay(response),
  );
}

const server = http.createServer((request, response) => {
  const parts = [];
  request.on('data', (part) => parts.push(part));
  request.on('end', () => forward(request, response, parts.length === 1 ? parts[0] : Buffer.concat(parts)));
});
server.keepAliveTimeout = 600_000;
server.listen({ host: '127.0.0.1', port: 0, backlog: 4096 }, () => announce({ port: server.address().port }));
