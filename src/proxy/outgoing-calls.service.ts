import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import type { Caller } from '../client-auth/callers/caller.js';
import { GatewayError } from '../common/errors/gateway-error.js';
import { DEFAULT_USER_HEADER, type GatewayRequest } from '../common/http/gateway-request.js';
import type { MaybePromise } from '../common/maybe-promise.js';
import { SharedClock } from '../platform/clock/shared-clock.js';
import { Environment } from '../platform/config/environment.js';
import { estimatedCostNanoUsd, maxCostOf } from '../pricing/max-cost.rules.js';
import type { CompiledPrice } from '../pricing/model-price.js';
import type { ProviderInstance } from '../providers/provider-instance.js';
import { NOT_KNOWN, type RefusedCall, type UsageAdmission } from '../usage/recording/usage-event.js';
import { UsageRecorder } from '../usage/recording/usage-recorder.service.js';
import { type CallSubjects, NO_SUBJECTS } from './admission/call-subjects.rules.js';
import type { AdmittedRequest } from './admitted-request.js';
import { UpstreamConnections } from './connections/upstream-connections.js';
import { LoopMark } from './loop/loop-mark.service.js';
import type { CallTarget, KnownOfRefused } from './provider-choice.rules.js';
import { AddressRedaction } from './relay/address-redaction.js';
import { upstreamHeaders } from './request-headers.rules.js';
import type { FallbackChain, NextCall, ProviderCall } from './round-trip/provider-call.js';
import type { KeepRequest } from './streams/kept-answers.service.js';

const OVERLOAD_RETRY_SECONDS = 2;
const NO_PRICES: readonly CompiledPrice[] = [];
/** Maximum wait for the clock to settle after a jump of the system clock. */
const LONGEST_MEASURE_MS = 1_000;

/** Values shared by all targets of one request. */
export interface OutgoingRequest {
  readonly caller: Caller;
  readonly request: GatewayRequest;
  /** Id of the event that all targets share. */
  readonly eventId: string;
  readonly createdAtMs: number;
  /** Null on the proxy. */
  readonly endpointSlug: string | null;
  readonly subjects: CallSubjects;
  /** Absent where the answer is not kept. */
  readonly keep?: KeepRequest | undefined;
}

/** One validated request for one target, with its time limit. */
export interface OutgoingCall {
  readonly target: CallTarget;
  readonly admitted: AdmittedRequest;
  readonly event: UsageAdmission;
  readonly ttfbTimeoutMs: number;
  readonly chain?: FallbackChain;
}

/** Turns a validated request into an upstream call: event, headers, connection. */
@Injectable()
export class OutgoingCalls {
  /** Cached per version of an instance. */
  readonly #redactions = new WeakMap<ProviderInstance, AddressRedaction>();

  constructor(
    private readonly connections: UpstreamConnections,
    private readonly recorder: UsageRecorder,
    private readonly loop: LoopMark,
    private readonly clock: SharedClock,
    private readonly environment: Environment,
  ) {}

  /** While the time is unknown: waits up to a second; the calls that follow take its best estimate. */
  whenTimeKnown(): MaybePromise<void> {
    const known = this.clock.whenKnown();
    if (known instanceof Promise) return Promise.race([known, sleep(LONGEST_MEASURE_MS, undefined, { ref: false })]);
  }

  /** Starts a request: assigns the id and the time of its event, which determine its day and month. */
  begin(
    caller: Caller,
    request: GatewayRequest,
    endpointSlug: string | null,
    subjects: CallSubjects = NO_SUBJECTS,
    keep?: KeepRequest,
  ): OutgoingRequest {
    const createdAtMs = this.clock.nowMs();
    return {
      caller,
      request,
      eventId: this.recorder.newEventId(createdAtMs),
      createdAtMs,
      endpointSlug,
      subjects,
      keep,
    };
  }

  /** The event of the request, as recorded for this target. */
  eventOf(outgoing: OutgoingRequest, target: CallTarget, { model, bounds, sent }: AdmittedRequest): UsageAdmission {
    const { caller, eventId, createdAtMs, endpointSlug, subjects } = outgoing;
    const { provider, path, style } = target;
    return {
      eventId,
      organizationId: caller.app.organizationId,
      appId: caller.app.id,
      userId: caller.userId,
      apiKeyId: caller.apiKeyId,
      providerType: provider.type,
      providerId: provider.id,
      providerSlug: provider.slug,
      providerGatewayId: provider.gateway?.id ?? null,
      providerGatewayType: provider.gateway?.type ?? null,
      reportsCost: provider.route.reportsCost(style),
      credentialSource: provider.route.credentialSource,
      modelAuthor: provider.dialect.modelAuthor(model.canonical),
      model: model.canonical,
      route: `${provider.slug}/${path}`,
      endpointSlug,
      appVersion: caller.appVersion,
      authMethod: caller.authMethod,
      groups: subjects.groups,
      createdAtMs,
      maxCostNanoUsd: maxCostOf(model.price, bounds),
      sent,
      sentNanoUsd: estimatedCostNanoUsd(model.price, { ...sent, outputTokens: 0 }),
      maxOutputTokens: bounds.outputTokens,
    };
  }

