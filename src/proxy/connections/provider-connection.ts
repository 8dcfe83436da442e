import type { Duplex } from 'node:stream';
import type { buildConnector } from 'undici';
import type { Clock } from '../../common/clock.js';
import { systemErrorCode } from '../../common/errors/system-error-code.js';
import { bareHost } from '../../platform/outbound/url-host.rules.js';
import { BrokenConnection } from './broken-connection.js';
import { Deadline } from './deadline.js';
import type { ResponseHead } from './response-head.rules.js';
import { type ResponseEvents, ResponseReader } from './response-reader.js';
import { requestHead, type SentRequest } from './sent-request.rules.js';

/** An older connection takes no further call, so that a change of the provider's address is followed. */
const MAX_AGE_MS = 5 * 60_000;
/** A provider that closes a kept connection has closed it by then, if it had not seen the request. */
const RACE_MS = 100;
/** Errors of a socket that its peer has closed. */
const CLOSED_BY_PEER: ReadonlySet<unknown> = new Set(['ECONNRESET', 'EPIPE']);

/** Events of one call. `onEnd` or `onFailure` is the last one. */
export interface ConnectionEvents extends ResponseEvents {
  /** Called immediately before the request is written to the socket; not called if the call is aborted first. */
  onSend(): void;
  onFailure(error: Error): void;
}

/** Scheme, host and port of a provider. */
export type Origin = Pick<URL, 'protocol' | 'host' | 'hostname' | 'port'>;

/** Above this size, copying a chunk, or a body to text, costs more than the writes that it saves. */
export const MAX_COPIED_BYTES = 8 * 1024;

/**
 * One HTTP/1.1 connection to a provider, for one call at a time. It connects with its first call. Once its socket has
 * ended, for whatever reason, it stays closed; a call that has no complete answer by then fails. Nothing is sent twice.
 *
 * It goes back to its pool by itself, when the last byte of an answer has arrived or its call has failed: no holder can
 * return it earlier, and none can use it afterwards.
 *
 * Source: RFC 9112, ADR 0050.
 */
export class ProviderConnection implements ResponseEvents {
  readonly #reader = new ResponseReader(this);
  readonly #head = new Deadline(() => this.#break(new BrokenConnection('timeout', 'the provider did not answer')));
  readonly #silence = new Deadline(() => this.#break(new BrokenConnection('silent', 'the provider went silent')));
  #socket: Duplex | undefined;
  #isClosed = false;
  /** Acquired from the pool for a call that has not ended. */
  #isTaken = true;
  #request: SentRequest | undefined;
  #events: ConnectionEvents | undefined;
  #isPaused = false;
  /** Only then does the time between two chunks count. */
  #hasHead = false;
  /** Why the connection is broken. */
  #cause: Error | undefined;
  #keepAliveMs = 0;
  #idleUntilMs = Number.POSITIVE_INFINITY;
  /** It has had a call before. */
  #isReused = false;
  #sentMs = 0;
  /** Whether anything of the answer has arrived. */
  #isAnswered = false;
  readonly #usableUntilMs: number;

  constructor(
    private readonly origin: Origin,
    private readonly connect: buildConnector.connector,
    /** Maximum time between two pieces of a body, in milliseconds, not counted while paused; 0 = unlimited. */
    private readonly silenceTimeoutMs: number,
    private readonly clock: Clock,
    /** Called once for each time it was acquired, when its call has ended. */
    private readonly onFree: (connection: ProviderConnection) => void,
  ) {
    this.#usableUntilMs = clock.monotonicMs() + MAX_AGE_MS;
  }

  /** Whether its socket is open. */
  get isOpen(): boolean {
    return this.#socket !== undefined && !this.#isClosed;
  }

  /** Whether it cannot be used again; not before its first call. */
  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Whether it has a call. */
  get isBusy(): boolean {
    return this.#events !== undefined;
  }

