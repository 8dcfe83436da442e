import { createServer, type Socket } from 'node:net';
import pg from 'pg';
import { type Loopback, listening } from '../loopback.js';

/** Type and length, where the length counts itself. */
const HEAD_BYTES = 5;
const TERMINATE = 'X'.charCodeAt(0);
const READY = 'Z'.charCodeAt(0);
const IDLE = 'I'.charCodeAt(0);

/** A connection to Postgres that is authenticated, and whose bytes nobody else reads. */
interface Backend {
  readonly client: pg.Client;
  readonly socket: Socket;
}

/**
 * A pooler in transaction mode, as PgBouncer is with `pool_mode = transaction`: a client that is not in a transaction
 * has no backend, and gets the one that became free last. Source: PostgreSQL, "Frontend/Backend Protocol".
 *
 * @param databaseUrl what every client gets, whatever it asks for.
 */
export async function startTransactionPooler(databaseUrl: string): Promise<Pick<Loopback, 'port' | 'close'>> {
  const idle: Backend[] = [];
  const all: Backend[] = [];
  const open = async (): Promise<Backend> => {
    const client = new pg.Client({ connectionString: databaseUrl });
    client.on('error', () => undefined);
    await client.connect();
    const { connection }: { connection: { stream: Socket } } = Object(client);
    const socket = connection.stream.removeAllListeners('data');
    const backend = { client, socket };
    all.push(backend);
    return backend;
  };

  const serve = async (client: Socket) => {
    const read = framesOf(client);
    let isStarted = false;
    let backend: Backend | undefined;
    for await (const frame of read(() => isStarted)) {
      if (!isStarted) {
        isStarted = true;
        client.write(greeting());
        continue;
      }
      if (frame[0] === TERMINATE) break;
      if (backend === undefined) {
        const taken = idle.pop() ?? (await open());
        backend = taken;
        const relay = relayUntilIdle(client, () => {
          taken.socket.off('data', relay);
          backend = undefined;
          idle.push(taken);
        });
        taken.socket.on('data', relay);
      }
      backend.socket.write(frame);
    }
    client.end();
  };

  const server = createServer((client) => {
    client.on('error', () => client.destroy());
    void serve(client).catch(() => client.destroy());
  });
  const { port, close } = await listening(server);
  return {
    port,
    close: async () => {
      for (const { socket } of all) socket.destroy();
      await close();
    },
  };
}

/** Messages of a client. The first one has no type, only a length. */
function framesOf(socket: Socket) {
  return async function* (isStarted: () => boolean): AsyncGenerator<Buffer> {
    let kept = Buffer.alloc(0);
    for await (const bytes of socket) {
      kept = Buffer.concat([kept, bytes]);
      for (let length = frameLength(kept, isStarted()); length <= kept.length; ) {
        const frame = kept.subarray(0, length);
        kept = kept.subarray(length);
        yield frame;
        length = frameLength(kept, isStarted());
      }
    }
  };
}

function frameLength(bytes: Buffer, hasType: boolean): number {
  const at = hasType ? 1 : 0;
  return bytes.length < at + 4 ? Number.POSITIVE_INFINITY : at + bytes.readUInt32BE(at);
}

/** Passes answers on, and tells when the backend waits for the next transaction. */
function relayUntilIdle(client: Socket, onIdle: () => void): (bytes: Buffer) => void {
  let kept = Buffer.alloc(0);
  return (bytes) => {
    kept = Buffer.concat([kept, bytes]);
    for (let length = frameLength(kept, true); length <= kept.length; length = frameLength(kept, true)) {
      const frame = kept.subarray(0, length);
      kept = kept.subarray(length);
      if (frame[0] === READY && frame[HEAD_BYTES] === IDLE) onIdle();
      client.write(frame);
    }
  };
}

/** AuthenticationOk and ReadyForQuery. */
function greeting(): Buffer {
  return Buffer.from([0x52, 0, 0, 0, 8, 0, 0, 0, 0, READY, 0, 0, 0, 5, IDLE]);
}
