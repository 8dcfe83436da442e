import type { ServerResponse } from 'node:http';
import type { Transform } from 'node:stream';
import type { Client, Dispatcher } from 'undici';
import { GatewayError } from '../../common/errors/gateway-error.js';
import { RequestTimings, SERVER_TIMING } from '../../common/http/request-timings.js';
import { createUsageReader, type UsageReader } from '../../upstreams/usage/usage-reader.js';
import type { UsageTicket } from '../../usage/usage-recorder.service.js';
import { UsageChunkFilter } from '../body/usage-chunk-filter.js';
import type { AbandonedAnswer } from './abandoned-answers.js';
import { ClientAnswer } from './client-answer.js';
import { decodingOf } from './content-decoder.js';
import type { ProviderCall } from './provider-call.js';
import { GivenUp, providerError, timeoutError } from './provider-failure.rules.js';
import type { RelayParts } from './relay-parts.js';
import { clientHeaders, singleHeader, type UpstreamHeaders, withoutControls } from './response-headers.rules.js';
import { maskText, SecretMask } from './secret-mask.js';

/**
 * Relays one provider answer to the client, byte for byte and as it comes. Every call that reaches the provider comes
 * to exactly one end: complete, left by its client, or failed; and is recorded there, once.
 *
 * Its methods are undici's callbacks in their order. The admission is written in `onRequestStart`, the moment before
 * the request goes to the socket: a process that is killed loses no call it made (ADR 0003).
 */
export class Relay implements Dispatcher.DispatchHandler, AbandonedAnswer {
  readonly #answer: ClientAnswer;
  readonly #timings: RequestTimings;
  readonly #mask: SecretMask;
  readonly #startedMs: number;
  #client: Client | undefined;
  #controller: Dispatcher.DispatchController | undefined;
  #timer: NodeJS.Timeout | undefined;
  #ticket: UsageTicket | undefined;
  #reader: UsageReader | undefined;
  #filter: UsageChunkFilter | undefined;
  #decoder: Transform | undefined;
  #refusal: GatewayError | undefined;
  #status = 0;
  #contentType = '';
  #clientLeft = false;
  #ended = false;

  constructor(
    private readonly call: ProviderCall,
    private readonly response: ServerResponse,
    private readonly parts: RelayParts,
  ) {
    this.#answer = new ClientAnswer(response, parts.batch);
    this.#timings = call.request.timings ?? new RequestTimings();
    this.#mask = new SecretMask(Buffer.from(call.credential));
    this.#startedMs = parts.clock.monotonicMs();
  }

