import type { ServerResponse } from 'node:http';
import type { RequestTrace } from '../../platform/traces/request-trace.js';
import type { CallEnding, UsageAttempt, UsageOutcome } from '../../usage/recording/usage-event.js';
import type { ProviderConnection } from '../connections/provider-connection.js';
import type { NextCall, ProviderCall } from '../round-trip/provider-call.js';
import {
  failureReason,
  GivenUp,
  isKeepAliveRace,
  isOurFailure,
  isTimeout,
  refusalOf,
} from '../round-trip/provider-failure.rules.js';
import { ProviderRoundTrip, type ReceivedHead, type RoundTripEvents } from '../round-trip/provider-round-trip.js';
import { tracedAnswer } from '../round-trip/traced-call.rules.js';
import { endingOf, isTargetFailure, keptStateOf, maxChargeOf } from './call-outcome.rules.js';
import type { CallRecord } from './call-record.js';
import { type AnswerHead, ClientAnswer } from './client-answer.js';
import { KeptAnswer } from './kept-answer.js';
import type { AbandonedAnswer, OpenAnswer } from './open-answers.js';
import { ProviderAnswer } from './provider-answer.js';
import type { RelayContext } from './relay-context.js';
import { RetainedAnswer } from './retained-answer.js';
import type { WaitingRequest } from './send-batch.js';

/**
 * Relays one provider answer to the client, byte for byte as it arrives. Every call that reaches the provider has
 * exactly one end (complete, client disconnected, or failed) and is recorded there once. Until anything reaches the
 * client, a failure may instead pass the request to the next target, which gets its own relay and the same record.
 *
 * The admission is written in `onSend`, immediately before the request goes to the socket, so that a killed process
 * loses no call. Where calls wait for the disk, the batch writes it earlier (ADR 0003).
 */
export class Relay implements RoundTripEvents, AbandonedAnswer, OpenAnswer, WaitingRequest {
  older: OpenAnswer | undefined;
  newer: OpenAnswer | undefined;
  isLinked = false;
  readonly #roundTrip: ProviderRoundTrip;
  readonly #answer: ClientAnswer;
  readonly #received: ProviderAnswer;
  /** Not an arrow function: one that a member holds keeps every call until a full collection (ADR 0050). */
  readonly #onClose = this.#clientClosed.bind(this);
  /** Absent where the answer is not kept. */
  #kept: KeptAnswer | undefined;
  #isWrittenDown = false;
  /** The request has been sent, or may have been. */
  #sent = false;
  #clientLeft = false;
  #ended = false;

  constructor(
    private readonly call: ProviderCall,
    private readonly response: ServerResponse,
    private readonly parts: RelayContext,
    private readonly record: CallRecord,
    private trace?: RequestTrace | undefined,
    /** The last answer of earlier targets. */
    private kept?: RetainedAnswer | undefined,
    /** The request is sent to this target for the second time. */
    private readonly isRepeated = false,
  ) {
    this.#roundTrip = new ProviderRoundTrip(call, this, parts.turn);
    this.#answer = new ClientAnswer(response);
    this.#received = new ProviderAnswer(call, parts.clock);
  }