  /** A request that was refused before its event was known, as recorded. */
  refusedOf(caller: Caller, request: GatewayRequest, { endpointSlug, target, model }: KnownOfRefused): RefusedCall {
    const { eventId, createdAtMs } = this.begin(caller, request, endpointSlug);
    const provider = target?.provider;
    return {
      eventId,
      organizationId: caller.app.organizationId,
      appId: caller.app.id,
      userId: caller.userId,
      apiKeyId: caller.apiKeyId,
      providerType: provider?.type ?? NOT_KNOWN,
      providerId: provider?.id ?? null,
      providerSlug: provider?.slug ?? null,
      providerGatewayId: provider?.gateway?.id ?? null,
      providerGatewayType: provider?.gateway?.type ?? null,
      credentialSource: provider?.route.credentialSource ?? null,
      modelAuthor: model === undefined ? null : (provider?.dialect.modelAuthor(model) ?? null),
      model: model ?? NOT_KNOWN,
      route: target === undefined ? NOT_KNOWN : `${target.provider.slug}/${target.path}`,
      endpointSlug,
      appVersion: caller.appVersion,
      authMethod: caller.authMethod,
      groups: null,
      createdAtMs,
    };
  }

  /** Acquires a connection and builds the call; `undefined` at the connection limit of the provider instance. */
  connect(outgoing: OutgoingRequest, made: OutgoingCall): NextCall | undefined {
    const { target, admitted, event, ttfbTimeoutMs, chain } = made;
    const { provider, credential } = target;
    const pool = this.connections.poolFor(provider);
    const connection = pool.acquire();
    if (connection === undefined) return undefined;
    const { request } = outgoing;
    const call: ProviderCall = {
      request,
      pool,
      method: request.method,
      path: provider.baseUrl.path + admitted.path,
      headers: this.headers(outgoing, target, admitted),
      body: admitted.body !== undefined && 'pieces' in admitted.body ? admitted.body.pieces : admitted.body,
      isFree: admitted.isFree ?? false,
      style: target.style,
      keeps: admitted.keeps ?? false,
      price: admitted.model.price,
      withholdUsageChunk: admitted.withholdUsageChunk,
      hostedTools: admitted.hostedTools,
      toolPrices: admitted.bounds.toolModels?.flatMap(({ price }) => price ?? []) ?? NO_PRICES,
      credential: credentialIn(credential),
      accountSecrets: provider.accountSecrets,
      redaction: this.redactionFor(provider),
      admission: event,
      keep: outgoing.keep,
      ttfbTimeoutMs,
      chain,
    };
    return { call, connection };
  }

  private redactionFor(provider: ProviderInstance): AddressRedaction {
    let redaction = this.#redactions.get(provider);
    if (redaction === undefined) {
      redaction = new AddressRedaction(provider.addresses, this.environment.TRUSTED_PRIVATE_HOSTS);
      this.#redactions.set(provider, redaction);
    }
    return redaction;
  }

  private headers({ caller, request, keep }: OutgoingRequest, target: CallTarget, admitted: AdmittedRequest): string[] {
    const { app, credentialHeader } = caller;
    const removed = [credentialHeader, DEFAULT_USER_HEADER];
    // The gateway itself makes a repeated call the same call.
    if (keep !== undefined) removed.push('idempotency-key');
    if (app.userHeader !== undefined) removed.push(app.userHeader);
    if (app.tokenHeader !== undefined) removed.push(app.tokenHeader);
    for (const { header } of app.limits?.groups ?? []) if (header !== undefined) removed.push(header);
    const { route } = target.provider;
    const { body } = admitted;
    const ownHeaders = [
      ...route.callerHeaders({ appId: app.id, userId: caller.userId }),
      ...this.loop.headerFor(target.provider),
    ];
    return upstreamHeaders(request.raw.rawHeaders, {
      removed,
      passed: route.passedHeaders,
      injected: ownHeaders.length === 0 ? target.credential : [...target.credential, ...ownHeaders],
      contentType: body === undefined ? null : admitted.contentType,
    });
  }
}

/** The provider key in its credential header. */
function credentialIn(credential: readonly string[]): string {
  const value = credential[1] ?? '';
  return value.startsWith('Bearer ') ? value.slice('Bearer '.length) : value;
}

/** The refusal when no connection is free. */
export function overloaded(): GatewayError {
  return new GatewayError('service_unavailable', {
    message: 'Too many open calls to this provider; try again shortly.',
    reason: 'provider_connections_exhausted',
    retryAfterSeconds: OVERLOAD_RETRY_SECONDS,
  });
}
