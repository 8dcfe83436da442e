/** One raw client connection, one exchange at a time. */
import net from 'node:net';
import { ResponseReader } from './response-reader.mjs';

/**
 * The bytes of one POST to a target, for a user if it names users.
 *
 * @param {{ port: number, path: string, headers: Record<string, string>, userHeader?: string }} target
 */
export function requestBytes({ port, path, headers, userHeader }, body, user = 'user-0') {
  const lines = [
    `POST ${path} HTTP/1.1`,
    `host: 127.0.0.1:${port}`,
    'content-type: application/json',
    'accept: application/json, text/event-stream',
    'user-agent: bench/1',
    `content-length: ${Buffer.byteLength(body)}`,
    ...Object.entries({ ...headers, ...(userHeader && { [userHeader]: user }) }).map((pair) => pair.join(': ')),
  ];
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n${body}`);
}

const nothing = () => {};

export class Connection {
  #socket;
  #exchange = null;
  #isLost = false;

  /** `onLost` is called once when the connection ends for any reason except `destroy()`. */
  constructor(port, onLost = nothing) {
    const reader = new ResponseReader({
      onHead: (statusCode) => this.#exchange?.onHead?.(statusCode),
      onBody: (bytes) => this.#exchange?.onBody?.(bytes),
      onEnd: (statusCode) => this.#endExchange(statusCode),
    });
    this.#socket = net.connect({ host: '127.0.0.1', port, noDelay: true });
    this.#socket.on('data', (bytes) => {
      try {
        reader.push(bytes);
      } catch (error) {
        this.#socket.destroy(error);
      }
    });
    this.#socket.on('error', nothing);
    this.#socket.on('close', () => {
      reader.close();
      if (this.#isLost) return;
      this.#isLost = true;
      onLost();
    });
  }

  /** Sends one request. `onHead`, `onBody`, `onEnd` (all optional) belong to its answer. */
  send(bytes, exchange) {
    this.#exchange = exchange;
    this.#socket.write(bytes);
  }

  /** Disconnects without notice, like a client that goes away. */
  destroy() {
    this.#isLost = true;
    this.#socket.destroy();
  }

  #endExchange(statusCode) {
    const exchange = this.#exchange;
    this.#exchange = null;
    exchange?.onEnd?.(statusCode);
  }
}
