import type { Transform } from 'node:stream';
import type { Client, Dispatcher } from 'undici';
import { singleHeader, type UpstreamHeaders } from '../relay/response-headers.rules.js';
import { decodingOf } from './content-decoder.js';
import type { ProviderCall } from './provider-call.js';
import { connectionFailure, GivenUp } from './provider-failure.rules.js';

/** What becomes of an answer. After `onEnd` or `onFailure` nothing more comes. */
export interface BodyEvents {
  /** The next bytes of the body, decoded. */
  onBytes(bytes: Buffer): void;
  onEnd(): void;
  onFailure(error: Error): void;
}

/** What becomes of one call. */
export interface ExchangeEvents extends BodyEvents {
  /** The request goes to the socket now. What is thrown keeps it from going, and comes back as the failure. */
  onSend(): void;
  onHead(status: number, statusText: string, headers: UpstreamHeaders): void;
}

/**
 * The provider's side of one call: sends it, waits for its head within bounds, decodes its body, and gives the
 * connection back. Its public methods are undici's callbacks in their order, and what the relay may ask of it.
 */
export class ProviderExchange implements Dispatcher.DispatchHandler {
  #client: Client | undefined;
  #controller: Dispatcher.DispatchController | undefined;
  #timer: NodeJS.Timeout | undefined;
  #decoder: Transform | undefined;
  #receiver: BodyEvents;
  #status = 0;
  /** The connection has brought the whole answer and tells nothing more of this call, whatever is decoded still. */
  #arrived = false;
  /** Nobody listens any more. */
  #over = false;

  constructor(
    private readonly call: ProviderCall,
    private readonly events: ExchangeEvents,
  ) {
    this.#receiver = events;
  }

  /** The bytes of the body are not those the provider sent. */
  get isDecoded(): boolean {
    return this.#decoder !== undefined;
  }

  /** Of the provider's answer, also of one that cannot be read; 0 while there is none. */
  get status(): number {
    return this.#status;
  }

  /** The connection of the origin's that the request goes out on; this object gives it back. */
  take(client: Client): void {
    this.#client = client;
  }

  /** Sends the request on the connection it was given, unless it has ended meanwhile. */
  start(): void {
    const { method, path, headers, body, ttfbTimeoutMs } = this.call;
    if (this.#over) return;
    this.#timer = setTimeout(() => this.stop('timeout'), ttfbTimeoutMs);
    // undici takes any iterable; its types know the asynchronous ones alone.
    const sent = body as Dispatcher.DispatchOptions['body'];
    this.#client?.dispatch({ method: method as Dispatcher.HttpMethod, path, headers, body: sent }, this);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#over) {
      this.giveUp('timeout');
      return;
    }
    try {
      this.events.onSend();
    } catch (error) {
      controller.abort(new GivenUp('not_recordable', { cause: error }));
    }
  }

  onResponseStart(
    controller: Dispatcher.DispatchController,
    statusCode: number,
    headers: UpstreamHeaders,
    statusText = '',
  ): void {
    if (statusCode < 200) return;
    clearTimeout(this.#timer);
    this.#controller = controller;
    this.#status = statusCode;
    if (this.#prepareDecoding(singleHeader(headers, 'content-encoding'))) {
      this.events.onHead(statusCode, statusText, headers);
    } else this.giveUp('undecodable');
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#over) return;
    if (this.#decoder) {
      if (!this.#decoder.write(chunk)) this.#controller?.pause();
    } else this.#receiver.onBytes(chunk);
  }

  onResponseEnd(): void {
    this.#arrived = true;
    if (this.#over) this.finish();
    else if (this.#decoder) this.#decoder.end();
    else this.#complete();
  }

  onResponseError(_controller: Dispatcher.DispatchController | undefined, error: Error): void {
    if (this.#over) this.finish();
    else this.#receiver.onFailure(connectionFailure(error));
  }

  /** The receiver of the bytes cannot keep up … */
  pause(): void {
    const source = this.#decoder ?? this.#controller;
    source?.pause();
  }

  /** … and can again. */
  resume(): void {
    this.#decoder?.resume();
    this.#controller?.resume();
  }

  /** Ends the call; a request that is still waiting for its connection is ended when it gets one. */
  giveUp(why: GivenUp['why']): void {
    this.#controller?.abort(new GivenUp(why));
  }

  /**
   * Ends the call now. Without a controller it still waits for its connection; when its answer has arrived, the
   * connection says nothing of the abort.
   */
  stop(why: GivenUp['why']): void {
    if (this.#controller && !this.#arrived) this.giveUp(why);
    else this.onResponseError(this.#controller, new GivenUp(why));
  }

  /** Tells somebody else what still comes of the answer. */
  passTo(receiver: BodyEvents): void {
    this.#receiver = receiver;
  }

  /** Nobody wants the rest of the answer; with none, its connection can be used again. */
  drop(): void {
    if (this.#over) return;
    this.#over = true;
    this.#decoder?.destroy();
    if (this.#arrived) this.finish();
    else this.giveUp('discarded');
  }

  /** The call has come to its end: its connection may carry the next one. */
  finish(): void {
    this.#over = true;
    clearTimeout(this.#timer);
    this.#decoder?.destroy();
    if (this.#client) this.call.pool.release(this.#client);
    this.#client = undefined;
  }

  #complete(): void {
    if (this.#over) return;
    if (this.#status !== 0) this.#receiver.onEnd();
    else this.#receiver.onFailure(new Error('the provider ended its answer without a status'));
  }

  #prepareDecoding(contentEncoding: string | undefined): boolean {
    const decoding = decodingOf(contentEncoding);
    if (decoding.kind !== 'decoder') return decoding.kind === 'identity';
    const { decoder } = decoding;
    this.#decoder = decoder;
    decoder.on('data', (bytes: Buffer) => {
      if (!this.#over) this.#receiver.onBytes(bytes);
    });
    decoder.on('drain', () => this.#controller?.resume());
    decoder.on('end', () => this.#complete());
    decoder.on('error', () => this.stop('undecodable'));
    return true;
  }
}
