import { Socket } from 'node:net';
import pg from 'pg';
import type { DataSource } from 'typeorm';
import { SilentConnectionError } from './connection.js';

/** Between two probes while the breaker is open. */
const PROBE_EVERY_MS = 250;
/** A process that was busy itself has bytes to read yet: they are looked at before a connection is given up. */
const SECOND_LOOK_MS = 50;

export interface DatabaseBreakerOptions {
  /** Longest a connection in use, or one that is being opened, may receive nothing, in milliseconds. */
  readonly silenceMs: number;
  /** Opens and closes a connection of its own; rejects, within a bounded time, unless Postgres answered a statement. */
  readonly probe: () => Promise<void>;
  /** Told when it opens and when it closes. */
  readonly onChange: (isOpen: boolean) => void;
}

/**
 * A circuit breaker in front of a pool of Postgres connections, for a server that accepts bytes and answers nothing:
 * frozen, or behind a network that swallows packets. The first connection that stays silent opens it: every connection
 * is cut, so that every wait ends, and new ones are refused at once. It closes when a probe is answered.
 *
 * A server that refuses connections, or is shutting down, answers: the breaker has no part in that.
 * Source: ADR 0045.
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

  /** The socket of a new connection: watched from the start, and refused while the breaker is open. */
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
   * Watches the connections of a pool while they are in use. One that is asked nothing, such as between two statements of a
   * transaction, has nothing to say.
   *
   * @param dataSource connected, with {@link BreakerClient} as its client.
   */
  watch(dataSource: DataSource): void {
    const pool = poolOf(dataSource);
    pool.on('acquire', (client) => watched(client)?.setTimeout(this.options.silenceMs));
    pool.on('release', (_, client) => watched(client)?.setTimeout(0));
  }

  /** Ends probing. Connections stay as they are. */
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
      // That is what it asks for: Postgres does not answer yet.
      if (!this.#ended) this.#timer = setTimeout(() => void this.#probe(), PROBE_EVERY_MS).unref();
      return;
    }
    this.#open = false;
    if (!this.#ended) this.options.onChange(false);
  }
}

/**
 * A client that knows the socket it was given. With TLS its stream is another object that wraps this one, and activity
 * there counts here too.
 */
export class BreakerClient extends pg.Client {
  readonly socket: unknown;

  constructor(config?: pg.ClientConfig) {
    super(config);
    this.socket = this.connection.stream;
    if (this.socket instanceof Socket) CLIENT_OF.set(this.socket, this);
  }

  /** Whether it is being connected, or waits for the end of a statement. */
  get isAwaited(): boolean {
    return Reflect.get(this, 'readyForQuery') !== true;
  }
}

const CLIENT_OF = new WeakMap<Socket, BreakerClient>();

/** A socket that nobody knows yet is about to be connected. */
function isAwaited(socket: Socket): boolean {
  return CLIENT_OF.get(socket)?.isAwaited ?? true;
}

function watched(client: unknown): Socket | undefined {
  return client instanceof BreakerClient && client.socket instanceof Socket ? client.socket : undefined;
}

/** TypeORM keeps the pool on its driver, without a type. */
function poolOf(dataSource: DataSource): pg.Pool {
  const pool: unknown = Reflect.get(dataSource.driver, 'master');
  if (pool instanceof pg.Pool) return pool;
  throw new Error('the data source is not connected');
}
