import type { ServerResponse } from 'node:http';
import type { Client } from 'undici';
import { GatewayError } from '../../common/errors/gateway-error.js';
import { RequestTimings } from '../../common/http/request-timings.js';
import type { RequestTrace } from '../../platform/traces/request-trace.js';
import { createUsageReader, type UsageReader } from '../../upstreams/usage/usage-reader.js';
import type { UsageReading } from '../../upstreams/usage/usage-reading.js';
import type { UsageAttempt, UsageOutcome } from '../../usage/usage-event.js';
import { UsageChunkFilter } from '../body/usage-chunk-filter.js';
import type { ProviderCall } from '../exchange/provider-call.js';
import { type ExchangeEvents, ProviderExchange } from '../exchange/provider-exchange.js';
import { failureReason, isNotRecordable, isTimeout, refusalOf } from '../exchange/provider-failure.rules.js';
import { tracedAnswer, tracedCall, tracedRequest } from '../exchange/traced-call.rules.js';
import type { AbandonedAnswer } from './abandoned-answers.js';
import { AnswerBody } from './answer-body.js';
import { answerHead, isEventStream, isSuccess } from './answer-head.rules.js';
import type { CallRecord } from './call-record.js';
import { type AnswerHead, ClientAnswer } from './client-answer.js';
import { isTargetFailure } from './fallback.rules.js';
import { HeldOpening } from './held-opening.js';
import type { RelayParts } from './relay-parts.js';
import { singleHeader, type UpstreamHeaders } from './response-headers.rules.js';

/**
 * Relays one provider answer to the client, byte for byte and as it comes. Every call that reaches the provider comes
 * to exactly one end: complete, left by its client, or failed; and is recorded there, once. While nothing has reached
 * the client, a failure may instead hand the request over to the next target, which gets a relay of its own and the
 * same record.
 *
 * The admission is written in `onSend`, the moment before the request goes to the socket: a process that is killed
 * loses no call it made (ADR 0003).
 */
export class Relay implements ExchangeEvents, AbandonedAnswer {
  readonly #exchange: ProviderExchange;
  readonly #answer: ClientAnswer;
  readonly #timings: RequestTimings;
  readonly #body: AnswerBody;
  readonly #startedMs: number;
  readonly #onClose = () => this.#clientClosed();
  #reader: UsageReader | undefined;
  #opening: HeldOpening | undefined;
  #status = 0;
  #contentType = '';
  /** The request is on its way to the provider, or may be. */
  #sent = false;
  #clientLeft = false;
  #ended = false;

  constructor(
    private readonly call: ProviderCall,
    private readonly response: ServerResponse,
    private readonly parts: RelayParts,
    private readonly record: CallRecord,
    private trace?: RequestTrace | undefined,
  ) {
    this.#exchange = new ProviderExchange(call, this);
    this.#answer = new ClientAnswer(response, parts.batch);
    this.#timings = call.request.timings ?? new RequestTimings();
    this.#body = new AnswerBody(call.credential);
    this.#startedMs = parts.clock.monotonicMs();
  }

