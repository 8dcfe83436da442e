import { GatewayError } from '../../common/errors/gateway-error.js';
import type { UsageOutcome } from '../../usage/usage-event.js';
import type { ProviderCall } from '../exchange/provider-call.js';
import type { BodyEvents, ProviderExchange } from '../exchange/provider-exchange.js';
import type { AnswerBody } from './answer-body.js';
import type { AnswerHead, ClientAnswer } from './client-answer.js';

/** Maximum retained bytes of a failed target's body. */
const KEEP_MAX_BYTES = 64 * 1024;
/** Maximum time to read that body. */
const KEEP_MAX_MS = 2_000;

/** A retained answer with the facts of its event. */
interface KeptFacts {
  readonly call: ProviderCall;
  readonly head: AnswerHead;
  readonly body: AnswerBody;
  /** Outcome of the event if this answer is sent. */
  readonly outcome: UsageOutcome;
}

/**
 * The answer of a failed target, retained during fallbacks. The client receives it when no target gives a better one
 * (ADR 0031). Reading it, within limits, also makes its connection reusable.
 */
export class KeptAnswer implements BodyEvents {
  #pieces: Buffer[] = [];
  #bytes = 0;
  #state: 'reading' | 'whole' | 'lost' = 'reading';
  #timer: NodeJS.Timeout | undefined;
  #exchange: ProviderExchange | undefined;
  #onReady: () => void = () => undefined;

  constructor(readonly facts: KeptFacts) {}

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

  /** @param refuse sends an error instead when the body was not retained completely. */
  sendTo(answer: ClientAnswer, refuse: (error: GatewayError) => void): void {
    const { head } = this.facts;
    if (this.#state !== 'whole') {
      refuse(notKept(head));
      return;
    }
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
    this.#exchange?.drop();
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
