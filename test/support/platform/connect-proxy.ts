import { createServer, type RequestListener } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { connect, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { type Loopback, listening } from '../loopback.js';

interface ConnectProxyOptions {
  /** `user:password`, as `admits` changes it. */
  readonly credentials?: string;
  /** TLS to the proxy itself. */
  readonly tls?: { readonly cert: string; readonly key: string };
}

/** How it answers the next CONNECT: by its rules, with a status, or not at all. */
type Behaviour = 'connect' | 'silent' | 403 | 502;

/** A proxy like an operator's, which resolves every name: it connects to the port on 127.0.0.1. */
export interface ConnectProxy extends Pick<Loopback, 'port' | 'openConnections' | 'close'> {
  /** The `host:port` of each CONNECT, in order of arrival, refused ones included. */
  readonly targets: string[];
  /** The requests other than CONNECT. */
  readonly others: string[];
  behave(behaviour: Behaviour): void;
  /** From now on it answers 407 without this `user:password`; before the first time everybody may use it. */
  admits(credentials: string): void;
}

/** Starts a proxy on a free port of 127.0.0.1. */
export async function startConnectProxy(options: ConnectProxyOptions = {}): Promise<ConnectProxy> {
  const targets: string[] = [];
  const others: string[] = [];
  let behaviour: Behaviour = 'connect';
  let { credentials } = options;
  const { tls } = options;
  const refuse: RequestListener = (request, response) => {
    others.push(`${request.method} ${request.url}`);
    response.writeHead(405).end();
  };
  const server = tls === undefined ? createServer(refuse) : createTlsServer(tls, refuse);
  server.on('connect', ({ url = '', headers }, client: Socket, rest: Buffer) => {
    client.on('error', () => undefined);
    targets.push(url);
    if (behaviour === 'silent') return;
    const expected = credentials && `Basic ${Buffer.from(credentials).toString('base64')}`;
    if (headers['proxy-authorization'] !== expected) answer(client, 407);
    else if (behaviour === 'connect') join(client, rest, Number(new URL(`http://${url}`).port || 80));
    else answer(client, behaviour);
  });
  const { port, openConnections, close } = await listening(server);
  return {
    ...{ port, openConnections, close, targets, others },
    behave: (next) => {
      behaviour = next;
    },
    admits: (next) => {
      credentials = next;
    },
  };
}

function answer(client: Duplex, status: number): void {
  client.end(`HTTP/1.1 ${status} Refused\r\nContent-Length: 7\r\n\r\nrefused`);
}

function join(client: Duplex, rest: Buffer, port: number): void {
  const server = connect(port, '127.0.0.1', () => {
    client.write('HTTP/1.1 200 Connection established\r\n\r\n');
    server.write(rest);
    server.pipe(client);
    client.pipe(server);
  });
  server.on('error', () => answer(client, 502));
  client.on('close', () => server.destroy());
  server.on('close', () => client.destroy());
}