  /** Whether it has been idle for the time that its provider allows, or open for five minutes. */
  get isExpired(): boolean {
    return this.clock.monotonicMs() >= Math.min(this.#idleUntilMs, this.#usableUntilMs);
  }

  /** Called by its pool to acquire it for the next call. */
  take(): void {
    if (this.#isTaken) throw new Error('the connection has a holder');
    this.#isTaken = true;
    this.#isReused = true;
  }

  /**
   * Sends the one request for which it was acquired.
   *
   * @throws Error it has a call, or is back in its pool.
   */
  send(request: SentRequest, events: ConnectionEvents): void {
    if (this.#events !== undefined || !this.#isTaken) throw new Error('the connection is not free for this call');
    this.#request = request;
    this.#events = events;
    this.#head.start(request.ttfbTimeoutMs);
    if (this.#isClosed) this.abort(closed());
    else if (this.#socket === undefined) this.#open();
    else this.#write(this.#socket);
  }

  /** Ends the connection, and its call with this error. */
  abort(error: Error): void {
    this.close();
    this.#end()?.onFailure(error);
  }

  /** Returns it without sending a request. A call on it is aborted and its socket closed. */
  release(): void {
    if (this.isBusy) this.abort(new BrokenConnection('closed', 'the call was given up'));
    else this.#free();
  }

  /** Closes its socket. */
  close(): void {
    this.#isClosed = true;
    this.#head.end();
    this.#silence.end();
    this.#socket?.destroy();
  }

  /** Stops reading the answer of the call. */
  pause(): void {
    if (this.#events === undefined) return;
    this.#isPaused = true;
    this.#silence.stop();
    this.#socket?.pause();
  }

  resume(): void {
    if (!this.#isPaused || this.#isClosed) return;
    this.#isPaused = false;
    if (this.#hasHead) this.#silence.start(this.silenceTimeoutMs);
    this.#socket?.resume();
  }

  onHead(head: ResponseHead): void {
    if (head.status >= 200) {
      this.#hasHead = true;
      this.#keepAliveMs = head.keepAliveMs;
      this.#head.stop();
      this.#silence.start(this.silenceTimeoutMs);
    }
    this.#events?.onHead(head);
  }

  onBytes(bytes: Buffer): void {
    this.#events?.onBytes(bytes);
  }

  /** A request that is not written completely ends its connection with its answer. */
  onEnd(): void {
    this.#idleUntilMs = this.clock.monotonicMs() + this.#keepAliveMs;
    this.#hasHead = false;
    this.#silence.stop();
    if (this.#keepAliveMs === 0 || (this.#socket?.writableLength ?? 0) > 0) this.close();
    else this.resume();
    this.#end()?.onEnd();
  }

  #open(): void {
    const { protocol, host, port, hostname } = this.origin;
    const address = { protocol, host, port, hostname: bareHost(hostname) };
    this.connect(address, (error, socket) => {
      if (error !== null) this.abort(error);
      else if (this.#isClosed) socket.destroy();
      else this.#opened(socket);
    });
  }

  #opened(socket: Duplex): void {
    this.#socket = socket;
    socket.on('data', (bytes: Buffer) => this.#receive(bytes));
    socket.on('end', () => this.#receiveEnd());
    socket.on('error', (error: Error) => this.#break(error));
    socket.on('close', () => this.abort(this.#whyClosed()));
    this.#write(socket);
  }

  #write(socket: Duplex): void {
    const [request, events] = [this.#request, this.#events];
    if (request === undefined || events === undefined) return;
    let head: string;
    try {
      head = requestHead(request, this.origin.host);
      events.onSend();
    } catch (error) {
      this.abort(asError(error));
      return;
    }
    if (this.#events !== events) return;
    this.#reader.expect(request.method);
    this.#isAnswered = false;
    this.#sentMs = this.clock.monotonicMs();
    const { body } = request;
    if (body === undefined) socket.write(head, 'latin1');
    else if (Buffer.isBuffer(body) && body.length <= MAX_COPIED_BYTES)
      socket.write(head + body.toString('latin1'), 'latin1');
    else {
      socket.cork();
      socket.write(head, 'latin1');
      for (const piece of Buffer.isBuffer(body) ? [body] : body) socket.write(piece);
      socket.uncork();
    }
  }

  #receive(bytes: Buffer): void {
    this.#isAnswered = true;
    if (this.#hasHead) this.#silence.start(this.silenceTimeoutMs);
    try {
      this.#reader.push(bytes);
    } catch (error) {
      this.#break(asError(error));
    }
  }

  #receiveEnd(): void {
    this.#keepAliveMs = 0;
    if (!this.#reader.close()) this.#break(closed());
  }

  /** Why its socket has closed. */
  #whyClosed(): Error {
    const cause = this.#cause ?? closed();
    const isByPeer =
      cause instanceof BrokenConnection ? cause.code === 'closed' : CLOSED_BY_PEER.has(systemErrorCode(cause));
    const isRace = isByPeer && this.#isReused && !this.#isAnswered;
    if (!isRace || this.clock.monotonicMs() - this.#sentMs > RACE_MS) return cause;
    return new BrokenConnection('closed', 'the provider closed its kept connection', true);
  }

  /** Closes the connection; its call fails once the socket, if there is one, has closed, after what has arrived. */
  #break(error: Error): void {
    this.#cause ??= error;
    if (this.#socket === undefined) this.abort(error);
    else this.close();
  }

  /** Ends the call and returns the connection to its pool. @returns the events of the call, once. */
  #end(): ConnectionEvents | undefined {
    const events = this.#events;
    this.#events = undefined;
    this.#request = undefined;
    if (events !== undefined) this.#free();
    return events;
  }

  #free(): void {
    if (!this.#isTaken) return;
    this.#isTaken = false;
    this.onFree(this);
  }
}

function closed(): BrokenConnection {
  return new BrokenConnection('closed', 'the provider closed the connection');
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error('the answer could not be handled');
}
