import { connect, createServer, type Socket } from 'node:net';
import { type Loopback, listening } from '../loopback.js';

/** Stands between a client and a server, and fails in the ways a network does. */
export interface TcpProxy extends Pick<Loopback, 'port' | 'close'> {
  /** From now on bytes are swallowed in both directions while connections stay open; also for new connections. */
  freeze(): void;
  /** Passes bytes of new connections again. What was swallowed stays lost, so frozen connections are cut. */
  thaw(): void;
}

/** Starts a proxy on a free port of 127.0.0.1. */
export async function startTcpProxy(target: { host: string; port: number }): Promise<TcpProxy> {
  let frozen = false;
  const pass = (from: Socket, to: Socket) => {
    from.on('data', (bytes) => frozen || to.write(bytes));
    from.on('error', () => to.destroy());
    from.on('close', () => to.destroy());
  };
  const server = createServer((client) => {
    const upstream = connect(target.port, target.host);
    pass(client, upstream);
    pass(upstream, client);
  });
  const { port, cut, close } = await listening(server);
  return {
    ...{ port, close },
    freeze: () => {
      frozen = true;
    },
    thaw: () => {
      cut();
      frozen = false;
    },
  };
}
