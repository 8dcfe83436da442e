import type { ServerResponse } from 'node:http';
import type { Client } from 'undici';
import { GatewayError } from '../../common/errors/gateway-error.js';
import { RequestTimings } from '../../common/http/gateway-request.js';
import type { RequestTrace } from '../../platform/traces/request-trace.js';
import { createUsageReader, NOTHING_USED, type UsageReader } from '../../upstreams/usage/usage-reader.js';
import type { UsageReading } from '../../upstreams/usage/usage-reading.js';
import type { CallEnding, UsageAttempt, UsageOutcome } from '../../usage/usage-event.js';
import { UsageChunkFilter } from '../body/usage-chunk-filter.js';
import type { ProviderCall } from '../exchange/provider-call.js';
import { type ExchangeEvents, ProviderExchange } from '../exchange/provider-exchange.js';
import { failureReason, GivenUp, isOurFailure, isTimeout, refusalOf } from '../exchange/provider-failure.rules.js';
import { tracedAnswer, tracedCall, tracedRequest } from '../exchange/traced-call.rules.js';
import { AnswerBody } from './answer-body.js';
import { BufferedStreamHead } from './buffered-stream-head.js';
import { endingOf, isTargetFailure, maxChargeOf, outcomeOf } from './call-outcome.rules.js';
import type { CallRecord } from './call-record.js';
import { type AnswerHead, ClientAnswer } from './client-answer.js';
import { KeptAnswer } from './kept-answer.js';
import type { RelayParts } from './relay-parts.js';
import { answerHead, isEventStream, isSuccess, singleHeader, type UpstreamHeaders } from './response-headers.rules.js';
import type { AbandonedAnswer, OpenAnswer } from './unfinished-answers.js';

/** Outcome of a call for its record. */
interface CallEnd {
  readonly clientAborted: boolean;
  /** The failure besides the status. */
  readonly error: string | null;
  /** Whether the answer was complete. */
  readonly isWhole?: boolean;
}

/**
 * Relays one provider answer to the client, byte for byte as it arrives. Every call that reaches the provider has
 * exactly one end (complete, client disconnected, or failed) and is recorded there once. Until anything reaches the
 * client, a failure may instead pass the request to the next target, which gets its own relay and the same record.
 *
 * The admission is written in `onSend`, immediately before the request goes to the socket, so that a killed process
 * loses no call (ADR 0003). Where calls wait for the disk, the batch writes it earlier (ADR 0037).
 */
export class Relay implements ExchangeEvents, AbandonedAnswer, OpenAnswer {
  readonly #exchange: ProviderExchange;
  readonly #answer: ClientAnswer;
  readonly #timings: RequestTimings;
  readonly #body: AnswerBody;
  readonly #startedMs: number;
  readonly #onClose = () => this.#clientClosed();
  #reader: UsageReader | undefined;
  #streamHead: BufferedStreamHead | undefined;
  #status = 0;
  #contentType = '';
  #isWrittenDown = false;
  /** Bytes of the answer read so far. */
  #bytes = 0;
  /** The request has been sent, or may have been. */
  #sent = false;
  #clientLeft = false;
  #ended = false;

  constructor(
    private readonly call: ProviderCall,
    private readonly response: ServerResponse,
    private readonly parts: RelayParts,
    private readonly record: CallRecord,
    private trace?: RequestTrace | undefined,
    /** The last answer of earlier targets. */
    private kept?: KeptAnswer | undefined,
  ) {
    this.#exchange = new ProviderExchange(call, this);
    this.#answer = new ClientAnswer(response, parts.batch);
    this.#timings = call.request.timings ?? new RequestTimings();
    this.#body = new AnswerBody(call.credential, call.accountSecrets);
    this.#startedMs = parts.clock.monotonicMs();
  }

