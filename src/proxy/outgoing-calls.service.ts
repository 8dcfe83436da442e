import { Injectable } from '@nestjs/common';
import type { Caller } from '../client-auth/caller.js';
import { Clock } from '../common/clock.js';
import { GatewayError } from '../common/errors/gateway-error.js';
import type { GatewayRequest } from '../common/http/gateway-request.js';
import { worstCostNanoUsd } from '../pricing/worst-cost.rules.js';
import type { UsageAdmission } from '../usage/usage-event.js';
import { UsageRecorder } from '../usage/usage-recorder.service.js';
import type { AdmittedRequest } from './admitted-request.js';
import type { FallbackChain, NextCall, ProviderCall } from './exchange/provider-call.js';
import { UpstreamConnections } from './exchange/upstream-connections.js';
import type { CallTarget } from './provider-choice.rules.js';
import { upstreamHeaders } from './request-headers.rules.js';

const DEFAULT_USER_HEADER = 'x-end-user-id';
const OVERLOAD_RETRY_SECONDS = 2;

/** What all targets of one request have in common. */
export interface OutgoingRequest {
  readonly caller: Caller;
  readonly request: GatewayRequest;
  /** Of the event that all of them share. */
  readonly eventId: string;
  readonly createdAtMs: number;
  /** Null on the proxy. */
  readonly endpointSlug: string | null;
}

/** One judged request for one target, with how long that one may take. */
export interface OutgoingCall {
  readonly target: CallTarget;
  readonly admitted: AdmittedRequest;
  readonly event: UsageAdmission;
  readonly ttfbTimeoutMs: number;
  readonly chain?: FallbackChain;
}

/** Makes of a judged request the call that leaves: its event, its headers, its connection. */
@Injectable()
export class OutgoingCalls {
  constructor(
    private readonly connections: UpstreamConnections,
    private readonly recorder: UsageRecorder,
    private readonly clock: Clock,
  ) {}

  /** Begins a request: its event gets its id and its time. */
  begin(caller: Caller, request: GatewayRequest, endpointSlug: string | null): OutgoingRequest {
    const createdAtMs = this.clock.nowMs();
    return { caller, request, eventId: this.recorder.newEventId(createdAtMs), createdAtMs, endpointSlug };
  }

  /** The event of the request, as this target would be recorded in it. */
  eventOf(outgoing: OutgoingRequest, target: CallTarget, { model, bounds }: AdmittedRequest): UsageAdmission {
    const { caller, eventId, createdAtMs, endpointSlug } = outgoing;
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
      createdAtMs,
      worstNanoUsd: worstCostNanoUsd(model.price, bounds),
    };
  }

  /** The call itself; `undefined` when as many calls as may be are open to the provider's origin. */
  connect(outgoing: OutgoingRequest, made: OutgoingCall): NextCall | undefined {
    const { target, admitted, event, ttfbTimeoutMs, chain } = made;
    const { provider, credential } = target;
    const pool = this.connections.poolFor(provider.baseUrl.origin);
    const client = pool.acquire();
    if (client === undefined) return undefined;
    const { request } = outgoing;
    const call: ProviderCall = {
      request,
      pool,
      method: request.method,
      path: provider.baseUrl.path + admitted.path,
      headers: this.headers(outgoing, target, admitted),
      body: 'pieces' in admitted.body ? admitted.body.pieces : admitted.body,
      style: target.style,
      price: admitted.model.price,
      withholdUsageChunk: admitted.withholdUsageChunk,
      hostedTools: admitted.hostedTools,
      credential: credentialIn(credential),
      admission: event,
      ttfbTimeoutMs,
      chain,
    };
    return { call, client };
  }

  private headers({ caller, request }: OutgoingRequest, target: CallTarget, admitted: AdmittedRequest): string[] {
    const { app, credentialHeader } = caller;
    const removed = [credentialHeader, DEFAULT_USER_HEADER];
    if (app.userHeader !== undefined) removed.push(app.userHeader);
    if (app.tokenHeader !== undefined) removed.push(app.tokenHeader);
    const { route } = target.provider;
    const told = route.callerHeaders({ appId: app.id, userId: caller.userId });
    return upstreamHeaders(request.raw.rawHeaders, {
      removed,
      passed: route.passedHeaders,
      injected: told.length === 0 ? target.credential : [...target.credential, ...told],
      contentType: admitted.contentType,
      contentLength: 'pieces' in admitted.body ? admitted.body.bytes : undefined,
    });
  }
}

/** The provider's key within its credential header. */
function credentialIn(credential: readonly string[]): string {
  const value = credential[1] ?? '';
  return value.startsWith('Bearer ') ? value.slice('Bearer '.length) : value;
}

/** The refusal of a call for which no connection is free. */
export function overloaded(): GatewayError {
  return new GatewayError('service_unavailable', {
    message: 'Too many open calls to this provider; try again shortly.',
    reason: 'provider_connections_exhausted',
    retryAfterSeconds: OVERLOAD_RETRY_SECONDS,
  });
}
