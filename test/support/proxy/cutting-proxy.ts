import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** Carries connections to a server of this machine, and loses them. */
export interface CuttingProxy {
  readonly port: number;
  /** Connections that were lost. */
  readonly cuts: () => number;
  stop(): Promise<void>;
}

/** @param cutAfter asked for each connection: how many bytes of the server reach the client before it is lost. */
export async function startCuttingProxy(serverPort: number, cutAfter: () => number): Promise<CuttingProxy> {
  const open = new Set<Socket>();
  let cuts = 0;
  const server = createServer((client) => {
    const upstream = connect(serverPort, '127.0.0.1');
    let left = cutAfter();
    for (const socket of [client, upstream]) {
      open.add(socket);
      socket.on('error', () => undefined).once('close', () => open.delete(socket));
    }
    client.on('data', (bytes) => upstream.write(bytes)).once('close', () => upstream.destroy());
    upstream.once('close', () => client.destroySoon());
    upstream.on('data', (bytes) => {
      client.write(bytes.subarray(0, left));
      left -= bytes.length;
      if (left > 0) return;
      cuts++;
      upstream.destroy();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    cuts: () => cuts,
    async stop() {
      for (const socket of open) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