  /**
   * Sends the request on a connection to the call's origin; from here on the relay owns the answer. A client that
   * disconnected during validation causes no call.
   */
  start(client: Client): void {
    if (this.response.destroyed) {
      this.call.pool.release(client);
      this.#leave();
      return;
    }
    if (this.parts.open.isStopping) {
      this.call.pool.release(client);
      this.#refuse(new GivenUp('interrupted'));
      return;
    }
    this.parts.open.add(this);
    this.trace ??= this.parts.traces.calls?.begin(tracedRequest(this.call));
    this.response.once('close', this.#onClose);
    this.#exchange.take(client);
    this.parts.sends.add({
      admit: () => this.#admit(),
      send: () => this.#exchange.start(),
      failed: (error) => {
        if (!this.#ended) this.onFailure(error);
      },
    });
  }

  onSend(): void {
    if (this.#clientLeft) {
      this.#exchange.giveUp('client_left');
      return;
    }
    this.#admit();
    this.#sent = true;
  }

  onHead(status: number, statusText: string, headers: UpstreamHeaders): void {
    this.#status = status;
    this.#timings.providerTtfbMs = this.parts.clock.monotonicMs() - this.#startedMs;
    this.parts.metrics.providerAnswered(this.call.admission.providerType, status, this.#timings.providerTtfbMs);
    this.#contentType = singleHeader(headers, 'content-type') ?? '';
    this.#readUsage();
    if (this.#clientLeft) return;
    const isWhole = !this.#exchange.isDecoded && !this.#body.isFiltered;
    const { credential, accountSecrets, redaction } = this.call;
    const secrets = accountSecrets.patternsWith(credential);
    const head = answerHead({ status, statusText, headers, secrets, isWhole, timings: this.#timings, redaction });
    if (!isTargetFailure(status) || !this.#fallBack(null, head)) this.#begin(head);
  }

  onBytes(bytes: Buffer): void {
    if (this.#streamHead === undefined) this.#relay(bytes);
    else this.#checkStreamHead(this.#streamHead, bytes);
  }

  onEnd(): void {
    this.#open();
    if (!this.#clientLeft) {
      for (const rest of this.#body.end()) this.#answer.write(rest);
      this.#answer.end();
    }
    this.#settle({ clientAborted: this.#clientLeft, error: null, isWhole: true });
  }

  onFailure(error: Error): void {
    if (isTimeout(error)) this.#logTimeout();
    if (this.#isUnanswered(error)) this.parts.metrics.providerFailed(this.call.admission.providerType);
    if (this.#clientLeft) this.#leave();
    else if (!this.#answer.takeBack()) this.#breakOff(error);
    else if (isOurFailure(error)) this.#refuse(error);
    else if (this.#fallBack(failureReason(error))) this.#exchange.finish();
    else if (this.kept === undefined) this.#refuse(error);
    else this.#answerWith(this.kept, failureReason(error));
  }

  /**
   * Records the call of this target once. @throws service_unavailable it could not be recorded; it must not be sent.
   */
  #admit(): void {
    if (this.#isWrittenDown || this.#clientLeft || this.#ended) return;
    this.record.admit(this.call.admission);
    this.#isWrittenDown = true;
  }

  /** Whether the provider caused the missing answer, not its client and not the gateway. */
  #isUnanswered(error: Error): boolean {
    return this.#status === 0 && !this.#clientLeft && !isOurFailure(error);
  }

  /** Cancels an answer whose client has disconnected. */
  cancel(): void {
    this.#exchange.giveUp('cancelled');
  }

  /**
   * Ends the answer after the drain time of a shutdown. Its client has not disconnected, so the call does not count as
   * aborted by the client (ADR 0030).
   */
  interrupt(): void {
    if (this.#clientLeft) return;
    if (!this.#ended) this.#exchange.stop('interrupted');
    else if (!this.response.writableFinished) this.#answer.cut();
  }

  #readUsage(): void {
    if (!isSuccess(this.#status)) return;
    const { style, admission, withholdUsageChunk, isFree } = this.call;
    const { providerType: type, reportsCost } = admission;
    const contentType = this.#contentType;
    this.#reader = isFree ? NOTHING_USED : createUsageReader({ style, type, reportsCost, contentType });
    if (withholdUsageChunk && isEventStream(contentType)) this.#body.withhold(new UsageChunkFilter());
  }

  /** Holds a replaceable stream until its first content; relays everything else immediately. */
  #begin(head: AnswerHead): void {
    const { fallbackHoldMs } = this.parts;
    const isReplaceable = this.call.chain?.hasNext && isSuccess(this.#status) && isEventStream(this.#contentType);
    if (isReplaceable && fallbackHoldMs > 0)
      this.#streamHead = new BufferedStreamHead(head, fallbackHoldMs, () => this.#open());
    else this.#answer.begin(head);
  }

  #relay(chunk: Buffer): void {
    this.call.chain?.end();
    this.kept = undefined;
    this.#bytes += chunk.length;
    if (!this.#clientLeft) {
      const bytes = this.#body.push(chunk);
      if (bytes && !this.#answer.write(bytes)) this.#waitForClient();
    }
    this.#reader?.push(chunk);
  }

  #checkStreamHead(streamHead: BufferedStreamHead, bytes: Buffer): void {
    const verdict = streamHead.push(bytes);
    if (verdict === 'undecided') return;
    if (verdict === 'failed' && this.#fallBack(streamHead.failure ?? 'stream_error', streamHead.head))
      this.#exchange.drop();
    else this.#open();
  }

  /** Commits to this stream and sends the held bytes. */
  #open(): void {
    const streamHead = this.#streamHead;
    if (streamHead === undefined) return;
    this.#streamHead = undefined;
    if (!this.#clientLeft) this.#answer.begin(streamHead.head);
    for (const chunk of streamHead.release()) this.#relay(chunk);
  }

  /** Applies backpressure of the client to its own provider connection only. */
  #waitForClient(): void {
    this.#exchange.pause();
    this.#answer.whenDrained(() => this.#exchange.resume());
  }

  /**
   * Passes the request to the next target, if there is one; this relay has then ended.
   *
   * @param error the failure besides the status.
   * @param head of the answer of this target; absent without an answer or for one that will stay incomplete.
   */
  #fallBack(error: string | null, head?: AnswerHead): boolean {
    const { chain } = this.call;
    if (chain === undefined || this.#clientLeft) return false;
    const next = chain.next(
      error ?? `status_${this.#status}`,
      this.record.unansweredNanoUsd + maxChargeOf(this.#ending(false), this.call.admission),
    );
    if (next === undefined) return false;
    const attempt = this.#attempt(error);
    const held = this.#streamHead?.release() ?? [];
    const outcome = this.#fail(attempt, held, head !== undefined);
    const kept = head === undefined ? this.kept : this.#keep(head, outcome, held);
    // The timing covers the target that serves the request.
    this.#timings.providerTtfbMs = 0;
    this.response.off('close', this.#onClose);
    this.parts.open.delete(this);
    new Relay(next.call, this.response, this.parts, this.record, this.trace, kept).start(next.client);
    return true;
  }

  /**
   * Records that this target has failed while the request continues.
   *
   * @param held bytes of the stream so far.
   * @param isReported whether the answer itself reported the failure; it is then complete.
   */
  #fail(attempt: UsageAttempt, held: readonly Buffer[], isReported: boolean): UsageOutcome {
    this.#ended = true;
    // The provider may charge for the held part of a started answer.
    for (const chunk of held) {
      this.#bytes += chunk.length;
      this.#reader?.push(chunk);
    }
    const outcome = this.#outcome(attempt, { clientAborted: false, isWhole: isReported });
    this.record.addFailed(attempt, outcome);
    this.#traceCall(attempt.error, undefined);
    return outcome;
  }

  /** Retains the answer: a stream with an error event is complete with it; of any other answer the rest is read. */
  #keep(head: AnswerHead, outcome: UsageOutcome, held: readonly Buffer[]): KeptAnswer {
    // The possible charge of this target has been counted with its attempt.
    const refused = { status: 'provider_error', ending: 'refused', reading: undefined, loss: undefined } as const;
    const kept = new KeptAnswer({ call: this.call, head, body: this.#body, outcome: { ...outcome, ...refused } });
    if (this.#streamHead === undefined) kept.read(this.#exchange);
    else kept.take(held);
    return kept;
  }

  /** Sends the last answer of earlier targets: no target is left and this one gave no answer. */
  #answerWith(kept: KeptAnswer, error: string): void {
    this.#fail(this.#attempt(error), this.#streamHead?.release() ?? [], false);
    this.#exchange.finish();
    kept.onSettled(() => {
      const { call, outcome } = kept.facts;
      const { response, parts } = this;
      const clientAborted = response.destroyed && !parts.open.isStopping;
      if (!response.destroyed) {
        kept.sendTo(this.#answer, (refusal) => parts.refusals.answer(call.request, response, refusal));
      }
      // From here on the event belongs to the target of that answer.
      this.record.admit(call.admission);
      this.record.settle({ ...outcome, clientAborted }, undefined);
      this.trace?.end(tracedAnswer(response, null, clientAborted));
    });
  }

  /** Sends an error of the gateway before any answer has started. A failed connection is recorded too. */
  #refuse(error: Error): void {
    const refusal = refusalOf(error, this.call.ttfbTimeoutMs);
    if (!this.#sent && refusal.code === 'provider_error') this.#admitUnsent();
    this.parts.refusals.answer(this.call.request, this.response, refusal);
    this.#settle({ clientAborted: false, error: failureReason(error) });
  }

  /** Cuts an answer that has started, and logs why. */
  #breakOff(error: Error): void {
    const { eventId, providerSlug, route } = this.call.admission;
    if (!isOurFailure(error)) {
      this.parts.log.event('provider_stream_failed', { eventId, provider: providerSlug, route, error: error.message });
    }
    this.#answer.cut();
    this.#settle({ clientAborted: false, error: failureReason(error) });
  }

  /**
   * Ends a request whose client has disconnected, without a further answer. Without a call there is nothing to record.
   */
  #leave(): void {
    if (this.record.isAdmitted) {
      this.#settle({ clientAborted: true, error: null });
      return;
    }
    this.record.abandon();
    this.#end(null);
  }

  /** Records a call that was never sent, if possible. */
  #admitUnsent(): void {
    try {
      this.record.admit(this.call.admission);
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
    }
  }

  #settle({ error, ...end }: CallEnd): void {
    const attempt = this.#attempt(error);
    const called = this.#sent || !end.clientAborted;
    const outcome = this.#outcome(attempt, end);
    this.record.settle(outcome, called ? attempt : undefined);
    if (called && this.record.isAdmitted) this.#traceCall(error, outcome.reading);
    this.#end(error);
  }

  #outcome(attempt: UsageAttempt, { clientAborted, isWhole = false }: Omit<CallEnd, 'error'>): UsageOutcome {
    const { price, hostedTools } = this.call;
    return outcomeOf(attempt, {
      ...{ ending: this.#ending(isWhole), clientAborted, price, hostedTools },
      ...{ reading: this.#reader?.finish(), contentType: this.#contentType, bytes: this.#bytes },
    });
  }

  #ending(isWhole: boolean): CallEnding {
    return endingOf({ isSent: this.#sent, status: this.#exchange.status, isWhole });
  }

  /** The entry of this target in the event. */
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
    this.#streamHead?.release();
    if (this.#clientLeft) this.parts.abandoned.ended(this);
    this.#exchange.finish();
    this.trace?.end(tracedAnswer(this.response, error, this.#clientLeft));
  }

  #clientClosed(): void {
    this.parts.open.delete(this);
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
