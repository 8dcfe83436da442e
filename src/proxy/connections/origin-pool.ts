import { performance } from 'node:perf_hooks';
import type { buildConnector } from 'undici';
import type { Clock } from '../../common/clock.js';
import { type Origin, ProviderConnection } from './provider-connection.js';

/** Limits of all connections of one pool. */
export interface OriginBounds {
  readonly maxConnections: number;
  /** Maximum time between two pieces of a body, in milliseconds, not counted while paused; 0 = unlimited. */
  readonly silenceTimeoutMs: number;
}

/**
 * Connections of one provider instance to its origin, each with one call at a time. Acquiring takes constant time. The
 * most recently used connection is reused first, so that unused ones age out.
 *
 * A connection is reused only after the event loop has read from its socket once more: bytes that a provider sends
 * after its answer close it before the next request is written.
 */
export class OriginPool {
  readonly #idle: ProviderConnection[] = [];
  /** Calls that have ended since the event loop last read from sockets. */
  #justEnded: ProviderConnection[] = [];
  /** The iteration of the event loop in which those ended. */
  #iteration = 0;
  readonly #address: Origin;
  #total = 0;

  constructor(
    /** Such as `https://api.openai.com`. */
    readonly origin: string,
    private readonly bounds: OriginBounds,
    private readonly connect: buildConnector.connector,
    private readonly clock: Clock,
  ) {
    this.#address = new URL(origin);
  }

  /** Acquires a connection for one call; `undefined` at the limit. It returns by itself when its call has ended. */
  acquire(): ProviderConnection | undefined {
    this.#makeReusable();
    for (let idle = this.#idle.pop(); idle !== undefined; idle = this.#idle.pop()) {
      if (isReusable(idle)) {
        idle.take();
        return idle;
      }
      this.#forget(idle);
    }
    if (this.#total >= this.bounds.maxConnections) {
      const ended = this.#justEnded.pop();
      if (ended === undefined) return undefined;
      this.#forget(ended);
    }
    this.#total++;
    return this.#create();
  }

  /** As `acquire`, a connection that is new. */
  acquireNew(): ProviderConnection | undefined {
    if (this.#total >= this.bounds.maxConnections) return undefined;
    this.#total++;
    return this.#create();
  }

  /** A new connection in place of an acquired one that its provider has closed before its request was sent. */
  renew(closed: ProviderConnection): ProviderConnection {
    closed.close();
    closed.release();
    this.#total++;
    return this.#create();
  }

  /** Closes connections that have been idle for their time, and forgets those that their provider has closed. */
  trim(): void {
    this.#makeReusable();
    for (const connection of this.#idle.splice(0)) {
      if (isReusable(connection)) this.#idle.push(connection);
      else this.#forget(connection);
    }
  }

  /** Number of acquired connections. */
  get busy(): number {
    return this.#total - this.#idle.length - this.#justEnded.length;
  }

  get isEmpty(): boolean {
    return this.#total === 0;
  }

  #create(): ProviderConnection {
    return new ProviderConnection(this.#address, this.connect, this.bounds.silenceTimeoutMs, this.clock, (connection) =>
      this.#returned(connection),
    );
  }

  #returned(connection: ProviderConnection): void {
    this.#makeReusable();
    if (connection.isOpen) this.#justEnded.push(connection);
    else this.#forget(connection);
  }

  /** Makes connections reusable if their calls ended in an earlier iteration of the event loop. */
  #makeReusable(): void {
    const iteration = performance.nodeTiming.uvMetricsInfo.loopCount;
    if (iteration === this.#iteration) return;
    this.#iteration = iteration;
    if (this.#justEnded.length === 0) return;
    this.#idle.push(...this.#justEnded);
    this.#justEnded = [];
  }

  #forget(connection: ProviderConnection): void {
    this.#total--;
    connection.close();
  }
}

function isReusable(connection: ProviderConnection): boolean {
  return connection.isOpen && !connection.isExpired;
}
