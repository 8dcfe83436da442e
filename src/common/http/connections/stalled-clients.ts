import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Log } from '../../log/log.js';
import { pathOf } from '../gateway-request.js';
import { cutConnection } from './cut-answer.js';

const SWEEP_MS = 1_000;
/** Limits the connections cut per sweep, so that ending their responses does not block the event loop. */
const MAX_CUT_PER_SWEEP = 256;

/** The progress of a connection with pending bytes. */
interface Standing {
  readonly takenBytes: number;
  /** Consecutive sweeps without progress. */
  sweeps: number;
}

/**
 * Cuts the connections of clients that do not read their pending bytes, so that the server buffers nothing
 * indefinitely; for the handler, such a client has disconnected. A client without pending bytes is never cut, however
 * long its response takes.
 *
 * Progress means that a whole write has left the socket; large responses are sent in many writes. Bytes from the client
 * do not count, so the socket's own timeout, which traffic in either direction restarts, does not fit. The limit counts
 * sweeps instead of measuring time: a process that was suspended cuts no client for it.
 */
export class StalledClients {
  /**
   * The latest response of each connection. Not a set of open responses: one that changes with every call keeps them
   * from being collected (see `LinkedSet`).
   */
  readonly #latest = new Map<Socket, ServerResponse>();
  readonly #waited = new Map<Socket, Standing>();

  /** @param timeoutSeconds longest time without progress; up to one sweep is added. */
  constructor(
    private readonly timeoutSeconds: number,
    private readonly log: Log,
  ) {}

  /** Call once per request, before its response. */
  watch(response: ServerResponse): void {
    const { socket } = response.req;
    if (!this.#latest.has(socket)) {
      socket.once('close', () => {
        this.#latest.delete(socket);
        this.#waited.delete(socket);
      });
    }
    this.#latest.set(socket, response);
  }

  /** Sweeps while the server listens or has connections. */
  endIn(server: Server): Server {
    let timer: NodeJS.Timeout | undefined;
    server.on('listening', () => {
      timer = setInterval(() => this.sweep(), SWEEP_MS).unref();
    });
    return server.on('close', () => clearInterval(timer));
  }

  /** Checks every connection once. */
  sweep(): void {
    let left = MAX_CUT_PER_SWEEP;
    for (const [socket, response] of this.#latest) {
      if (socket.writableLength === 0) this.#waited.delete(socket);
      else if (this.#sweepsInPlace(socket) > this.timeoutSeconds && left-- > 0) this.#cut(socket, response);
    }
  }

  #sweepsInPlace(socket: Socket): number {
    const takenBytes = socket.bytesWritten - socket.writableLength;
    const standing = this.#waited.get(socket);
    if (standing?.takenBytes === takenBytes) return ++standing.sweeps;
    this.#waited.set(socket, { takenBytes, sweeps: 1 });
    return 1;
  }

  #cut(socket: Socket, response: ServerResponse): void {
    const { timeoutSeconds } = this;
    const { method = '' } = response.req;
    this.log.event('client_stalled', { path: pathOf({ raw: response.req }), method, timeoutSeconds });
    cutConnection(socket);
  }
}
