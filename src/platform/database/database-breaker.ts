import { Socket } from 'node:net';
import pg from 'pg';
import type { DataSource } from 'typeorm';
import { SilentConnectionError } from './connection.js';

/** Interval of the probes while the breaker is open. */
const PROBE_EVERY_MS = 250;
/** Delay of a second check before a connection is dropped: a busy process may have unread bytes. */
const SECOND_LOOK_MS = 50;

export interface DatabaseBreakerOptions {
  /** Longest time a connection in use, or one being opened, may receive nothing, in milliseconds. */
  readonly silenceMs: number;
  /** Opens and closes a separate connection; rejects, within a bounded time, unless Postgres answered a statement. */
  readonly probe: () => Promise<void>;
  /** Called when the breaker opens and when it closes. */
  readonly onChange: (isOpen: boolean) => void;
}

/**
 * A circuit breaker in front of a pool of Postgres connections, for a server that accepts bytes and answers nothing:
 * frozen, or behind a network that drops packets. The first silent connection opens it: every connection is destroyed,
 * which ends every wait, and new ones are refused at once. It closes when a probe succeeds.
 *
 * A server that refuses connections or shuts down does not open it. Source: ADR 0045.
 */
export class DatabaseBreaker {
  readonly #sockets = new Set<Socket>();
  #timer: NodeJS.Timeout | undefined;
  #open = false;
  #ended = false;

  constructor(private readonly options: DatabaseBreakerOptions) {}

  get isOpen(): boolean {
    return this.#open;
  }

  /** The socket of a new connection: watched from the start, refused while the breaker is open. */
  socket(): Socket {
    const socket = new Socket();
    this.#sockets.add(socket);
    socket.once('close', () => this.#sockets.delete(socket));
    socket.on('timeout', () => {
      if (isAwaited(socket)) this.#look(socket, socket.bytesRead);
    });
    if (this.#open) process.nextTick(() => this.#cut(socket));
    else socket.setTimeout(this.options.silenceMs);
    return socket;
  }

  /**
   * Watches the pool's connections while they are in use. Silence counts only while a connection opens or a statement
   * runs, not between two statements of a transaction.
   *
   * @param dataSource connected, with {@link BreakerClient} as its client.
   */
  watch(dataSource: DataSource): void {
    const pool = poolOf(dataSource);
    pool.on('acquire', (client) => watched(client)?.setTimeout(this.options.silenceMs));
    pool.on('release', (_, client) => watched(client)?.setTimeout(0));
  }

  /** Stops probing. Connections stay as they are. */
  end(): void {
    this.#ended = true;
    clearTimeout(this.#timer);
  }

  #look(socket: Socket, bytesRead: number): void {
    const timer = setTimeout(() => {
      if (socket.bytesRead === bytesRead && !socket.destroyed && isAwaited(socket)) this.#trip();
    }, SECOND_LOOK_MS);
    timer.unref();
  }

  #trip(): void {
    for (const socket of this.#sockets) this.#cut(socket);
    if (this.#open || this.#ended) return;
    this.#open = true;
    this.options.onChange(true);
    void this.#probe();
  }

  #cut(socket: Socket): void {
    socket.destroy(new SilentConnectionError(this.options.silenceMs));
  }

  async #probe(): Promise<void> {
    try {
      await this.options.probe();
    } catch {
      // Postgres does not answer yet.
      if (!this.#ended) this.#timer = setTimeout(() => void this.#probe(), PROBE_EVERY_MS).unref();
      return;
    }
    this.#open = false;
    if (!this.#ended) this.options.onChange(false);
  }
}

/**
 * A client that keeps its original socket. With TLS the client's stream is another object that wraps this socket, and
 * activity on it counts for the socket too.
 */
export class BreakerClient extends pg.Client {
  readonly socket: unknown;

  constructor(config?: pg.ClientConfig) {
    super(config);
    this.socket = this.connection.stream;
    if (this.socket instanceof Socket) CLIENT_OF.set(this.socket, this);
  }

  /** True while the client connects or waits for the end of a statement. */
  get isAwaited(): boolean {
    return Reflect.get(this, 'readyForQuery') !== true;
  }
}

const CLIENT_OF = new WeakMap<Socket, BreakerClient>();

/** A socket without a client is about to be connected. */
function isAwaited(socket: Socket): boolean {
  return CLIENT_OF.get(socket)?.isAwaited ?? true;
}

function watched(client: unknown): Socket | undefined {
  return client instanceof BreakerClient && client.socket instanceof Socket ? client.socket : undefined;
}

/** TypeORM keeps the pool on its driver, untyped. */
function poolOf(dataSource: DataSource): pg.Pool {
  const pool: unknown = Reflect.get(dataSource.driver, 'master');
  if (pool instanceof pg.Pool) return pool;
  throw new Error('the data source is not connected');
}
