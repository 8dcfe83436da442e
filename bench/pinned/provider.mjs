/**
 * A provider that answers every call with the same 1 KB of JSON, as its own process. Without Node's HTTP server it takes
 * half the CPU of upstream.mjs: load, provider and Postgres share a core, and where that is busy, calls wait for them and
 * not for the measured process.
 */
import net from 'node:net';
import { chatAnswer } from '../bodies.mjs';
import { announce } from '../processes.mjs';

const HEAD_END = '\r\n\r\n';
const LENGTH = /\r\ncontent-length: *(\d+)/i;
const body = chatAnswer();
const ANSWER = Buffer.from(
  [
    'HTTP/1.1 200 OK',
    'content-type: application/json',
    `content-length: ${body.length}`,
    'x-request-id: req_bench',
    `\r\n${body}`,
  ].join('\r\n'),
);

/** Tells when a request has ended; there is never a second one before the answer. */
class RequestReader {
  #head = '';
  #missing = 0;

  /** @returns {boolean} whether these bytes end a request */
  push(bytes) {
    if (this.#missing > 0) return this.#take(bytes.length);
    this.#head += bytes.latin1Slice();
    const end = this.#head.indexOf(HEAD_END);
    if (end === -1) return false;
    const length = Number(LENGTH.exec(this.#head)?.[1] ?? 0);
    const read = this.#head.length - end - HEAD_END.length;
    this.#head = '';
    this.#missing = length;
    return this.#take(read);
  }

  #take(count) {
    this.#missing -= count;
    return this.#missing <= 0;
  }
}

const server = net.createServer({ noDelay: true }, (socket) => {
  const reader = new RequestReader();
  socket.on('data', (bytes) => {
    if (reader.push(bytes)) socket.write(ANSWER);
  });
  socket.on('error', () => socket.destroy());
});
server.listen({ host: '127.0.0.1', port: 0, backlog: 4096 }, () => announce({ port: server.address().port }));
