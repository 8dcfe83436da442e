import { Injectable } from '@nestjs/common';
import type { Caller } from '../../client-auth/callers/caller.js';
import { Clock } from '../../common/clock.js';
import { GatewayError } from '../../common/errors/gateway-error.js';
import { Log } from '../../common/log/log.js';
import { Environment } from '../../platform/config/environment.js';
import { estimatedCostNanoUsd, maxCostOf, type UsageBounds } from '../../pricing/max-cost.rules.js';
import type { GrowingHolds } from '../admission/growing-holds.js';
import type { AdmittedRequest } from '../admitted-request.js';
import type { CallRecipe, ComposedCall } from '../forwarding.service.js';
import { OutgoingCalls, type OutgoingRequest } from '../outgoing-calls.service.js';
import type { KnownOfRefused } from '../provider-choice.rules.js';
import { type EndpointPlan, EndpointPlans, type ReadyTarget } from './endpoint-plan.js';
import { type EndpointRequest, EndpointRequests } from './endpoint-request.js';
import { type ChainParts, TargetChain } from './target-chain.js';

const NO_BODY = Buffer.alloc(0);

/** Calls of named endpoints: the first target that serves the call answers it. */
@Injectable()
export class EndpointCalls implements CallRecipe<string, EndpointPlan> {
  readonly #ttfbTimeoutMs: number;

  constructor(
    private readonly plans: EndpointPlans,
    private readonly requests: EndpointRequests,
    private readonly calls: OutgoingCalls,
    private readonly clock: Clock,
    private readonly log: Log,
    environment: Environment,
  ) {
    this.#ttfbTimeoutMs = environment.PROVIDER_TTFB_TIMEOUT_SECONDS * 1000;
  }

  plan(caller: Caller, slug: string, method: string): Promise<EndpointPlan> {
    return this.plans.forCall(caller, slug, method);
  }

  known({ app }: Caller, slug: string, plan: EndpointPlan | undefined): KnownOfRefused {
    const endpointSlug = Object.hasOwn(app.config.endpoints, slug) ? slug : null;
    return { endpointSlug, target: plan?.primary, model: plan?.primary.model.canonical };
  }

  async compose(arrived: EndpointPlan, outgoing: OutgoingRequest, body = NO_BODY): Promise<ComposedCall> {
    const { caller, request, createdAtMs } = outgoing;
    const plan = this.plans.pricedAt(arrived, createdAtMs);
    const composed = await this.requests.read(caller, plan, body, request.headers['content-type'] ?? '');
    const admitted = composed.forTarget(plan.primary);
    return {
      target: plan.primary,
      admitted,
      maxCostNanoUsd: maxCostOfChain(plan, composed, admitted),
      connect: (_event, funds) => {
        const chain = new TargetChain(plan, composed, outgoing, this.chainParts(caller, funds));
        return chain.first(admitted);
      },
    };
  }

  private chainParts(caller: Caller, funds: GrowingHolds): ChainParts {
    const { calls, clock, log } = this;
    return {
      calls,
      clock,
      log,
      ttfbTimeoutMs: this.#ttfbTimeoutMs,
      cover: (nanoUsd) => funds.cover(nanoUsd),
      isStillActive: (target) => this.plans.isStillActive(caller, target),
    };
  }
}

/**
 * Maximum cost of the request as known before it is sent: the most expensive of its targets, each at its own price and
 * maximum output, plus the estimated input cost of all targets before the last, which may charge without an answer.
 * Most chains therefore need no further reservation (ADR 0017).
 */
function maxCostOfChain(
  { primary, fallbacks }: EndpointPlan,
  request: EndpointRequest,
  first: AdmittedRequest,
): number {
  const { sent } = first;
  let maxCost = maxCostOf(primary.model.price, first.bounds);
  let sentBefore = 0;
  let before: ReadyTarget = primary;
  for (const target of fallbacks) {
    const bounds = boundsOrNone(request, target);
    if (bounds === undefined) continue;
    maxCost = Math.max(maxCost, maxCostOf(target.model.price, bounds));
    sentBefore += estimatedCostNanoUsd(before.model.price, { ...sent, outputTokens: 0 });
    before = target;
  }
  return maxCost + sentBefore;
}

/** Undefined for a target that cannot serve the request; the chain skips it. */
function boundsOrNone(request: EndpointRequest, target: ReadyTarget): UsageBounds | undefined {
  try {
    return request.boundsFor(target);
  } catch (error) {
    if (error instanceof GatewayError) return undefined;
    throw error;
  }
}
