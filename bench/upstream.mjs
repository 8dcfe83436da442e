/**
 * A provider that costs as little as possible, as its own process. It answers every POST: 1 KB of JSON with usage, or
 * an event stream when the body says `"stream": true`. The words `bench-stream-<chunks>-<intervalMs>` anywhere in the
 * body (model name or a message, so that no proxy can drop them) shape the stream; interval 0 means as fast as the
 * socket takes it. Every content chunk carries the monotonic moment it was written (see clock.mjs). A URL below
 * `/bench-fail-<status>-<delayMs>/` is answered with that status instead, after that time.
 */
import http from 'node:http';
import { chatAnswer, responsesAnswer, USAGE } from './bodies.mjs';
import { nowMs, stamp } from './clock.mjs';
import { announce } from './processes.mjs';

const DEFAULT_SHAPE = { chunks: 20, intervalMs: 20 };
const SHAPE = /bench-stream-(\d+)-(\d+)/;
const STREAM = /"stream"\s*:\s*true/;
const FAILURE = /\/bench-fail-(\d+)-(\d+)\//;
const WANTS_USAGE = /"include_usage"\s*:\s*true/;

const CHAT_ANSWER = Buffer.from(chatAnswer());
const RESPONSES_ANSWER = Buffer.from(responsesAnswer());
const failureAnswer = JSON.stringify({ error: { type: 'server_error', message: 'The bench wants it so.' } });

const event = (value) => `data: ${JSON.stringify(value)}\n\n`;
const chunkOf = (choices, extra) => ({
  id: 'chatcmpl-bench',
  object: 'chat.completion.chunk',
  created: 1_790_000_000,
  model: 'gpt-4.1',
  choices,
  ...extra,
});
const CUT = 'CUT-HERE';
const contentChunk = event(chunkOf([{ index: 0, delta: { content: CUT }, finish_reason: null }]));
const [beforeStamp, afterStamp] = contentChunk.split(CUT);
const lastChunk = event(chunkOf([{ index: 0, delta: {}, finish_reason: 'stop' }]));
const usageChunk = event(chunkOf([], { usage: USAGE }));

function answerJson(request, response) {
  const body = request.url.includes('/responses') ? RESPONSES_ANSWER : CHAT_ANSWER;
  response.writeHead(200, [
    'content-type',
    'application/json',
    'content-length',
    String(body.length),
    'x-request-id',
    'req_bench',
  ]);
  response.end(body);
}

function answerFailure(response, status, delayMs) {
  const answer = () => {
    response.writeHead(status, ['content-type', 'application/json', 'content-length', String(failureAnswer.length)]);
    response.end(failureAnswer);
  };
  if (delayMs > 0) setTimeout(answer, delayMs);
  else answer();
}

function answerStream(response, text) {
  const found = SHAPE.exec(text);
  const shape = found ? { chunks: Number(found[1]), intervalMs: Number(found[2]) } : DEFAULT_SHAPE;
  response.writeHead(200, [
    'content-type',
    'text/event-stream',
    'cache-control',
    'no-cache',
    'x-request-id',
    'req_bench',
  ]);
  const ending = `${lastChunk}${WANTS_USAGE.test(text) ? usageChunk : ''}data: [DONE]\n\n`;
  if (shape.intervalMs > 0) writePaced(response, shape, ending);
  else writeFlood(response, shape.chunks, ending);
}

function writePaced(response, { chunks, intervalMs }, ending) {
  let left = chunks;
  const writeOne = () => {
    response.write(beforeStamp + stamp(nowMs()) + afterStamp);
    left -= 1;
    if (left > 0) return;
    clearInterval(timer);
    response.end(ending);
  };
  const timer = setInterval(writeOne, intervalMs);
  response.on('close', () => clearInterval(timer));
  writeOne();
}

function writeFlood(response, chunks, ending) {
  let left = chunks;
  const writeMany = () => {
    while (left > 0) {
      left -= 1;
      if (!response.write(beforeStamp + stamp(nowMs()) + afterStamp)) {
        response.once('drain', writeMany);
        return;
      }
    }
    response.end(ending);
  };
  writeMany();
}

const server = http.createServer((request, response) => {
  const parts = [];
  request.on('data', (part) => parts.push(part));
  request.on('end', () => {
    const text = parts.length === 1 ? parts[0].latin1Slice() : Buffer.concat(parts).latin1Slice();
    const failure = FAILURE.exec(request.url);
    if (failure) answerFailure(response, Number(failure[1]), Number(failure[2]));
    else if (STREAM.test(text)) answerStream(response, text);
    else answerJson(request, response);
  });
});
server.keepAliveTimeout = 600_000;
server.listen({ host: '127.0.0.1', port: 0, backlog: 4096 }, () => announce({ port: server.address().port }));
