import { once } from 'node:events';
import type { AddressInfo, Server, Socket } from 'node:net';

/** A server of the tests that listens on 127.0.0.1. */
export interface Loopback {
  readonly port: number;
  /** `http://127.0.0.1:<port>`, no slash at the end. */
  readonly url: string;
  openConnections(): number;
  /** Cuts every connection, and goes on listening. */
  cut(): void;
  /** Stops listening and cuts every connection. */
  close(): Promise<void>;
}

/** Makes a server listen on a free port of 127.0.0.1. */
export async function listening(server: Server): Promise<Loopback> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const cut = () => sockets.forEach((socket) => void socket.destroy());
  return {
    port,
    url: `http://127.0.0.1:${port}`,
    openConnections: () => sockets.size,
    cut,
    async close() {
      if (!server.listening) return;
      const closed = once(server, 'close');
      server.close();
      cut();
      await closed;
    },
  };
}
