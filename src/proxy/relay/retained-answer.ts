import type { ServerResponse } from 'node:http';
import { GatewayError } from '../../common/errors/gateway-error.js';
import type { RequestTrace } from '../../platform/traces/request-trace.js';
import type { UsageOutcome } from '../../usage/recording/usage-event.js';
import type { ProviderCall } from '../exchange/provider-call.js';
import type { BodyEvents, ProviderExchange } from '../exchange/provider-exchange.js';
import { tracedAnswer } from '../exchange/traced-call.rules.js';
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

/** What a request has for its answer. */
interface WaitingRequest {
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
  #exchange: ProviderExchange | undefined;
  #onReady: () => void = () => undefined;

  constructor(private readonly facts: KeptFacts) {}

  /** Receives the rest of the answer. */
  read(exchange: ProviderExchange): void {
    this.#exchange = exchange;
    this.#timer = setTimeout(() => this.#giveUp(), KEEP_MAX_MS);
    exchange.passTo(this);
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
    this.#exchange?.finish();
    this.#end('whole');
  }

  onFailure(): void {
    this.#exchange?.finish();
    this.#end('lost');
  }

  /** Calls back once when the answer is complete or lost. */
  onSettled(ready: () => void): void {
    if (this.#state === 'reading') this.#onReady = ready;
    else ready();
  }

  /** Ends the request with this answer, or with an error when the body was not retained completely. */
  serve({ response, answer, parts, record, trace }: WaitingRequest): void {
    const { call, outcome } = this.facts;
    const clientAborted = response.destroyed && !parts.open.isStopping;
    if (!response.destroyed) {
      if (this.#state === 'whole') this.#sendTo(answer);
      else parts.refusals.answer(call.request, response, notKept(this.facts.head));
    }
    // From here on the event belongs to the target of this answer.
    record.admit(call.admission);
    record.settle({ ...outcome, ...REFUSED, clientAborted }, undefined);
    trace?.end(tracedAnswer(response, null, clientAborted));
  }

  #sendTo(answer: ClientAnswer): void {
    answer.begin({ ...this.facts.head, bodyBytes: this.#bytes });
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
    this.#exchange?.finish();
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