  /**
   * Sends the request on a connection of the origin's; from here on the relay owns the answer. A client that left while
   * its body was judged costs no call.
   */
  start(client: Client): void {
    if (this.response.destroyed) {
      this.call.pool.release(client);
      this.#leave();
      return;
    }
    this.trace ??= this.parts.traces.calls?.begin(tracedRequest(this.call));
    this.response.once('close', this.#onClose);
    this.parts.sends.add({ send: () => this.#exchange.start(client), failed: (error) => this.onFailure(error) });
  }

  onSend(): void {
    if (this.#clientLeft) {
      this.#exchange.giveUp('client_left');
      return;
    }
    this.record.admit(this.call.admission);
    this.#sent = true;
  }

  onHead(status: number, statusText: string, headers: UpstreamHeaders): void {
    this.#status = status;
    this.#timings.providerTtfbMs = this.parts.clock.monotonicMs() - this.#startedMs;
    this.parts.metrics.providerAnswered(this.call.admission.providerType, status, this.#timings.providerTtfbMs);
    if (isTargetFailure(status) && this.#fallBack(null)) return;
    this.#contentType = singleHeader(headers, 'content-type') ?? '';
    this.#readUsage();
    if (this.#clientLeft) return;
    const isWhole = !this.#exchange.isDecoded && !this.#body.isFiltered;
    const secret = this.call.credential;
    this.#begin(answerHead({ status, statusText, headers, secret, isWhole, timings: this.#timings }));
  }

  onBytes(bytes: Buffer): void {
    if (this.#opening === undefined) this.#relay(bytes);
    else this.#judgeOpening(this.#opening, bytes);
  }

  onEnd(): void {
    this.#open();
    if (!this.#clientLeft) {
      for (const rest of this.#body.end()) this.#answer.write(rest);
      this.#answer.end();
    }
    this.#settle({ clientAborted: this.#clientLeft, error: null });
  }

  onFailure(error: Error): void {
    if (isTimeout(error)) this.#logTimeout();
    if (this.#isUnanswered(error)) this.parts.metrics.providerFailed(this.call.admission.providerType);
    if (this.#clientLeft) this.#leave();
    else if (!this.#answer.takeBack()) this.#breakOff(error);
    else if (!isNotRecordable(error) && this.#fallBack(failureReason(error))) this.#exchange.finish();
    else this.#refuse(error);
  }

  /** The provider is why there is no answer, not its client and not the journal. */
  #isUnanswered(error: Error): boolean {
    return this.#status === 0 && !this.#clientLeft && !isNotRecordable(error);
  }

  /** Gives up an answer whose client has left. */
  cancel(): void {
    this.#exchange.giveUp('cancelled');
  }

  #readUsage(): void {
    if (!isSuccess(this.#status)) return;
    const { style, admission, withholdUsageChunk } = this.call;
    const { providerType: type, reportsCost } = admission;
    const contentType = this.#contentType;
    this.#reader = createUsageReader({ style, type, reportsCost, contentType });
    if (withholdUsageChunk && isEventStream(contentType)) this.#body.withhold(new UsageChunkFilter());
  }

  /** A stream that could still be replaced waits for its first content; everything else goes out as it comes. */
  #begin(head: AnswerHead): void {
    const isReplaceable = this.call.chain?.hasNext && isSuccess(this.#status) && isEventStream(this.#contentType);
    if (isReplaceable) this.#opening = new HeldOpening(head, () => this.#open());
    else this.#answer.begin(head);
  }

  #relay(chunk: Buffer): void {
    this.call.chain?.end();
    if (!this.#clientLeft) {
      const bytes = this.#body.push(chunk);
      if (bytes && !this.#answer.write(bytes)) this.#waitForClient();
    }
    this.#reader?.push(chunk);
  }

  #judgeOpening(opening: HeldOpening, bytes: Buffer): void {
    const verdict = opening.push(bytes);
    if (verdict === 'undecided') return;
    if (verdict === 'failed' && this.#fallBack(opening.failure ?? 'stream_error')) this.#exchange.giveUp('discarded');
    else this.#open();
  }

  /** Nothing replaces this stream any more: what was held back goes out. */
  #open(): void {
    const opening = this.#opening;
    if (opening === undefined) return;
    this.#opening = undefined;
    if (!this.#clientLeft) this.#answer.begin(opening.head);
    for (const chunk of opening.release()) this.#relay(chunk);
  }

  /** A client that does not read slows its own provider connection, and nothing else. */
  #waitForClient(): void {
    this.#exchange.pause();
    this.#answer.whenDrained(() => this.#exchange.resume());
  }

  /**
   * Hands the request over to the next target, if there is one: then this relay has ended.
   *
   * @param error what went wrong, beside the status.
   */
  #fallBack(error: string | null): boolean {
    const { chain } = this.call;
    if (chain === undefined || this.#clientLeft) return false;
    const next = chain.next(error ?? `status_${this.#status}`);
    if (next === undefined) return false;
    const attempt = this.#attempt(error);
    // Where it had begun to answer, it may charge for what was held back.
    for (const chunk of this.#opening?.release() ?? []) this.#reader?.push(chunk);
    this.record.addFailed(attempt, this.#sent, isSuccess(this.#status) ? this.#outcome(attempt, false) : undefined);
    this.#traceCall(error, undefined);
    // The next target's time to its first byte is its own.
    this.#timings.providerTtfbMs = 0;
    this.#ended = true;
    this.response.off('close', this.#onClose);
    this.#exchange.discard();
    new Relay(next.call, this.response, this.parts, this.record, this.trace).start(next.client);
    return true;
  }

  /** No answer has begun: the client gets one of ours. A failed connection is an event too (contract-app 6.11). */
  #refuse(error: Error): void {
    const refusal = refusalOf(error, this.call.ttfbTimeoutMs);
    if (!this.#sent && refusal.code === 'provider_error') this.#admitUnsent();
    this.parts.refusals.answer(this.call.request, this.response, refusal);
    this.#settle({ clientAborted: false, error: failureReason(error) });
  }

  /** The answer had begun: it is cut, and the log says why. */
  #breakOff(error: Error): void {
    const { eventId, providerSlug, route } = this.call.admission;
    this.parts.log.event('provider_stream_failed', { eventId, provider: providerSlug, route, error: error.message });
    this.#answer.cut();
    this.#settle({ clientAborted: false, error: failureReason(error) });
  }

  /** The client is gone and there is no answer to wait for. Without a call there is nothing to record. */
  #leave(): void {
    if (this.record.isAdmitted) {
      this.#settle({ clientAborted: true, error: null });
      return;
    }
    this.record.abandon();
    this.#end(null);
  }

  /** The call never went out, so nothing was promised; it is recorded all the same where it can be. */
  #admitUnsent(): void {
    try {
      this.record.admit(this.call.admission);
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
    }
  }

  #settle({ clientAborted, error }: { clientAborted: boolean; error: string | null }): void {
    const attempt = this.#attempt(error);
    const called = this.#sent || !clientAborted;
    const outcome = this.#outcome(attempt, clientAborted);
    this.record.settle(outcome, called ? attempt : undefined, this.#sent);
    if (called && this.record.isAdmitted) this.#traceCall(error, outcome.reading);
    this.#end(error);
  }

  #outcome({ error, latencyMs }: UsageAttempt, clientAborted: boolean): UsageOutcome {
    const { price, hostedTools } = this.call;
    // A call that was cancelled before its answer may still be charged for: it counts as answered, usage unknown.
    const answered = isSuccess(this.#status) || (clientAborted && this.#sent && this.#status === 0);
    const status = answered && error === null ? 'ok' : 'provider_error';
    const reading = this.#reader?.finish();
    return { status, answered, latencyMs, clientAborted, reading, price, contentType: this.#contentType, hostedTools };
  }

  /** This target, as the event of a request with several tells of it. */
  #attempt(error: string | null): UsageAttempt {
    const { providerSlug, model } = this.call.admission;
    const latencyMs = Math.round(this.#timings.providerTtfbMs || this.parts.clock.monotonicMs() - this.#startedMs);
    return { providerSlug, model, status: this.#status || null, latencyMs, error };
  }

  #traceCall(error: string | null, reading: UsageReading | undefined): void {
    if (this.trace === undefined) return;
    this.trace.addCall(tracedCall(this.call, { startedMs: this.#startedMs, status: this.#status, error, reading }));
  }

  #end(error: string | null): void {
    this.#ended = true;
    this.#opening?.release();
    if (this.#clientLeft) this.parts.abandoned.ended(this);
    this.#exchange.finish();
    this.trace?.end(tracedAnswer(this.response, error, this.#clientLeft));
  }

  #clientClosed(): void {
    if (this.#ended || this.response.writableFinished) return;
    this.#clientLeft = true;
    if (!this.#sent) {
      this.#exchange.giveUp('client_left');
      return;
    }
    this.#open();
    this.#exchange.resume();
    this.parts.abandoned.take(this);
  }

  #logTimeout(): void {
    const { ttfbTimeoutMs, admission } = this.call;
    const { eventId, providerSlug, route } = admission;
    const timeoutSeconds = Math.round(ttfbTimeoutMs) / 1000;
    this.parts.log.event('provider_ttfb_timeout', { eventId, provider: providerSlug, route, timeoutSeconds });
  }
}
