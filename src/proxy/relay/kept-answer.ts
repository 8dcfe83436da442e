import { GatewayError } from '../../common/errors/gateway-error.js';
import type { UsageOutcome } from '../../usage/usage-event.js';
import type { ProviderCall } from '../exchange/provider-call.js';
import type { BodyEvents, ProviderExchange } from '../exchange/provider-exchange.js';
import type { AnswerBody } from './answer-body.js';
import type { AnswerHead, ClientAnswer } from './client-answer.js';

/** What is kept of a failed target's body, in bytes … */
const KEEP_MAX_BYTES = 64 * 1024;
/** … and how long it is read. */
const KEEP_MAX_MS = 2_000;

/** An answer that is kept, as its event tells of it. */
interface KeptFacts {
  readonly call: ProviderCall;
  readonly head: AnswerHead;
  readonly body: AnswerBody;
  /** Of the event, should it become this answer's. */
  readonly outcome: UsageOutcome;
}

/**
 * The answer of a target that failed, kept while others are tried: the client gets it when none of them answers
 * (ADR 0031). Reading it, within bounds, also lets its connection be used again.
 */
export class KeptAnswer implements BodyEvents {
  #pieces: Buffer[] = [];
  #bytes = 0;
  #state: 'reading' | 'whole' | 'lost' = 'reading';
  #timer: NodeJS.Timeout | undefined;
  #exchange: ProviderExchange | undefined;
  #onReady: () => void = () => undefined;

  constructor(readonly facts: KeptFacts) {}

  /** Takes over what still comes of the answer. */
  read(exchange: ProviderExchange): void {
    this.#exchange = exchange;
    this.#timer = setTimeout(() => this.#giveUp(), KEEP_MAX_MS);
    exchange.passTo(this);
  }

  /** Takes a body of which nothing more comes. */
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

  /** Calls back, once, when it is known whether the answer is whole. */
  whenReady(ready: () => void): void {
    if (this.#state === 'reading') this.#onReady = ready;
    else ready();
  }

  /** @param refuse answers in its place when its body was not kept whole. */
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

  /** Too long, or too slow. */
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

/** What is known of the answer is its status, and when to try again. */
function notKept({ status, headers }: AnswerHead): GatewayError {
  const retryAfter = headers.indexOf('retry-after');
  return new GatewayError('provider_error', {
    status,
    message: `The provider answered with status ${status}; its answer was too long or too slow to be kept.`,
    reason: 'provider_answer_not_kept',
    headers: retryAfter < 0 ? {} : { 'retry-after': headers[retryAfter + 1] ?? '' },
  });
}
