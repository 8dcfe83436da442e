import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Log } from '../../log/log.js';
import { pathOf } from '../gateway-request.js';
import { cutConnection } from './cut-answer.js';

const SWEEP_MS = 1_000;
/** Limits the connections cut per sweep, so that ending their responses does not block the event loop. */
const MAX_CUT_PER_SWEEP = 256;

/** The progress of a client with pending bytes. */
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
  readonly #open = new Set<ServerResponse>();
  readonly #waited = new Map<ServerResponse, Standing>();
  readonly #ended: (this: ServerResponse) => void;

  /** @param timeoutSeconds longest time without progress; up to one sweep is added. */
  constructor(
    private readonly timeoutSeconds: number,
    private readonly log: Log,
  ) {
    const open = this.#open;
    const waited = this.#waited;
    this.#ended = function ended() {
      open.delete(this);
      waited.delete(this);
    };
  }

  /** Call once per request, before its response. All responses share one listener. */
  watch(response: ServerResponse): void {
    this.#open.add(response);
    response.on('close', this.#ended);
  }

  /** Sweeps while the server listens or has connections. */
  endIn(server: Server): Server {
    let timer: NodeJS.Timeout | undefined;
    server.on('listening', () => {
      timer = setInterval(() => this.sweep(), SWEEP_MS).unref();
    });
    return server.on('close', () => clearInterval(timer));
  }

  /** Checks every open response once. */
  sweep(): void {
    let left = MAX_CUT_PER_SWEEP;
    for (const response of this.#open) {
      const { socket } = response;
      if (socket === null || socket.writableLength === 0) this.#waited.delete(response);
      else if (this.#sweepsInPlace(response, socket) > this.timeoutSeconds && left-- > 0) this.#cut(response, socket);
    }
  }

  #sweepsInPlace(response: ServerResponse, socket: Socket): number {
    const takenBytes = socket.bytesWritten - socket.writableLength;
    const standing = this.#waited.get(response);
    if (standing?.takenBytes === takenBytes) return ++standing.sweeps;
    this.#waited.set(response, { takenBytes, sweeps: 1 });
    return 1;
  }

  #cut(response: ServerResponse, socket: Socket): void {
    const { timeoutSeconds } = this;
    const { method = '' } = response.req;
    this.log.event('client_stalled', { path: pathOf({ raw: response.req }), method, timeoutSeconds });
    cutConnection(socket);
  }
}
