import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';

/** A stand-in for an HSM: it remembers what it sealed, and opens it for the same context only. */
export interface KeyServer {
  /** `http://127.0.0.1:<port>`. */
  readonly url: string;
  /** What it was asked, in order: `seal` or `open`. */
  readonly asked: string[];
  /** From now on everything is answered 503. */
  breakDown(): void;
  repair(): void;
  openConnections(): number;
  close(): Promise<void>;
}

interface Question {
  readonly text: string;
  readonly context: unknown;
}

const KEEP_ALIVE_MS = 300_000;

/** Starts it on the loopback. */
export async function startKeyServer(): Promise<KeyServer> {
  const sealed = new Map<string, Question>();
  const sockets = new Set<Socket>();
  const asked: string[] = [];
  let isBroken = false;
  const answer = (action: string, question: Question, response: ServerResponse): void => {
    if (isBroken) response.writeHead(503).end();
    else if (action === 'seal') {
      const handle = `sealed-${sealed.size + 1}`;
      sealed.set(handle, question);
      response.writeHead(200).end(handle);
    } else {
      const held = sealed.get(question.text);
      const fits = held !== undefined && JSON.stringify(held.context) === JSON.stringify(question.context);
      response.writeHead(fits ? 200 : 422).end(fits ? held.text : '');
    }
  };
  const server = createServer(async (request, response) => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    const action = (request.url ?? '').slice(1);
    asked.push(action);
    answer(action, JSON.parse(Buffer.concat(parts).toString()), response);
  });
  // Longer than any suite: a connection that ends was ended by its client.
  server.keepAliveTimeout = KEEP_ALIVE_MS;
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    breakDown: () => {
      isBroken = true;
    },
    repair: () => {
      isBroken = false;
    },
    openConnections: () => sockets.size,
    close: () =>
      new Promise((done) => {
        server.close(() => done());
        for (const socket of sockets) socket.destroy();
      }),
  };
}
