/**
 * A provider that costs as little as possible, as its own process. It answers every POST with 1 KB of JSON with usage,
 * or with an event stream when the body says `"stream": true`; the words `bench-stream-<chunks>-<intervalMs>` in the
 * body shape the stream. Every content chunk carries the monotonic moment it was written (see clock.mjs).
 *
 * Without Node's HTTP server it takes half the CPU: load, provider and Postgres share a core, and where that is busy,
 * calls wait for them and not for the measured process.
 */
import net from 'node:net';
import { chatAnswer, USAGE } from './bodies.mjs';
import { nowMs, stamp } from './clock.mjs';
import { announce } from './processes.mjs';

const HEAD_END = '\r\n\r\n';
const LENGTH = /\r\ncontent-length: *(\d+)/i;
const STREAM = /"stream"\s*:\s*true/;
const SHAPE = /bench-stream-(\d+)-(\d+)/;
const WANTS_USAGE = /"include_usage"\s*:\s*true/;

const headOf = (type, framing) =>
  `HTTP/1.1 200 OK\r\ncontent-type: ${type}\r\n${framing}\r\nx-request-id: req_bench\r\n\r\n`;
const json = chatAnswer();
const ANSWER = Buffer.from(headOf('application/json', `content-length: ${json.length}`) + json);
const STREAM_HEAD = headOf('text/event-stream', 'transfer-encoding: chunked');

const framed = (text) => `${text.length.toString(16)}\r\n${text}\r\n`;
const eventOf = (choices, extra) => {
  const event = { id: 'chatcmpl-bench', object: 'chat.completion.chunk', created: 1_790_000_000, model: 'gpt-4.1' };
  return `data: ${JSON.stringify({ ...event, choices, ...extra })}\n\n`;
};
const CUT = 'CUT-HERE';
const [beforeStamp, afterStamp] = eventOf([{ index: 0, delta: { content: CUT }, finish_reason: null }]).split(CUT);
const LAST = eventOf([{ index: 0, delta: {}, finish_reason: 'stop' }]);
const USAGE_EVENT = eventOf([], { usage: USAGE });

/** One connection; there is never a second request before the response. */
class Exchange {
  #socket;
  #text = '';
  #timer;

  constructor(socket) {
    this.#socket = socket;
    socket.on('data', (bytes) => this.#read(bytes));
    socket.on('error', () => socket.destroy());
    socket.on('close', () => clearInterval(this.#timer));
  }

  #read(bytes) {
    this.#text += bytes.latin1Slice();
    const end = this.#text.indexOf(HEAD_END);
    if (end === -1) return;
    const length = Number(LENGTH.exec(this.#text)?.[1] ?? 0);
    if (this.#text.length < end + HEAD_END.length + length) return;
    const text = this.#text;
    this.#text = '';
    if (STREAM.test(text)) this.#stream(text);
    else this.#socket.write(ANSWER);
  }

  #stream(text) {
    const [, chunks, intervalMs] = SHAPE.exec(text).map(Number);
    const ending = `${LAST}${WANTS_USAGE.test(text) ? USAGE_EVENT : ''}data: [DONE]\n\n`;
    let left = chunks;
    const writeOne = (before) => {
      this.#socket.write(before + framed(beforeStamp + stamp(nowMs()) + afterStamp));
      left -= 1;
      if (left > 0) return;
      clearInterval(this.#timer);
      this.#socket.write(`${framed(ending)}0\r\n\r\n`);
    };
    this.#timer = setInterval(writeOne, intervalMs, '');
    writeOne(STREAM_HEAD);
  }
}

const server = net.createServer({ noDelay: true }, (socket) => new Exchange(socket));
server.listen({ host: '127.0.0.1', port: 0, backlog: 4096 }, () => announce({ port: server.address().port }));
