import { appendFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type Loopback, listening } from '../loopback.js';
import { type Exchange, json, type Script } from './upstream-scripts.js';

/**
 * One request as it came off the wire. It is recorded when its head has arrived; the body follows when a script reads
 * it.
 */
interface RecordedRequest {
  readonly method: string;
  /** Path and query, still percent-encoded. */
  readonly path: string;
  /** Names and values in turn, in their order and spelling. */
  readonly rawHeaders: readonly string[];
  /** Empty until `isComplete`. */
  body: Buffer;
  isComplete: boolean;
  /** The value of the first header of this name, compared without case. */
  header(name: string): string | undefined;
}

export interface UpstreamOptions {
  /**
   * One line per request whose whole body arrived, written before the answer starts: its marker, or `-` without one.
   */
  readonly journalFile?: string;
  /** What the first requests get; by default a small priced chat completion. */
  readonly script?: Script;
}

export interface ScriptedUpstream extends Pick<Loopback, 'url' | 'openConnections' | 'close'> {
  /** Every request since the start or the last `forget()`, in order of arrival. */
  readonly requests: RecordedRequest[];
  /** Decides how requests are answered from now on. */
  script(script: Script): void;
  forget(): void;
}

/** A body carries its marker as text anywhere inside, because request headers do not survive a strict proxy. */
const MARKER = /request-marker:([\w-]+)/;

export const markerText = (marker: string): string => `request-marker:${marker}`;

/** A priced, complete chat completion: the default answer. */
export const plainCompletion = {
  id: 'chatcmpl-scripted',
  object: 'chat.completion',
  created: 1_790_000_000,
  model: 'gpt-4.1',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hello.' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 10, completion_tokens: 2, total_tokens: 12 },
};

/** Starts a provider on the loopback that does exactly what its script says. */
export async function startUpstream(options: UpstreamOptions = {}): Promise<ScriptedUpstream> {
  const requests: RecordedRequest[] = [];
  let current: Script = options.script ?? json(200, plainCompletion);
  const server = createServer((request, response) => {
    const recorded: RecordedRequest = {
      method: request.method ?? '',
      path: request.url ?? '',
      rawHeaders: request.rawHeaders,
      body: Buffer.alloc(0),
      isComplete: false,
      header: (name) => request.headersDistinct[name.toLowerCase()]?.[0],
    };
    requests.push(recorded);
    run(current, exchangeOf(request, response, recorded, options.journalFile));
  });
  server.keepAliveTimeout = 60_000;
  const { url, openConnections, close } = await listening(server);
  return {
    ...{ url, openConnections, close },
    requests,
    script: (script) => {
      current = script;
    },
    forget: () => {
      requests.length = 0;
    },
  };
}

/** A script that throws, or whose client left half-way, ends its connection; the test sees a dead provider. */
function run(script: Script, exchange: Exchange): void {
  Promise.resolve()
    .then(() => script(exchange))
    .catch(() => exchange.socket.destroy());
}

function exchangeOf(
  request: IncomingMessage,
  response: ServerResponse,
  recorded: RecordedRequest,
  journalFile: string | undefined,
): Exchange {
  let body: Promise<Buffer> | undefined;
  const readBody = async (): Promise<Buffer> => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    recorded.body = Buffer.concat(parts);
    recorded.isComplete = true;
    if (journalFile !== undefined)
      appendFileSync(journalFile, `${MARKER.exec(recorded.body.toString())?.[1] ?? '-'}\n`);
    return recorded.body;
  };
  return {
    request,
    response,
    socket: request.socket,
    body: () => {
      body ??= readBody();
      return body;
    },
  };
}
