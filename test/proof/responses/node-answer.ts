import { type IncomingMessage, request } from 'node:http';
import { Duplex } from 'node:stream';

/** The answer as read by a client. */
export interface ReadAnswer {
  readonly status: number;
  readonly statusText: string;
  /** Names in lower case, each followed by its value. */
  readonly headers: readonly string[];
  readonly body: Buffer;
  /** Whether the connection may be used again. */
  readonly isKept: boolean;
}

/** More than the gateway accepts. */
const MAX_HEAD_BYTES = 80 * 1024;

/** A connection that sends nothing on its own. */
class SilentSocket extends Duplex {
  override _read(): void {}

  override _write(_bytes: unknown, _encoding: unknown, done: () => void): void {
    done();
  }
}

/**
 * The same bytes as read by Node's own client, in its strict mode.
 *
 * @param turn resolves when the event loop has turned.
 * @param isEnded whether the connection ends after them.
 * @returns `undefined` if it has no complete answer.
 */
export async function nodeAnswer(
  method: string,
  pieces: readonly Buffer[],
  isEnded: boolean,
  turn: () => Promise<void>,
): Promise<ReadAnswer | undefined> {
  const socket = new SilentSocket();
  const body: Buffer[] = [];
  let answer: IncomingMessage | undefined;
  const call = request({
    ...{ method, insecureHTTPParser: false, maxHeaderSize: MAX_HEAD_BYTES, createConnection: () => socket },
  });
  call.maxHeadersCount = 0;
  call.shouldKeepAlive = true;
  call.on('error', () => undefined);
  call.on('upgrade', () => socket.destroy());
  call.on('response', (response) => {
    answer = response.on('error', () => undefined).on('data', (bytes: Buffer) => void body.push(bytes));
  });
  call.once('socket', () => {
    for (const piece of pieces) socket.push(piece);
    if (isEnded) socket.push(null);
  });
  call.end();
  for (let turns = 0; turns < 3; turns++) await turn();
  const isKept = call.shouldKeepAlive;
  socket.destroy();
  return answer?.complete ? readAnswer(answer, Buffer.concat(body), isKept) : undefined;
}

function readAnswer(
  { statusCode = 0, statusMessage = '', rawHeaders }: IncomingMessage,
  body: Buffer,
  isKept: boolean,
) {
  const headers = rawHeaders.map((text, at) => (at % 2 === 0 ? text.toLowerCase() : text));
  return { status: statusCode, statusText: statusMessage, headers, body, isKept };
}