  /**
   * Sends the request on a connection of the origin's; from here on the relay owns the answer. A client that left while
   * its body was judged costs no call.
   */
  start(client: Client): void {
    const { method, path, headers, body, ttfbTimeoutMs } = this.call;
    this.#client = client;
    if (this.response.destroyed) {
      this.#end();
      return;
    }
    this.#timer = setTimeout(() => this.#timeOut(), ttfbTimeoutMs);
    this.response.once('close', () => this.#clientClosed());
    client.dispatch({ method: method as Dispatcher.HttpMethod, path, headers, body }, this);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#clientLeft) this.#giveUp('client_left');
    else if (this.#ended) controller.abort(new GivenUp('timeout'));
    else this.#admit();
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
    this.#contentType = singleHeader(headers, 'content-type') ?? '';
    this.#timings.providerTtfbMs = this.parts.clock.monotonicMs() - this.#startedMs;
    if (this.#prepareDecoding(singleHeader(headers, 'content-encoding'))) this.#begin(statusText, headers);
    else this.#giveUp('undecodable');
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#decoder) {
      if (!this.#decoder.write(chunk)) this.#controller?.pause();
    } else this.#relay(chunk);
  }

  onResponseEnd(): void {
    if (this.#decoder) this.#decoder.end();
    else this.#complete();
  }

  onResponseError(_controller: Dispatcher.DispatchController | undefined, error: Error): void {
    if (this.#ended) return;
    if (error instanceof GivenUp && error.why === 'client_left') this.#end();
    else if (this.#clientLeft && this.#ticket) this.#settle({ clientAborted: true, failed: false });
    else if (this.#clientLeft) this.#end();
    else if (this.#answer.takeBack()) this.#refuse(error);
    else this.#breakOff(error);
  }

  /** Gives up an answer whose client has left. */
  cancel(): void {
    this.#giveUp('cancelled');
  }

  #admit(): void {
    try {
      this.#ticket = this.parts.recorder.admit(this.call.admission);
    } catch (error) {
      this.#refusal = error instanceof GatewayError ? error : new GatewayError('internal_error', { cause: error });
      this.#giveUp('not_recordable');
    }
  }

  #begin(statusText: string, headers: UpstreamHeaders): void {
    if (isSuccess(this.#status)) {
      const { style, admission } = this.call;
      this.#reader = createUsageReader({
        style,
        type: admission.providerType,
        reportsCost: admission.reportsCost,
        contentType: this.#contentType,
      });
      if (this.call.withholdUsageChunk && isEventStream(this.#contentType)) this.#filter = new UsageChunkFilter();
    }
    if (this.#clientLeft) return;
    this.#answer.begin({
      status: this.#status,
      statusText: maskText(withoutControls(statusText), this.call.credential),
      headers: this.#headersFor(headers),
      bodyBytes: this.#bodyBytes(headers),
    });
  }

  #relay(chunk: Buffer): void {
    if (!this.#clientLeft) {
      const masked = this.#mask.push(chunk);
      const bytes = masked && this.#filter ? this.#filter.push(masked) : masked;
      if (bytes && !this.#answer.write(bytes)) this.#waitForClient();
    }
    this.#reader?.push(chunk);
  }

  /** A client that does not read slows its own provider connection, and nothing else. */
  #waitForClient(): void {
    const source = this.#decoder ?? this.#controller;
    source?.pause();
    this.#answer.whenDrained(() => source?.resume());
  }

  #complete(): void {
    if (this.#ended) return;
    if (this.#status === 0) {
      this.onResponseError(this.#controller, new Error('the provider ended its answer without a status'));
      return;
    }
    if (!this.#clientLeft) {
      const rest = this.#mask.end();
      const filtered = rest && this.#filter ? this.#filter.push(rest) : rest;
      if (filtered) this.#answer.write(filtered);
      const held = this.#filter?.end();
      if (held) this.#answer.write(held);
      this.#answer.end();
    }
    this.#settle({ clientAborted: this.#clientLeft, failed: false });
  }

  /** No answer has begun: the client gets one of ours. A failed connection is an event too (contract-app 6.11). */
  #refuse(error: Error): void {
    const refusal = this.#refusal ?? providerError(error);
    if (this.#refusal?.code !== 'internal_error' && this.#refusal?.code !== 'service_unavailable') {
      this.#ticket ??= this.#admitUnsent();
    }
    this.parts.refusals.answer(this.call.request, this.response, refusal);
    if (this.#ticket) this.#settle({ clientAborted: false, failed: true });
    else this.#end();
  }

  /** The answer had begun: it is cut, and the log says why. */
  #breakOff(error: Error): void {
    const { eventId, providerSlug, route } = this.call.admission;
    this.parts.log.event('provider_stream_failed', { eventId, provider: providerSlug, route, error: error.message });
    this.#answer.cut();
    this.#settle({ clientAborted: false, failed: true });
  }

  /** The call never went out, so nothing was promised; it is recorded all the same where it can be. */
  #admitUnsent(): UsageTicket | undefined {
    try {
      return this.parts.recorder.admit(this.call.admission);
    } catch (error) {
      if (error instanceof GatewayError) return undefined;
      throw error;
    }
  }

  #settle({ clientAborted, failed }: { clientAborted: boolean; failed: boolean }): void {
    const { price, hostedTools } = this.call;
    // A call that was cancelled before its answer may still be charged for: it counts as answered, usage unknown.
    const answered = isSuccess(this.#status) || (clientAborted && this.#status === 0);
    if (this.#ticket) {
      this.parts.recorder.settle(this.#ticket, {
        status: answered && !failed ? 'ok' : 'provider_error',
        answered,
        latencyMs: Math.round(this.#timings.providerTtfbMs || this.parts.clock.monotonicMs() - this.#startedMs),
        clientAborted,
        reading: this.#reader?.finish(),
        price,
        contentType: this.#contentType,
        hostedTools,
      });
    }
    this.#end();
  }

  #end(): void {
    this.#ended = true;
    clearTimeout(this.#timer);
    this.#decoder?.destroy();
    if (this.#clientLeft) this.parts.abandoned.ended(this);
    if (this.#client) this.call.pool.release(this.#client);
    this.#client = undefined;
  }

  #clientClosed(): void {
    if (this.#ended || this.response.writableFinished) return;
    this.#clientLeft = true;
    if (this.#ticket === undefined) {
      this.#giveUp('client_left');
      return;
    }
    this.#decoder?.resume();
    this.#controller?.resume();
    this.parts.abandoned.take(this);
  }

  #giveUp(why: GivenUp['why']): void {
    this.#controller?.abort(new GivenUp(why));
  }

  /** No response headers in time; without a controller the call still waits for its connection. */
  #timeOut(): void {
    const { ttfbTimeoutMs, admission } = this.call;
    const { eventId, providerSlug, route } = admission;
    const timeoutSeconds = ttfbTimeoutMs / 1000;
    this.parts.log.event('provider_ttfb_timeout', { eventId, provider: providerSlug, route, timeoutSeconds });
    this.#refusal = timeoutError(ttfbTimeoutMs);
    if (this.#controller) this.#giveUp('timeout');
    else this.onResponseError(undefined, new GivenUp('timeout'));
  }

  #prepareDecoding(contentEncoding: string | undefined): boolean {
    const decoding = decodingOf(contentEncoding);
    if (decoding.kind !== 'decoder') return decoding.kind === 'identity';
    const { decoder } = decoding;
    this.#decoder = decoder;
    decoder.on('data', (bytes: Buffer) => this.#relay(bytes));
    decoder.on('drain', () => this.#controller?.resume());
    decoder.on('end', () => this.#complete());
    decoder.on('error', () => {
      this.#giveUp('undecodable');
      // A call whose answer has arrived whole is over for its connection, which then says nothing of the abort.
      this.onResponseError(this.#controller, new GivenUp('undecodable'));
    });
    return true;
  }

  #headersFor(headers: UpstreamHeaders): string[] {
    const list = clientHeaders(headers);
    for (let at = 1; at < list.length; at += 2) list[at] = maskText(list[at] ?? '', this.call.credential);
    list.push(SERVER_TIMING, this.#timings.header());
    return list;
  }

  #bodyBytes(headers: UpstreamHeaders): number | undefined {
    const length = singleHeader(headers, 'content-length');
    return length === undefined || this.#decoder || this.#filter ? undefined : Number(length);
  }
}

function isSuccess(status: number): boolean {
  return status >= 200 && status < 300;
}

function isEventStream(contentType: string): boolean {
  return contentType.toLowerCase().includes('text/event-stream');
}
