import type { buildConnector } from 'undici';
import type { Clock } from '../../common/clock.js';
import { type Origin, ProviderConnection } from './provider-connection.js';

/** Limits of all connections to one origin. */
export interface OriginBounds {
  readonly maxConnections: number;
  /** Maximum time between two pieces of a body, in milliseconds, not counted while paused; 0 = unlimited. */
  readonly silenceTimeoutMs: number;
}

/**
 * Connections to one provider origin, each with one call at a time. Acquire and release take constant time. The most
 * recently used connection is reused first, so that unused ones age out.
 */
export class OriginPool {
  readonly #idle: ProviderConnection[] = [];
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

  /** Acquires a connection for one call; `undefined` at the limit. Return it with `release`. */
  acquire(): ProviderConnection | undefined {
    for (let idle = this.#idle.pop(); idle !== undefined; idle = this.#idle.pop()) {
      if (idle.isOpen && !idle.isExpired) return idle;
      this.#forget(idle);
    }
    if (this.#total >= this.bounds.maxConnections) return undefined;
    this.#total++;
    return new ProviderConnection(this.#address, this.connect, this.bounds.silenceTimeoutMs, this.clock);
  }

  /** Returns a connection after its call has ended. */
  release(connection: ProviderConnection): void {
    if (connection.isOpen) this.#idle.push(connection);
    else this.#forget(connection);
  }

  /** Closes connections that have been idle for their time, and forgets those that their provider has closed. */
  trim(): void {
    for (const connection of this.#idle.splice(0)) {
      if (connection.isExpired) this.#forget(connection);
      else this.release(connection);
    }
  }

  /** Number of connections with a call. */
  get busy(): number {
    return this.#total - this.#idle.length;
  }

  get isEmpty(): boolean {
    return this.#total === 0;
  }

  #forget(connection: ProviderConnection): void {
    this.#total--;
    connection.close();
  }
}
