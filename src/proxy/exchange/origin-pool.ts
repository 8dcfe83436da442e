import { type buildConnector, Client } from 'undici';
import type { Clock } from '../../common/clock.js';

/** A connection nobody has used for this long is given up together with its parser. */
const IDLE_CLIENT_MS = 30_000;
/** How long an idle connection stays open unless the provider says otherwise. */
const KEEP_ALIVE_MS = 15_000;
/** Providers send many headers; more than this is hostile. */
const MAX_RESPONSE_HEADER_BYTES = 64 * 1024;

/** What all connections to one origin have in common. */
export interface OriginBounds {
  readonly maxConnections: number;
  /** How long nothing of a body that has begun may come, in milliseconds, not counting while it is paused; 0: for ever. */
  readonly silenceTimeoutMs: number;
}

interface IdleClient {
  readonly client: Client;
  readonly sinceMs: number;
}

/**
 * Connections to one provider origin, each carrying one call at a time. Taking and giving back is constant work
 * however many streams are open: the most recently used connection is reused first, the others grow old and go.
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

  /** A connection for one call, or `undefined` when the bound is reached. Give it back with `release`. */
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

  /** Takes a connection back whose call has ended, in whatever way; a broken one reconnects by itself. */
  release(client: Client): void {
    if (client.destroyed) this.#total--;
    else this.#idle.push({ client, sinceMs: this.clock.monotonicMs() });
  }

  /** Gives up what has been idle for long. */
  trim(): void {
    const oldestMs = this.clock.monotonicMs() - IDLE_CLIENT_MS;
    const fresh = this.#idle.findIndex((idle) => idle.sinceMs > oldestMs);
    for (const { client } of this.#idle.splice(0, fresh < 0 ? this.#idle.length : fresh)) {
      this.#total--;
      void client.destroy();
    }
  }

  /** Connections that carry a call. */
  get busy(): number {
    return this.#total - this.#idle.length;
  }

  get isEmpty(): boolean {
    return this.#total === 0;
  }
}
