import type { ServerResponse } from 'node:http';
import { type BeforeApplicationShutdown, Injectable } from '@nestjs/common';
import type { Caller } from '../client-auth/caller.js';
import type { GatewayRequest } from '../common/http/gateway-request.js';
import { readBody } from '../common/http/read-body.js';
import { Environment } from '../platform/config/environment.js';
import { takesBody } from '../upstreams/path-methods.rules.js';
import { CallAdmission } from './admission/call-admission.js';
import { MAX_BODY_BYTES } from './admitted-request.js';
import { OutgoingCalls, overloaded } from './outgoing-calls.service.js';
import { ProxyPlans } from './plan.js';
import { ProxyPolicy } from './policy.js';
import type { ProxyPath } from './proxy-path.rules.js';
import { CallRecord } from './relay/call-record.js';
import { Relay } from './relay/relay.js';
import { RelayParts } from './relay/relay-parts.js';

/** Forwards proxied calls, as a linear sequence of stages. */
@Injectable()
export class Forwarding implements BeforeApplicationShutdown {
  readonly #ttfbTimeoutMs: number;

  constructor(
    private readonly plans: ProxyPlans,
    private readonly policy: ProxyPolicy,
    private readonly admission: CallAdmission,
    private readonly calls: OutgoingCalls,
    private readonly parts: RelayParts,
    environment: Environment,
  ) {
    this.#ttfbTimeoutMs = environment.PROVIDER_TTFB_TIMEOUT_SECONDS * 1000;
  }

  beforeApplicationShutdown(): void {
    this.parts.abandoned.cancelAll();
    this.parts.open.interruptAll();
  }

  /**
   * Forwards one call. Each stage returns the input of the next one, or throws a catalogue error. From `start` on the
   * relay owns the answer.
   */
  async forward(caller: Caller, path: ProxyPath, request: GatewayRequest, response: ServerResponse): Promise<void> {
    const planned = this.plans.forCall(caller, path, request.method);
    const target = planned instanceof Promise ? await planned : planned;
    const body = takesBody(target.method) ? await readBody(request.raw, MAX_BODY_BYTES) : undefined;
    const begun = this.calls.begin(caller, request, null);
    const outgoing = begun instanceof Promise ? await begun : begun;
    const call = { caller, plan: target, atMs: outgoing.createdAtMs };
    const judged =
      body === undefined
        ? this.policy.admitBare(caller, target, request.headers)
        : this.policy.admit(call, body, request.headers['content-type'] ?? '');
    const admitted = judged instanceof Promise ? await judged : judged;
    const event = this.calls.eventOf(outgoing, target, admitted);
    const held = this.admission.admit(caller, { event, worstNanoUsd: event.worstNanoUsd }, request);
    const holds = held instanceof Promise ? await held : held;
    const record = new CallRecord(this.parts.recorder, holds, () => this.admission.noteUnsent(caller));
    try {
      const ready = this.calls.connect(outgoing, { target, admitted, event, ttfbTimeoutMs: this.#ttfbTimeoutMs });
      if (ready === undefined) throw overloaded();
      new Relay(ready.call, response, this.parts, record).start(ready.client);
    } catch (error) {
      record.abandon();
      throw error;
    }
  }
}
