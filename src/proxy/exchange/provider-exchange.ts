import type { Transform } from 'node:stream';
import type { Client, Dispatcher } from 'undici';
import { singleHeader, type UpstreamHeaders } from '../relay/response-headers.rules.js';
import { decodingOf } from './content-decoder.js';
import type { ProviderCall } from './provider-call.js';
import { connectionFailure, GivenUp } from './provider-failure.rules.js';

/** What is read of an answer nobody wants, so that its connection can be used again, in bytes … */
const DISCARD_MAX_BYTES = 64 * 1024;
/** … and in time. */
const DISCARD_MAX_MS = 2_000;

/** What becomes of one call. After `onEnd` or `onFailure` nothing more comes. */
export interface ExchangeEvents {
  /** The request goes to the socket now. What is thrown keeps it from going, and comes back as the failure. */
  onSend(): void;
  onHead(status: number, statusText: string, headers: UpstreamHeaders): void;
  /** The next bytes of the body, decoded. */
  onBytes(bytes: Buffer): void;
  onEnd(): void;
  onFailure(error: Error): void;
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
  #discardedBytes = 0;
  #status = 0;
  /** The connection has brought the whole answer and tells nothing more of this call, whatever is decoded still. */
  #arrived = false;
  /** Nobody listens any more. */
  #over = false;

  constructor(
    private readonly call: ProviderCall,
    private readonly events: ExchangeEvents,
  ) {}

  /** The bytes of the body are not those the provider sent. */
  get isDecoded(): boolean {
    return this.#decoder !== undefined;
  }

  /** Sends the request on a connection of the origin's, which this object gives back. */
  start(client: Client): void {
    const { method, path, headers, body, ttfbTimeoutMs } = this.call;
    this.#client = client;
    this.#timer = setTimeout(() => this.#timeOut(), ttfbTimeoutMs);
    // undici takes any iterable; its types know the asynchronous ones alone.
    const sent = body as Dispatcher.DispatchOptions['body'];
    client.dispatch({ method: method as Dispatcher.HttpMethod, path, headers, body: sent }, this);
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
    if (this.#over) this.#count(chunk);
    else if (this.#decoder) {
      if (!this.#decoder.write(chunk)) this.#controller?.pause();
    } else this.events.onBytes(chunk);
  }

  onResponseEnd(): void {
    this.#arrived = true;
    if (this.#over) this.finish();
    else if (this.#decoder) this.#decoder.end();
    else this.#complete();
  }

  onResponseError(_controller: Dispatcher.DispatchController | undefined, error: Error): void {
    if (this.#over) this.finish();
    else this.events.onFailure(connectionFailure(error));
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

  /** Nobody wants the rest of the answer. It is read, within bounds, so that its connection can be used again. */
  discard(): void {
    this.#over = true;
    this.#decoder?.destroy();
    clearTimeout(this.#timer);
    if (this.#arrived) this.finish();
    else this.#timer = setTimeout(() => this.giveUp('discarded'), DISCARD_MAX_MS);
  }

  /** The call has come to its end: its connection may carry the next one. */
  finish(): void {
    this.#over = true;
    clearTimeout(this.#timer);
    this.#decoder?.destroy();
    if (this.#client) this.call.pool.release(this.#client);
    this.#client = undefined;
  }

  #count(chunk: Buffer): void {
    this.#discardedBytes += chunk.length;
    if (this.#discardedBytes > DISCARD_MAX_BYTES) this.giveUp('discarded');
  }

  #complete(): void {
    if (this.#over) return;
    if (this.#status !== 0) this.events.onEnd();
    else this.events.onFailure(new Error('the provider ended its answer without a status'));
  }

  /** No response headers in time; without a controller the call still waits for its connection. */
  #timeOut(): void {
    if (this.#controller) this.giveUp('timeout');
    else this.onResponseError(undefined, new GivenUp('timeout'));
  }

  #prepareDecoding(contentEncoding: string | undefined): boolean {
    const decoding = decodingOf(contentEncoding);
    if (decoding.kind !== 'decoder') return decoding.kind === 'identity';
    const { decoder } = decoding;
    this.#decoder = decoder;
    decoder.on('data', (bytes: Buffer) => {
      if (!this.#over) this.events.onBytes(bytes);
    });
    decoder.on('drain', () => this.#controller?.resume());
    decoder.on('end', () => this.#complete());
    decoder.on('error', () => {
      this.giveUp('undecodable');
      // A call whose answer has arrived whole is over for its connection, which then says nothing of the abort.
      this.onResponseError(this.#controller, new GivenUp('undecodable'));
    });
    return true;
  }
}
