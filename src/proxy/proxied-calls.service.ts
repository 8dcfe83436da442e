import { Injectable } from '@nestjs/common';
import type { Caller } from '../client-auth/callers/caller.js';
import { Environment } from '../platform/config/environment.js';
import type { CallRecipe, ComposedCall } from './forwarding.service.js';
import { OutgoingCalls, type OutgoingRequest } from './outgoing-calls.service.js';
import type { KnownOfRefused } from './provider-choice.rules.js';
import type { ProxyPath } from './proxy-path.rules.js';
import { type ProxyPlan, ProxyPlans } from './proxy-plans.js';
import { ProxyPolicy } from './proxy-policy.js';

/** Calls of the proxy routes: one target, which the path names. */
@Injectable()
export class ProxiedCalls implements CallRecipe<ProxyPath, ProxyPlan> {
  readonly #ttfbTimeoutMs: number;

  constructor(
    private readonly plans: ProxyPlans,
    private readonly policy: ProxyPolicy,
    private readonly calls: OutgoingCalls,
    environment: Environment,
  ) {
    this.#ttfbTimeoutMs = environment.PROVIDER_TTFB_TIMEOUT_SECONDS * 1000;
  }

  plan(caller: Caller, address: ProxyPath, method: string): Promise<ProxyPlan> {
    return this.plans.forCall(caller, address, method);
  }

  known(_caller: Caller, _address: ProxyPath, target: ProxyPlan | undefined): KnownOfRefused {
    return { endpointSlug: null, target };
  }

  async compose(target: ProxyPlan, outgoing: OutgoingRequest, body: Buffer | undefined): Promise<ComposedCall> {
    const { caller, request, createdAtMs } = outgoing;
    const { headers } = request;
    const admitted =
      body === undefined
        ? await this.policy.admitBareOfOwner(caller, target, headers)
        : await this.policy.admit({ caller, plan: target, atMs: createdAtMs }, body, headers['content-type'] ?? '');
    const ttfbTimeoutMs = this.#ttfbTimeoutMs;
    return {
      target,
      admitted,
      connect: (event) => this.calls.connect(outgoing, { target, admitted, event, ttfbTimeoutMs }),
    };
  }
}
