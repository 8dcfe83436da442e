import type { Clock } from '../../common/clock.js';
import { GatewayError } from '../../common/errors/gateway-error.js';
import type { Log } from '../../common/log/log.js';
import type { AdmittedRequest } from '../admitted-request.js';
import type { FallbackChain, NextCall } from '../exchange/provider-call.js';
import type { OutgoingCalls, OutgoingRequest } from '../outgoing-calls.service.js';
import { attemptTimeMs } from '../relay/fallback.rules.js';
import type { EndpointPlan, ReadyTarget } from './endpoint-plan.js';
import type { EndpointRequest } from './endpoint-request.js';

/** What the targets of one request work with. */
export interface ChainParts {
  readonly calls: OutgoingCalls;
  readonly clock: Clock;
  readonly log: Log;
  /** What all targets together may take until response headers, in milliseconds. */
  readonly ttfbTimeoutMs: number;
  /** Whether a target may still be called: configuration may have changed since it was planned. */
  isStillActive(target: ReadyTarget): boolean;
}

/** A target whose request is composed. */
interface Composed {
  readonly target: ReadyTarget;
  readonly admitted: AdmittedRequest;
}

/**
 * The targets of one request in their order, each called at most once, within one time that all of them share. The
 * primary one is composed before; the others when their turn comes. One that cannot be called is passed over.
 * Source: contract-app 7.2 and 7.3; ADR 0015.
 */
export class TargetChain implements FallbackChain {
  readonly #deadlineMs: number;
  readonly #left: ReadyTarget[];
  #tried = 0;
  #current: string;
  /** Holds the client's body. */
  #composed: EndpointRequest | undefined;

  constructor(
    private readonly plan: EndpointPlan,
    composed: EndpointRequest,
    private readonly outgoing: OutgoingRequest,
    private readonly parts: ChainParts,
  ) {
    this.#deadlineMs = parts.clock.monotonicMs() + parts.ttfbTimeoutMs;
    this.#left = [...plan.fallbacks];
    this.#current = plan.primary.provider.slug;
    this.#composed = composed;
  }

  get hasNext(): boolean {
    return this.#left.length > 0;
  }

  /** The call of the primary target, or of the first fallback when all its connections are taken. */
  first(admitted: AdmittedRequest): NextCall | undefined {
    return this.connect({ target: this.plan.primary, admitted }) ?? this.next('provider_connections_exhausted');
  }

  next(reason: string): NextCall | undefined {
    for (let target = this.#left.shift(); target !== undefined; target = this.#left.shift()) {
      const composed = this.parts.isStillActive(target) ? this.compose(target) : undefined;
      const call = composed && this.connect(composed);
      if (call !== undefined) {
        this.logFallback(target.provider.slug, reason);
        return call;
      }
    }
    return undefined;
  }

  end(): void {
    this.#left.length = 0;
    this.#composed = undefined;
  }

  /** `undefined` for a target that cannot be asked so, such as for a format whose answers it cannot be charged for. */
  private compose(target: ReadyTarget): Composed | undefined {
    try {
      const admitted = this.#composed?.forTarget(target);
      return admitted && { target, admitted };
    } catch (error) {
      if (error instanceof GatewayError) return undefined;
      throw error;
    }
  }

  private connect({ target, admitted }: Composed): NextCall | undefined {
    const leftMs = this.#deadlineMs - this.parts.clock.monotonicMs();
    const { eventId } = this.outgoing;
    if (leftMs <= 0) {
      this.#left.length = 0;
      this.parts.log.event('provider_ttfb_budget_exhausted', {
        eventId,
        endpoint: this.plan.slug,
        attempts: this.#tried,
      });
      return undefined;
    }
    const event = this.parts.calls.eventOf(this.outgoing, target, admitted);
    const totalMs = this.parts.ttfbTimeoutMs;
    const ttfbTimeoutMs = attemptTimeMs({ totalMs, leftMs, following: this.#left.length });
    this.#tried++;
    return this.parts.calls.connect(this.outgoing, { target, admitted, event, ttfbTimeoutMs, chain: this });
  }

  private logFallback(next: string, reason: string): void {
    const { eventId } = this.outgoing;
    this.parts.log.event('endpoint_fallback', {
      eventId,
      endpoint: this.plan.slug,
      provider: this.#current,
      next,
      reason,
    });
    this.#current = next;
  }
}
