import { type buildConnector, Client } from 'undici';
import type { Clock } from '../../common/clock.js';

/** Idle time after which a connection is closed and its parser freed. */
const IDLE_CLIENT_MS = 30_000;
/** Keep-alive time of an idle connection unless the provider sets another one. */
const KEEP_ALIVE_MS = 15_000;
/** Maximum size of a response head. Providers send many headers, but not this many. */
const MAX_RESPONSE_HEADER_BYTES = 64 * 1024;

/** Limits of all connections to one origin. */
export interface OriginBounds {
  readonly maxConnections: number;
  /** Maximum time between two pieces of a body, in milliseconds, not counted while paused; 0 = unlimited. */
  readonly silenceTimeoutMs: number;
}

interface IdleClient {
  readonly client: Client;
  readonly sinceMs: number;
}

/**
 * Connections to one provider origin, each with one call at a time. Acquire and release take constant time. The most
 * recently used connection is reused first, so that unused ones age out.
 */
export class OriginPool {
  readonly #idle: IdleClient[] = [];
  #total = 0;

  constructor(
    /** Such as `https://api.openai.com`. */
    readonly origin: string,
    private readonly bounds: OriginBounds,
    private readonly connect: buildConnector.connector,
    private readonly clock: Clock,
  ) {}

  /** Acquires a connection for one call; `undefined` at the limit. Return it with `release`. */
  acquire(): Client | undefined {
    const idle = this.#idle.pop();
    if (idle) return idle.client;
    if (this.#total >= this.bounds.maxConnections) return undefined;
    this.#total++;
    return new Client(this.origin, {
      connect: this.connect,
      pipelining: 1,
      allowH2: false,
      headersTimeout: 0,
      bodyTimeout: this.bounds.silenceTimeoutMs,
      keepAliveTimeout: KEEP_ALIVE_MS,
      maxHeaderSize: MAX_RESPONSE_HEADER_BYTES,
    });
  }

  /** Returns a connection after its call has ended; a broken one reconnects on its own. */
  release(client: Client): void {
    if (client.destroyed) this.#total--;
    else this.#idle.push({ client, sinceMs: this.clock.monotonicMs() });
  }

  /** Closes connections idle for `IDLE_CLIENT_MS`. */
  trim(): void {
    const oldestMs = this.clock.monotonicMs() - IDLE_CLIENT_MS;
    const fresh = this.#idle.findIndex((idle) => idle.sinceMs > oldestMs);
    for (const { client } of this.#idle.splice(0, fresh < 0 ? this.#idle.length : fresh)) {
      this.#total--;
      void client.destroy();
    }
  }

  /** Number of connections with a call. */
  get busy(): number {
    return this.#total - this.#idle.length;
  }

  get isEmpty(): boolean {
    return this.#total === 0;
  }
}
