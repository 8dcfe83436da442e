import type { ServerResponse } from 'node:http';
import { Injectable } from '@nestjs/common';
import { Budgets } from '../../budgets/budgets.service.js';
import type { Caller } from '../../client-auth/caller.js';
import { GatewayError } from '../../common/errors/gateway-error.js';
import type { GatewayRequest } from '../../common/http/gateway-request.js';
import { readBody } from '../../common/http/read-body.js';
import { Environment } from '../../platform/config/environment.js';
import { estimatedCostNanoUsd } from '../../pricing/estimated-cost.rules.js';
import { type UsageBounds, worstCostNanoUsd } from '../../pricing/worst-cost.rules.js';
import { CallAdmission } from '../admission/call-admission.js';
import { CallFunds } from '../admission/call-funds.js';
import { type AdmittedRequest, MAX_BODY_BYTES } from '../admitted-request.js';
import { OutgoingCalls, overloaded } from '../outgoing-calls.service.js';
import { CallRecord } from '../relay/call-record.js';
import { Relay } from '../relay/relay.js';
import { RelayParts } from '../relay/relay-parts.js';
import { type EndpointPlan, EndpointPlans, type ReadyTarget } from './endpoint-plan.js';
import { type EndpointRequest, EndpointRequests } from './endpoint-request.js';
import { type ChainParts, TargetChain } from './target-chain.js';

/** Forwards calls of named endpoints, as a linear sequence of stages. */
@Injectable()
export class EndpointForwarding {
  readonly #ttfbTimeoutMs: number;

  constructor(
    private readonly plans: EndpointPlans,
    private readonly requests: EndpointRequests,
    private readonly admission: CallAdmission,
    private readonly budgets: Budgets,
    private readonly calls: OutgoingCalls,
    private readonly parts: RelayParts,
    environment: Environment,
  ) {
    this.#ttfbTimeoutMs = environment.PROVIDER_TTFB_TIMEOUT_SECONDS * 1000;
  }

  /**
   * Forwards one call to the first target of the endpoint that serves it. Validation and admission happen once, before
   * the call to the first target. From `start` on the relays own the answer.
   */
  async forward(caller: Caller, slug: string, request: GatewayRequest, response: ServerResponse): Promise<void> {
    const planned = this.plans.forCall(caller, slug);
    const planOfArrival = planned instanceof Promise ? await planned : planned;
    const body = await readBody(request.raw, MAX_BODY_BYTES);
    const begun = this.calls.begin(caller, request, slug);
    const outgoing = begun instanceof Promise ? await begun : begun;
    const plan = this.plans.pricedAt(planOfArrival, outgoing.createdAtMs);
    const read = this.requests.read(caller, plan, body, request.headers['content-type'] ?? '');
    const composed = read instanceof Promise ? await read : read;
    const admitted = composed.forTarget(plan.primary);
    const event = this.calls.eventOf(outgoing, plan.primary, admitted);
    const held = this.admission.admit(caller, { event, worstNanoUsd: worstOfChain(plan, composed, admitted) }, request);
    const holds = held instanceof Promise ? await held : held;
    const funds = new CallFunds(holds, this.budgets, outgoing.createdAtMs);
    const record = new CallRecord(this.parts.recorder, funds.holds, () => this.admission.noteUnsent(caller));
    try {
      const chain = new TargetChain(plan, composed, outgoing, this.chainParts(caller, funds));
      const first = chain.first(admitted);
      if (first === undefined) throw overloaded();
      new Relay(first.call, response, this.parts, record).start(first.client);
    } catch (error) {
      record.abandon();
      throw error;
    }
  }

  private chainParts(caller: Caller, funds: CallFunds): ChainParts {
    const { clock, log } = this.parts;
    return {
      calls: this.calls,
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
 * Most chains therefore need no further reservation (ADR 0044).
 */
function worstOfChain({ primary, fallbacks }: EndpointPlan, request: EndpointRequest, first: AdmittedRequest): number {
  const { sent } = first;
  let worst = worstCostNanoUsd(primary.model.price, first.bounds);
  let sentBefore = 0;
  let before: ReadyTarget = primary;
  for (const target of fallbacks) {
    const bounds = boundsOrNone(request, target);
    if (bounds === undefined) continue;
    worst = Math.max(worst, worstCostNanoUsd(target.model.price, bounds));
    sentBefore += estimatedCostNanoUsd(before.model.price, { ...sent, outputTokens: 0 });
    before = target;
  }
  return worst + sentBefore;
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
