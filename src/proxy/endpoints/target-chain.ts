import type { Clock } from '../../common/clock.js';
import { GatewayError } from '../../common/errors/gateway-error.js';
import type { Log } from '../../common/log/log.js';
import { maxCostOf } from '../../pricing/max-cost.rules.js';
import type { AdmittedRequest } from '../admitted-request.js';
import type { OutgoingCalls, OutgoingRequest } from '../outgoing-calls.service.js';
import { attemptTimeMs } from '../relay/call-outcome.rules.js';
import type { FallbackChain, NextCall } from '../round-trip/provider-call.js';
import type { EndpointPlan, ReadyTarget } from './endpoint-plan.js';
import type { EndpointRequest } from './endpoint-request.js';

/** Dependencies shared by the targets of one request. */
export interface ChainParts {
  readonly calls: OutgoingCalls;
  readonly clock: Clock;
  readonly log: Log;
  /** Time limit of all targets together until response headers, in milliseconds. */
  readonly ttfbTimeoutMs: number;
  /** Raises the reservations to an amount in whole nano-dollars; false when a budget does not cover it. */
  cover(nanoUsd: number): boolean;
  /** Whether a target may still be called: the configuration may have changed since planning. */
  isStillActive(target: ReadyTarget): boolean;
}

/** A target with its composed request. */
interface Composed {
  readonly target: ReadyTarget;
  readonly admitted: AdmittedRequest;
}

const CROWDED = 'provider_connections_exhausted';

/**
 * Targets of one request in order, each called at most once, within one shared time limit. The primary target is
 * composed in advance, the others on demand. The chain skips a target that cannot be called, or whose maximum cost the
 * budget does not cover in addition to the possible charges of earlier targets.
 * Source: docs/reference/application-api.md#endpoint-targets, docs/reference/application-api.md#fallbacks, ADR 0015 and
 * 0017.
 */
export class TargetChain implements FallbackChain {
  readonly #deadlineMs: number;
  readonly #left: ReadyTarget[];
  #tried = 0;
  #current: string;
  /** References the client's body. */
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

  /** The call of the primary target, or of the first fallback when its connections are exhausted. */
  first(admitted: AdmittedRequest): NextCall | undefined {
    return this.connect({ target: this.plan.primary, admitted }) ?? this.next(CROWDED, 0);
  }

  next(reason: string, unansweredNanoUsd: number): NextCall | undefined {
    const request = this.#composed;
    if (request === undefined) return undefined;
    const { log } = this.parts;
    for (let target = this.#left.shift(); target !== undefined; target = this.#left.shift()) {
      if (this.isTimeUp()) return undefined;
      const { slug } = target.provider;
      const call = this.callTo(target, request, unansweredNanoUsd);
      if (typeof call !== 'string') {
        log.event('endpoint_fallback', { ...this.named, provider: this.#current, next: slug, reason });
        this.#current = slug;
        return call;
      }
      log.event('endpoint_fallback_skipped', { ...this.named, provider: slug, reason: call });
    }
    return undefined;
  }

  end(): void {
    this.#left.length = 0;
    this.#composed = undefined;
  }

  /** The call, or the reason why the target is skipped. */
  private callTo(target: ReadyTarget, request: EndpointRequest, unansweredNanoUsd: number): NextCall | string {
    if (!this.parts.isStillActive(target)) return 'provider_not_active';
    const composed = compose(target, request);
    if (typeof composed === 'string') return composed;
    if (!this.parts.cover(unansweredNanoUsd + maxCostOfTarget(composed))) return 'budget_does_not_cover';
    return this.connect(composed) ?? CROWDED;
  }

  private connect({ target, admitted }: Composed): NextCall | undefined {
    const leftMs = this.leftMs();
    const event = this.parts.calls.eventOf(this.outgoing, target, admitted);
    const totalMs = this.parts.ttfbTimeoutMs;
    const ttfbTimeoutMs = attemptTimeMs({ totalMs, leftMs, following: this.#left.length });
    this.#tried++;
    return this.parts.calls.connect(this.outgoing, { target, admitted, event, ttfbTimeoutMs, chain: this });
  }

  private leftMs(): number {
    return this.#deadlineMs - this.parts.clock.monotonicMs();
  }

  private isTimeUp(): boolean {
    if (this.leftMs() > 0) return false;
    this.#left.length = 0;
    this.parts.log.event('provider_ttfb_budget_exhausted', { ...this.named, attempts: this.#tried });
    return true;
  }

  /** Members of every log line of the chain. */
  private get named(): { readonly eventId: string; readonly endpoint: string } {
    return { eventId: this.outgoing.eventId, endpoint: this.plan.endpointSlug };
  }
}

/**
 * Returns the error code when the target cannot serve the request, such as for an answer format that cannot be priced.
 */
function compose(target: ReadyTarget, request: EndpointRequest): Composed | string {
  try {
    return { target, admitted: request.forTarget(target) };
  } catch (error) {
    if (error instanceof GatewayError) return error.code;
    throw error;
  }
}

function maxCostOfTarget({ admitted: { model, bounds } }: Composed): number {
  return maxCostOf(model.price, bounds);
}