  /**
   * Sends the request on a connection of the call's pool; from here on the relay owns the answer. A client that
   * disconnected during validation causes no call.
   */
  start(connection: ProviderConnection): void {
    if (this.response.destroyed) {
      connection.release();
      this.#leave();
      return;
    }
    if (this.parts.open.isStopping) {
      connection.release();
      this.#refuse(new GivenUp('interrupted'));
      return;
    }
    this.parts.open.add(this);
    this.trace ??= this.parts.telemetry.begin(this.call);
    this.response.once('close', this.#onClose);
    this.#roundTrip.take(connection);
    this.parts.sends.add(this);
  }

  send(): void {
    this.#roundTrip.start();
  }

  failed(error: Error): void {
    if (!this.#ended) this.onFailure(error);
  }

  onSend(): void {
    if (this.#clientLeft) this.#roundTrip.giveUp('client_left');
    else {
      this.admit();
      this.#sent = true;
    }
  }

  onHead(received: ReceivedHead): void {
    const { status } = received.head;
    this.#received.begin(received.head);
    this.parts.telemetry.answered(this.call, status, this.#received.timings.providerTtfbMs);
    if (this.#clientLeft && this.call.keep === undefined) return;
    const head = this.#received.headOf(received);
    if (!isTargetFailure(status) || !this.#fallBack(null, head)) this.#begin(head);
  }

  onBytes(bytes: Buffer): void {
    const { streamHead } = this.#received;
    if (streamHead === undefined) {
      this.#relay(bytes);
      return;
    }
    const verdict = streamHead.push(bytes);
    if (verdict === 'undecided') return;
    if (verdict === 'failed' && this.#fallBack(streamHead.failure ?? 'stream_error', streamHead.head))
      this.#roundTrip.finish();
    else this.#open();
  }

  onEnd(): void {
    this.#open();
    const kept = this.#kept;
    if (kept !== undefined) {
      for (const rest of this.#received.body.end()) kept.push(rest);
      kept.end();
    } else if (!this.#clientLeft) {
      for (const rest of this.#received.body.end()) this.#answer.write(rest);
      this.#answer.end();
    }
    this.#settle(null, { clientAborted: this.#clientLeft, isWhole: true });
  }

  onFailure(error: Error): void {
    if (isKeepAliveRace(error) && this.#repeat(failureReason(error))) {
      this.#roundTrip.finish();
      return;
    }
    if (isTimeout(error)) this.parts.telemetry.timedOut(this.call);
    const isUnanswered = this.#received.status === 0 && !this.#clientLeft && !isOurFailure(error);
    if (isUnanswered) this.parts.telemetry.unanswered(this.call);
    if (this.#clientLeft) this.#leave();
    else if (!this.#answer.takeBack()) this.#breakOff(error);
    else if (isOurFailure(error)) this.#refuse(error);
    else if (this.#fallBack(failureReason(error))) this.#roundTrip.finish();
    else if (this.kept === undefined) this.#refuse(error);
    else this.#answerWith(this.kept, failureReason(error));
  }

  /** Records the call once. @throws service_unavailable it could not be recorded; it must not be sent. */
  admit(): void {
    if (this.#isWrittenDown || this.#clientLeft || this.#ended) return;
    this.record.admit(this.call.admission);
    this.#isWrittenDown = true;
  }

  /** Cancels an answer whose client has disconnected. */
  cancel(): void {
    this.#roundTrip.giveUp('cancelled');
  }

  /** Ends the call for its caller, who stops it by the id of its stream. */
  #stop(): void {
    if (this.#ended) return;
    if (this.#clientLeft) this.parts.abandoned.ended(this);
    this.#clientLeft = true;
    this.#kept?.leave();
    this.parts.open.delete(this);
    this.#answer.cut();
    this.#roundTrip.stop('cancelled');
  }

  /** Ends the answer after the drain time of a shutdown, not as aborted by the client (ADR 0030). */
  interrupt(): void {
    if (this.#clientLeft) return;
    if (!this.#ended) this.#roundTrip.stop('interrupted');
    else if (!this.response.writableFinished) this.#answer.cut();
  }

  /** Holds a replaceable stream until its first content; relays everything else immediately. */
  #begin(head: AnswerHead): void {
    const { fallbackHoldMs } = this.parts;
    const isReplaceable = this.call.chain?.hasNext && this.#received.isStream;
    if (isReplaceable && fallbackHoldMs > 0) this.#received.hold(head, fallbackHoldMs, () => this.#open());
    else this.#commit(head);
  }

  /** From here on the answer is that of this target. */
  #commit(head: AnswerHead): void {
    const stream = this.parts.kept.begin(this.call.keep, head, this.call.style);
    if (stream !== undefined) {
      stream.onStop = this.#stop.bind(this);
      this.#kept = new KeptAnswer(stream, this.#answer, this.#roundTrip.resume.bind(this.#roundTrip));
      if (this.#clientLeft) this.#kept.leave();
    }
    if (this.#clientLeft) return;
    this.#answer.begin(head);
    if (this.parts.heartbeatMs > 0 && this.#received.isStream && head.bodyBytes === undefined)
      this.#answer.beat(this.parts.heartbeatMs);
  }

  #relay(chunk: Buffer): void {
    this.call.chain?.end();
    this.kept = undefined;
    if (this.#kept !== undefined) {
      const bytes = this.#received.body.push(chunk);
      if (bytes && !this.#kept.push(bytes)) this.#roundTrip.pause();
    } else if (!this.#clientLeft) {
      const bytes = this.#received.body.push(chunk);
      if (bytes && !this.#answer.write(bytes)) {
        // The backpressure of the client reaches its own provider connection only.
        this.#roundTrip.pause();
        this.#answer.whenDrained(() => this.#roundTrip.resume());
      }
    }
    this.#received.read(chunk);
  }

  /** Commits to this stream and sends the held bytes. */
  #open(): void {
    const streamHead = this.#received.open();
    if (streamHead === undefined) return;
    this.#commit(streamHead.head);
    for (const chunk of streamHead.release()) this.#relay(chunk);
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
      error ?? `status_${this.#received.status}`,
      this.record.unansweredNanoUsd + maxChargeOf(this.#ending(false), this.call.admission),
    );
    if (next === undefined) return false;
    const attempt = this.#received.attempt(error);
    const held = this.#received.streamHead?.release() ?? [];
    const outcome = this.#fail(attempt, held, head !== undefined);
    const kept = head === undefined ? this.kept : this.#keep(head, outcome, held);
    // The timing covers the target that serves the request.
    this.#received.timings.providerTtfbMs = 0;
    this.#handOver(next, kept);
    return true;
  }

  /** Lets another relay answer the request. */
  #handOver({ call, connection }: NextCall, kept: RetainedAnswer | undefined, isRepeated = false): void {
    const { response, parts, record, trace } = this;
    response.off('close', this.#onClose);
    parts.open.delete(this);
    new Relay(call, response, parts, record, trace, kept, isRepeated).start(connection);
  }

  /**
   * Sends the request once more, on a new connection: the provider closed the kept one without having seen the request,
   * so the first attempt costs nothing.
   */
  #repeat(error: string): boolean {
    if (this.isRepeated || this.#clientLeft) return false;
    const connection = this.call.pool.acquireNew();
    if (connection === undefined) return false;
    this.#recordFailed(this.#received.attempt(error), 'unsent');
    this.#handOver({ call: this.call, connection }, this.kept, true);
    return true;
  }

  /**
   * Records that this target has failed while the request continues.
   *
   * @param held bytes of the stream so far.
   * @param isReported whether the answer itself reported the failure; it is then complete.
   */
  #fail(attempt: UsageAttempt, held: readonly Buffer[], isReported: boolean): UsageOutcome {
    // The provider may charge for the held part of a started answer.
    for (const chunk of held) this.#received.read(chunk);
    const outcome = this.#recordFailed(attempt, this.#ending(isReported));
    this.parts.telemetry.ended(this.call, attempt, outcome);
    return outcome;
  }

  #recordFailed(attempt: UsageAttempt, ending: CallEnding): UsageOutcome {
    this.#ended = true;
    const outcome = this.#received.outcome(attempt, ending, false);
    this.record.addFailed(attempt, outcome);
    this.trace?.addCall(this.#received.traced(attempt.error, undefined));
    return outcome;
  }

  /** Retains the answer: a stream with an error event is complete with it; of any other answer the rest is read. */
  #keep(head: AnswerHead, outcome: UsageOutcome, held: readonly Buffer[]): RetainedAnswer {
    const kept = new RetainedAnswer({ call: this.call, head, body: this.#received.body, outcome });
    if (this.#received.streamHead === undefined) kept.read(this.#roundTrip);
    else kept.take(held);
    return kept;
  }

  /** Sends the last answer of earlier targets: no target is left and this one gave no answer. */
  #answerWith(kept: RetainedAnswer, error: string): void {
    this.#fail(this.#received.attempt(error), this.#received.streamHead?.release() ?? [], false);
    this.#roundTrip.finish();
    const { response, parts, record, trace } = this;
    kept.whenReady(() => kept.serve({ response, answer: this.#answer, parts, record, trace }));
  }

  /** Sends an error of the gateway before any answer has started. A failed connection is recorded too. */
  #refuse(error: Error): void {
    const refusal = refusalOf(error, this.call.ttfbTimeoutMs);
    if (!this.#sent && refusal.code === 'provider_error') this.record.admitUnsent(this.call.admission);
    this.parts.refusals.answer(this.call.request, this.response, refusal);
    this.#settle(failureReason(error));
  }

  /** Cuts an answer that has started, and logs why. */
  #breakOff(error: Error): void {
    if (!isOurFailure(error)) this.parts.telemetry.brokenOff(this.call, error);
    this.#answer.cut();
    this.#settle(failureReason(error));
  }

  /** Ends a request whose client has disconnected; without a call there is nothing to record. */
  #leave(): void {
    if (this.record.isAdmitted) this.#settle(null, { clientAborted: true });
    else {
      this.record.releaseUnsent();
      this.#end(null);
    }
  }

  /** @param error the failure besides the status. */
  #settle(error: string | null, { clientAborted = false, isWhole = false } = {}): void {
    const attempt = this.#received.attempt(error);
    const called = this.#sent || !clientAborted;
    const outcome = this.#received.outcome(attempt, this.#ending(isWhole), clientAborted);
    this.record.settle(outcome, called ? attempt : undefined);
    this.#kept?.stream.end(keptStateOf(error, isWhole, outcome), isWhole);
    if (called) this.parts.telemetry.ended(this.call, attempt, outcome);
    if (called && this.record.isAdmitted) this.trace?.addCall(this.#received.traced(error, outcome.reading));
    this.#end(error);
  }

  #ending(isWhole: boolean): CallEnding {
    return endingOf({ isSent: this.#sent, status: this.#roundTrip.status, isWhole });
  }

  #end(error: string | null): void {
    this.#ended = true;
    this.#received.streamHead?.release();
    if (this.#clientLeft) this.parts.abandoned.ended(this);
    this.call.keep?.claim?.release();
    this.#roundTrip.finish();
    this.trace?.end(tracedAnswer(this.response, error, this.#clientLeft));
  }

  #clientClosed(): void {
    this.parts.open.delete(this);
    if (this.#ended || this.response.writableFinished) return;
    this.#clientLeft = true;
    this.#kept?.leave();
    if (!this.#sent) {
      this.#roundTrip.giveUp('client_left');
      return;
    }
    this.#open();
    this.#roundTrip.resume();
    this.parts.abandoned.take(this, this.call.keep?.config.resume_seconds);
  }
}
