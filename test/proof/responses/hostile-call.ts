import type { OriginPool } from '../../../src/proxy/connections/origin-pool.js';
import type { ResponseHead } from '../../../src/proxy/connections/response-head.rules.js';
import type { WaitingRequest } from '../../../src/proxy/relay/send-batch.js';
import type { ProviderCall } from '../../../src/proxy/round-trip/provider-call.js';
import {
  ProviderRoundTrip,
  type ReceivedHead,
  type RoundTripEvents,
} from '../../../src/proxy/round-trip/provider-round-trip.js';
import type { TurnBatch } from '../../../src/proxy/turn-batch.js';
import type { HostileResponse } from './hostile-responses.js';
import type { ReadAnswer } from './node-answer.js';
import { type Asker, nonceOf } from './nonces.js';
import type { Answerable, RequestLog } from './request-log.js';

/** One call of the gateway, from its connection to its end, as the relay makes it. */
export class HostileCall implements Answerable, RoundTripEvents, WaitingRequest {
  log: RequestLog | undefined;
  isOver = false;
  /** Why it has no answer. */
  failure: Error | undefined;
  /** Given up by its receiver. */
  isLeft = false;
  /** Its receiver does not take more for now. */
  isSlow = false;
  readonly roundTrip: ProviderRoundTrip;
  #head: ResponseHead | undefined;
  readonly #body: Buffer[] = [];

  constructor(
    readonly asker: Asker,
    readonly response: HostileResponse,
    pool: OriginPool,
    turn: TurnBatch,
    private readonly pausesAtFirst: boolean,
    private readonly over: (call: HostileCall) => void,
  ) {
    const headers = ['x-nonce', nonceOf(asker)];
    const call: Partial<ProviderCall> = { pool, method: response.method, path: '/', headers, ttfbTimeoutMs: 0 };
    this.roundTrip = new ProviderRoundTrip(call as ProviderCall, this, turn);
  }

  /** What it got; absent before its end, or if it failed. */
  get answer(): ReadAnswer | undefined {
    if (!this.isOver || this.failure !== undefined || this.#head === undefined) return undefined;
    const { status, statusText, headers, keepAliveMs } = this.#head;
    return { status, statusText, headers, body: Buffer.concat(this.#body), isKept: keepAliveMs > 0 };
  }

  admit(): void {}

  send(): void {
    this.roundTrip.start();
  }

  failed(error: Error): void {
    this.onFailure(error);
  }

  /** Its receiver leaves. */
  leave(): void {
    if (this.isOver) return;
    this.isLeft = true;
    this.roundTrip.stop('client_left');
  }

  goOn(): void {
    this.isSlow = false;
    this.roundTrip.resume();
  }

  onSend(): void {}

  onHead({ head }: ReceivedHead): void {
    this.#head = head;
  }

  onBytes(bytes: Buffer): void {
    this.#body.push(bytes);
    if (!this.pausesAtFirst || this.#body.length > 1) return;
    this.isSlow = true;
    this.roundTrip.pause();
  }

  onEnd(): void {
    this.#end();
  }

  onFailure(error: Error): void {
    this.failure = error;
    this.#end();
  }

  #end(): void {
    if (this.isOver) throw new Error('a call has ended twice');
    this.isOver = true;
    this.roundTrip.finish();
    this.over(this);
  }
}
