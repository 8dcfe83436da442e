import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';

/** Stands between a client and a server, and fails in the ways a network does. */
export interface TcpProxy {
  readonly port: number;
  /** From now on bytes are swallowed in both directions while connections stay open; also for new connections. */
  freeze(): void;
  /** What clients have sent since the last freeze, in Latin-1: whoever waits for an answer can be found in it. */
  swallowed(): string;
  /** Passes bytes of new connections again. What was swallowed stays lost, so frozen connections are cut. */
  thaw(): void;
  /** How many it has accepted so far. */
  connections(): number;
  close(): Promise<void>;
}

/** Starts a proxy on a free port of 127.0.0.1. */
export async function startTcpProxy(target: { host: string; port: number }): Promise<TcpProxy> {
  const sockets = new Set<Socket>();
  let frozen = false;
  let swallowed = '';
  let accepted = 0;
  const pass = (from: Socket, to: Socket, swallow: (bytes: Buffer) => void) => {
    sockets.add(from);
    from.on('data', (bytes) => (frozen ? swallow(bytes) : to.write(bytes)));
    from.on('error', () => to.destroy());
    from.on('close', () => {
      sockets.delete(from);
      to.destroy();
    });
  };
  const server = createServer((client) => {
    accepted++;
    const upstream = connect(target.port, target.host);
    pass(client, upstream, (bytes) => {
      swallowed += bytes.toString('latin1');
    });
    pass(upstream, client, () => undefined);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const cutAll = () => sockets.forEach((socket) => void socket.destroy());
  return {
    port: portOf(server.address()),
    freeze: () => {
      swallowed = '';
      frozen = true;
    },
    swallowed: () => swallowed,
    connections: () => accepted,
    thaw: () => {
      cutAll();
      frozen = false;
    },
    close: async () => {
      server.close();
      cutAll();
      await once(server, 'close');
    },
  };
}

function portOf(address: ReturnType<ReturnType<typeof createServer>['address']>): number {
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}
