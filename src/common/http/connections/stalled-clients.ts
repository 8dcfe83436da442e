import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Log } from '../../log/log.js';
import { pathOf } from '../gateway-request.js';
import { cutConnection } from './cut-answer.js';

const SWEEP_MS = 1_000;
/** Cutting a connection ends what was on its way to it; so many at a time do not hold the event loop. */
const MAX_CUT_PER_SWEEP = 256;

/** How far a client was that has something to take. */
interface Standing {
  readonly takenBytes: number;
  /** How many sweeps in a row found it there. */
  sweeps: number;
}

/**
 * Cuts the connections of clients that take nothing of what waits for them, so that nothing is held for them without
 * end; to whoever answers, they have then left. A client for which nothing waits is left alone, however
 * long its answer takes.
 *
 * A client has taken something when a piece of its answer has left whole; whoever sends much sends it in pieces. Only
 * what it takes counts: one that still sends is no better for it, so the socket's own time-out, which any
 * byte either way restarts, would not do. Sweeps are counted and no time is measured: a process that stood still itself
 * finds nobody late.
 */
export class StalledClients {
  readonly #open = new Set<ServerResponse>();
  readonly #waited = new Map<ServerResponse, Standing>();
  readonly #ended: (this: ServerResponse) => void;

  /** @param timeoutSeconds how long a client may take nothing; it gets up to one sweep more. */
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

  /** To be called once for each request, before it is answered. All answers share one listener. */
  watch(response: ServerResponse): void {
    this.#open.add(response);
    response.on('close', this.#ended);
  }

  /** Sweeps as long as the server listens or has connections. */
  endIn(server: Server): Server {
    let timer: NodeJS.Timeout | undefined;
    server.on('listening', () => {
      timer = setInterval(() => this.sweep(), SWEEP_MS).unref();
    });
    return server.on('close', () => clearInterval(timer));
  }

  /** One look at every open answer. */
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
