import type { ServerResponse } from 'node:http';
import { Injectable } from '@nestjs/common';
import type { Caller } from '../../client-auth/caller.js';
import type { GatewayRequest } from '../../common/http/gateway-request.js';
import { readBody } from '../../common/http/read-body.js';
import { Environment } from '../../platform/config/environment.js';
import { worstCostNanoUsd } from '../../pricing/worst-cost.rules.js';
import { CallAdmission } from '../admission/call-admission.js';
import { type AdmittedRequest, MAX_BODY_BYTES } from '../admitted-request.js';
import { OutgoingCalls, overloaded } from '../outgoing-calls.service.js';
import { CallRecord } from '../relay/call-record.js';
import { Relay } from '../relay/relay.js';
import { RelayParts } from '../relay/relay-parts.js';
import { type EndpointPlan, EndpointPlans } from './endpoint-plan.js';
import { EndpointRequests } from './endpoint-request.js';
import { type ChainParts, TargetChain } from './target-chain.js';

/** The path of a named endpoint's call, one straight line of named stages (contract-app 1.2, steps 8 to 10; 7). */
@Injectable()
export class EndpointForwarding {
  readonly #ttfbTimeoutMs: number;

  constructor(
    private readonly plans: EndpointPlans,
    private readonly requests: EndpointRequests,
    private readonly admission: CallAdmission,
    private readonly calls: OutgoingCalls,
    private readonly parts: RelayParts,
    environment: Environment,
  ) {
    this.#ttfbTimeoutMs = environment.PROVIDER_TTFB_TIMEOUT_SECONDS * 1000;
  }

  /**
   * Forwards one call to the first target of the endpoint that serves it. Everything is judged and counted once, before
   * the first target is called; from `start` on the relays own the answer.
   */
  async forward(caller: Caller, slug: string, request: GatewayRequest, response: ServerResponse): Promise<void> {
    const planned = this.plans.forCall(caller, slug);
    const plan = planned instanceof Promise ? await planned : planned;
    const body = await readBody(request.raw, MAX_BODY_BYTES);
    const read = this.requests.read(caller, plan, body, request.headers['content-type'] ?? '');
    const composed = read instanceof Promise ? await read : read;
    const admitted = composed.forTarget(plan.primary);
    const outgoing = this.calls.begin(caller, request, slug);
    const event = this.calls.eventOf(outgoing, plan.primary, admitted);
    const held = this.admission.admit(caller, { event, worstNanoUsd: worstOfTargets(plan, admitted) }, request);
    const holds = held instanceof Promise ? await held : held;
    const record = new CallRecord(this.parts.recorder, holds, () => this.admission.noteUnsent(caller));
    try {
      const chain = new TargetChain(plan, composed, outgoing, this.chainParts(caller));
      const first = chain.first(admitted);
      if (first === undefined) throw overloaded();
      new Relay(first.call, response, this.parts, record).start(first.client);
    } catch (error) {
      record.abandon();
      throw error;
    }
  }

  private chainParts(caller: Caller): ChainParts {
    const { clock, log } = this.parts;
    return {
      calls: this.calls,
      clock,
      log,
      ttfbTimeoutMs: this.#ttfbTimeoutMs,
      isStillActive: (target) => this.plans.isStillActive(caller, target),
    };
  }
}

/**
 * What the request may cost at most, whichever target serves it. All targets are asked the same, so that the bounds of
 * the one request that is composed by now hold for each of them, at its own price.
 */
function worstOfTargets({ primary, fallbacks }: EndpointPlan, { bounds }: AdmittedRequest): number {
  let worst = worstCostNanoUsd(primary.model.price, bounds);
  for (const { model } of fallbacks) worst = Math.max(worst, worstCostNanoUsd(model.price, bounds));
  return worst;
}
