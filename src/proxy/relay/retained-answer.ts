import type { ServerResponse } from 'node:http';
import { GatewayError } from '../../common/errors/gateway-error.js';
import type { RequestTrace } from '../../platform/traces/request-trace.js';
import type { UsageOutcome } from '../../usage/recording/usage-event.js';
import type { ProviderCall } from '../round-trip/provider-call.js';
import type { BodyEvents, ProviderRoundTrip } from '../round-trip/provider-round-trip.js';
import { tracedAnswer } from '../round-trip/traced-call.rules.js';
import type { AnswerBody } from './answer-body.js';
import type { CallRecord } from './call-record.js';
import type { AnswerHead, ClientAnswer } from './client-answer.js';
import type { RelayContext } from './relay-context.js';

/** Maximum retained bytes of a failed target's body. */
const KEEP_MAX_BYTES = 64 * 1024;
/** Maximum time to read that body. */
const KEEP_MAX_MS = 2_000;

/** A retained answer with the facts of its event. */
interface KeptFacts {
  readonly call: ProviderCall;
  readonly head: AnswerHead;
  readonly body: AnswerBody;
  /** Outcome of the failed call. */
  readonly outcome: UsageOutcome;
}

/** Where the answer goes, and its request's record and trace. */
interface Recipient {
  readonly response: ServerResponse;
  readonly answer: ClientAnswer;
  readonly parts: RelayContext;
  readonly record: CallRecord;
  readonly trace: RequestTrace | undefined;
}

/** What replaces the outcome of the failed call when its answer is sent: its possible charge has been counted. */
const REFUSED = { status: 'provider_error', ending: 'refused', reading: undefined, loss: undefined } as const;

/**
 * The answer of a failed target, retained during fallbacks. The client receives it when no target gives a better one
 * (ADR 0015). Reading it, within limits, also makes its connection reusable.
 */
export class RetainedAnswer implements BodyEvents {
  #pieces: Buffer[] = [];
  #bytes = 0;
  #state: 'reading' | 'whole' | 'lost' = 'reading';
  #timer: NodeJS.Timeout | undefined;
  #roundTrip: ProviderRoundTrip | undefined;
  #onReady: () => void = () => undefined;

  constructor(private readonly facts: KeptFacts) {}

  /** Receives the rest of the answer. */
  read(roundTrip: ProviderRoundTrip): void {
    this.#roundTrip = roundTrip;
    this.#timer = setTimeout(() => this.#giveUp(), KEEP_MAX_MS);
    roundTrip.passTo(this);
  }

  /** Retains a body that is already complete. */
  take(pieces: readonly Buffer[]): void {
    for (const piece of pieces) this.#keep(this.facts.body.push(piece));
    this.onEnd();
  }

  onBytes(bytes: Buffer): void {
    this.#keep(this.facts.body.push(bytes));
    if (this.#bytes > KEEP_MAX_BYTES) this.#giveUp();
  }

  onEnd(): void {
    for (const rest of this.facts.body.end()) this.#keep(rest);
    this.#roundTrip?.finish();
    this.#end('whole');
  }

  onFailure(): void {
    this.#roundTrip?.finish();
    this.#end('lost');
  }

  /** Calls back once when the answer is complete or lost. */
  whenReady(ready: () => void): void {
    if (this.#state === 'reading') this.#onReady = ready;
    else ready();
  }

  /** Ends the request with this answer, or with an error when the body was not retained completely. */
  serve({ response, answer, parts, record, trace }: Recipient): void {
    const { call, outcome } = this.facts;
    const clientAborted = response.destroyed && !parts.open.isStopping;
    if (!response.destroyed) {
      if (this.#state === 'whole') this.#sendTo(answer, parts);
      else parts.refusals.answer(call.request, response, notKept(this.facts.head));
    }
    call.keep?.claim?.release();
    // From here on the event belongs to the target of this answer.
    record.admit(call.admission);
    record.settle({ ...outcome, ...REFUSED, clientAborted }, undefined);
    trace?.end(tracedAnswer(response, null, clientAborted));
  }

  #sendTo(answer: ClientAnswer, { kept }: RelayContext): void {
    const { call, head } = this.facts;
    const stream = kept.begin(call.keep, head, call.style);
    for (const piece of this.#pieces) stream?.append(piece);
    stream?.end('failed', true);
    answer.begin({ ...head, bodyBytes: this.#bytes });
    if (this.#bytes > 0) answer.write(Buffer.concat(this.#pieces));
    answer.end();
  }

  #keep(bytes: Buffer | undefined): void {
    if (bytes === undefined) return;
    this.#pieces.push(bytes);
    this.#bytes += bytes.length;
  }

  /** Drops an answer that is too long or too slow. */
  #giveUp(): void {
    this.#roundTrip?.finish();
    this.#end('lost');
  }

  #end(state: 'whole' | 'lost'): void {
    this.#state = state;
    if (state === 'lost') this.#pieces = [];
    clearTimeout(this.#timer);
    this.#onReady();
  }
}

/** The error for an answer without a retained body: keeps its status and `retry-after`. */
function notKept({ status, headers }: AnswerHead): GatewayError {
  const retryAfter = headers.indexOf('retry-after');
  return new GatewayError('provider_error', {
    status,
    message: `The provider answered with status ${status}; its answer was too long or too slow to be kept.`,
    reason: 'provider_answer_not_kept',
    headers: retryAfter < 0 ? {} : { 'retry-after': headers[retryAfter + 1] ?? '' },
  });
}
