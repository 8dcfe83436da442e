import { connect, createServer, type Socket } from 'node:net';
import { type Loopback, listening } from '../loopback.js';

/** Stands between a client and a server, and fails in the ways a network does. */
export interface TcpProxy extends Pick<Loopback, 'port' | 'close'> {
  /** From now on bytes are dropped in both directions while connections stay open, including new connections. */
  freeze(): void;
  /** What clients have sent since the last freeze, in Latin-1: whoever waits for an answer can be found in it. */
  swallowed(): string;
  /**
   * Passes bytes of new connections again. Dropped bytes stay lost, so frozen connections are closed. Else nothing.
   */
  thaw(): void;
  /** How many it has accepted so far. */
  connections(): number;
}

/** Starts a proxy on a free port of 127.0.0.1. */
export async function startTcpProxy(target: { host: string; port: number }): Promise<TcpProxy> {
  let frozen = false;
  let swallowed = '';
  let accepted = 0;
  const pass = (from: Socket, to: Socket, swallow: (bytes: Buffer) => void) => {
    from.on('data', (bytes) => (frozen ? swallow(bytes) : to.write(bytes)));
    from.on('error', () => to.destroy());
    from.on('close', () => to.destroy());
  };
  const server = createServer((client) => {
    accepted++;
    const upstream = connect(target.port, target.host);
    pass(client, upstream, (bytes) => {
      swallowed += bytes.toString('latin1');
    });
    pass(upstream, client, () => undefined);
  });
  const { port, cut, close } = await listening(server);
  return {
    ...{ port, close },
    freeze: () => {
      swallowed = '';
      frozen = true;
    },
    swallowed: () => swallowed,
    connections: () => accepted,
    thaw: () => {
      if (frozen) cut();
      frozen = false;
    },
  };
}
