import { type BackoffBounds, backoffMs } from '../database/retry-unreachable.js';

const LOOK_EVERY_MS = 250;
const RESTART_BACKOFF: BackoffBounds = { minMs: 250, maxMs: 30_000 };
/** After a minute the next end is no longer one of a series. */
const STABLE_AFTER_LOOKS = 240;

/** What becomes of a server that ended while it was in use. */
export interface ServerEvents {
  /** @param directory of the database. */
  readonly onLost?: (directory: string) => void;
  /** @param adopted another process started it. */
  readonly onRestarted?: (directory: string, adopted: boolean) => void;
  /** @param retryInMs when it is tried again. */
  readonly onRestartFailed?: (error: unknown, retryInMs: number) => void;
}

interface KeptServer extends ServerEvents {
  readonly directory: string;
  readonly isRunning: () => boolean;
  /** @returns whether it was already running. */
  readonly restart: () => Promise<boolean>;
}

/**
 * Starts a server again that ends while this process uses it, at once, and then with growing delays of up to 30 seconds
 * while it cannot be started or ends soon after.
 */
export class ServerKeeper {
  #timer: NodeJS.Timeout | undefined;
  #restarting: Promise<void> = Promise.resolve();
  #isStopped = false;
  /** Starts since the server was last stable. */
  #starts = 0;
  #looks = 0;

  constructor(private readonly server: KeptServer) {
    this.#lookIn(LOOK_EVERY_MS);
  }

  /** Ends the watch. Resolves when no start is in progress. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    clearTimeout(this.#timer);
    await this.#restarting;
  }

  #lookIn(ms: number): void {
    if (this.#isStopped) return;
    this.#timer = setTimeout(() => this.#look(), ms);
    this.#timer.unref();
  }

  #look(): void {
    if (this.server.isRunning()) {
      this.#looks++;
      if (this.#looks >= STABLE_AFTER_LOOKS) this.#starts = 0;
      this.#lookIn(LOOK_EVERY_MS);
      return;
    }
    // A failed start was reported.
    if (this.#looks > 0) this.server.onLost?.(this.server.directory);
    this.#looks = 0;
    this.#restarting = this.#restart();
  }

  async #restart(): Promise<void> {
    const retryInMs = backoffMs(++this.#starts, RESTART_BACKOFF);
    try {
      const adopted = await this.server.restart();
      this.server.onRestarted?.(this.server.directory, adopted);
    } catch (error) {
      this.server.onRestartFailed?.(error, retryInMs);
    }
    this.#lookIn(retryInMs);
  }
}
