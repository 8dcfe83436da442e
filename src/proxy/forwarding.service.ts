import type { ServerResponse } from 'node:http';
import { type BeforeApplicationShutdown, Injectable } from '@nestjs/common';
import { Budgets } from '../budgets/budgets.service.js';
import type { Caller } from '../client-auth/callers/caller.js';
import type { GatewayRequest } from '../common/http/gateway-request.js';
import { readBody } from '../common/http/read-body.js';
import type { UsageAdmission } from '../usage/recording/usage-event.js';
import { UsageRecorder } from '../usage/recording/usage-recorder.service.js';
import { CallAdmission, type CallHolds } from './admission/call-admission.js';
import { requireAllowedUnproven, subjectsOf } from './admission/call-subjects.rules.js';
import { GrowingHolds } from './admission/growing-holds.js';
import { type AdmittedRequest, MAX_BODY_BYTES } from './admitted-request.js';
import { decodedBody } from './content-codings.js';
import { OutgoingCalls, type OutgoingRequest, overloaded } from './outgoing-calls.service.js';
import type { CallPlan, CallTarget, KnownOfRefused } from './provider-choice.rules.js';
import { CallRecord } from './relay/call-record.js';
import { Relay } from './relay/relay.js';
import { RelayContext } from './relay/relay-context.js';
import type { NextCall } from './round-trip/provider-call.js';
import { type KeepRequest, keepRequestOf } from './streams/kept-answers.service.js';
import { isRepeatable, Repeats } from './streams/repeats.service.js';
import { Streams } from './streams/streams.service.js';

/** What calls of the proxy routes and calls of named endpoints do differently. */
export interface CallRecipe<Address, Plan extends CallPlan> {
  /** Determines the target and the application's policy, before the body is read. */
  plan(caller: Caller, address: Address, method: string): Promise<Plan>;
  /** What is known about a request that `plan` or `compose` refuses. */
  known(caller: Caller, address: Address, plan: Plan | undefined): KnownOfRefused;
  /** Validates the body against the plan and composes the request to send. */
  compose(plan: Plan, outgoing: OutgoingRequest, body: Buffer | undefined): Promise<ComposedCall>;
}

/** A validated call before its admission. */
export interface ComposedCall {
  /** The first target. */
  readonly target: CallTarget;
  readonly admitted: AdmittedRequest;
  /** Maximum cost over all targets in whole nano-dollars; absent when there is one target. */
  readonly maxCostNanoUsd?: number;
  /** Acquires a connection; undefined when no target has a free one. @param event as recorded for the first target. */
  connect(event: UsageAdmission, funds: GrowingHolds): NextCall | undefined;
}

/** An authenticated request. */
export interface ArrivedCall<Address> {
  readonly caller: Caller;
  readonly address: Address;
  readonly request: GatewayRequest;
}

/** Forwards calls to providers, as a linear sequence of stages. */
@Injectable()
export class Forwarding implements BeforeApplicationShutdown {
  constructor(
    private readonly admission: CallAdmission,
    private readonly budgets: Budgets,
    private readonly calls: OutgoingCalls,
    private readonly recorder: UsageRecorder,
    private readonly repeats: Repeats,
    private readonly streams: Streams,
    private readonly parts: RelayContext,
  ) {}

  beforeApplicationShutdown(): void {
    this.parts.abandoned.cancelAll();
    this.parts.open.interruptAll();
  }

  /**
   * Forwards one call. Each stage returns the input of the next one, or throws a catalogue error. From `start` on the
   * relay owns the answer.
   */
  async forward<Address, Plan extends CallPlan>(
    recipe: CallRecipe<Address, Plan>,
    { caller, address, request }: ArrivedCall<Address>,
    response: ServerResponse,
  ): Promise<void> {
    let plan: Plan | undefined;
    let keep: KeepRequest | undefined;
    let outgoing: OutgoingRequest;
    let composed: ComposedCall;
    try {
      plan = await recipe.plan(caller, address, request.method);
      requireAllowedUnproven(caller, plan.endpointSlug);
      const body = plan.takesBody ? await bodyOf(request) : undefined;
      await this.calls.whenTimeKnown();
      keep = keepRequestOf(caller, request, plan.endpointSlug);
      if (keep !== undefined && isRepeatable(request)) {
        const claimed = await this.repeats.claim(keep, request, body);
        if ('stream' in claimed) return await this.streams.repeat(caller, claimed.stream, request, response);
        keep = { ...keep, ...claimed };
      }
      outgoing = this.calls.begin(caller, request, plan.endpointSlug, subjectsOf(caller, request), keep);
      composed = await recipe.compose(plan, outgoing, body);
    } catch (error) {
      keep?.claim?.release();
      this.admission.noteRefused(error, () =>
        this.calls.refusedOf(caller, request, recipe.known(caller, address, plan)),
      );
      throw error;
    }
    const event = this.calls.eventOf(outgoing, composed.target, composed.admitted);
    const maxCostNanoUsd = composed.maxCostNanoUsd ?? event.maxCostNanoUsd;
    const { bounds } = composed.admitted;
    const maxTokens = bounds.inputTokens + bounds.outputTokens;
    const { subjects } = outgoing;
    let held: CallHolds;
    try {
      held = await this.admission.admit(caller, { event, maxCostNanoUsd, maxTokens, subjects }, request);
    } catch (error) {
      keep?.claim?.release();
      throw error;
    }
    const { createdAtMs } = outgoing;
    const funds = new GrowingHolds(held, this.budgets, createdAtMs);
    this.recorder.expect(createdAtMs);
    const record = new CallRecord(this.recorder, funds.holds, () => {
      this.recorder.dismiss(createdAtMs);
      this.admission.noteUnsent(caller);
    });
    try {
      const first = composed.connect(event, funds);
      if (first === undefined) throw overloaded();
      new Relay(first.call, response, this.parts, record).start(first.connection);
    } catch (error) {
      keep?.claim?.release();
      record.releaseUnsent();
      throw error;
    }
  }
}

/** As the provider gets it: without a content coding. */
function bodyOf({ raw, headers }: GatewayRequest): Promise<Buffer> {
  const coding = headers['content-encoding'];
  const sent = readBody(raw, MAX_BODY_BYTES);
  return coding === undefined ? sent : sent.then((body) => decodedBody(body, coding));
}
