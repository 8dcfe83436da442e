import type { ServerResponse } from 'node:http';
import { type BeforeApplicationShutdown, Injectable } from '@nestjs/common';
import type { Caller } from '../client-auth/caller.js';
import { GatewayError } from '../common/errors/gateway-error.js';
import type { GatewayRequest } from '../common/http/gateway-request.js';
import { readBody } from '../common/http/read-body.js';
import { Environment } from '../platform/config/environment.js';
import type { UsageAdmission } from '../usage/usage-event.js';
import { CallAdmission } from './admission.js';
import type { AdmittedRequest } from './admitted-request.js';
import { type ProxyPlan, ProxyPlans } from './plan.js';
import { ProxyPolicy } from './policy.js';
import type { ProxyPath } from './proxy-path.rules.js';
import { Relay } from './relay/relay.js';
import { RelayParts } from './relay/relay-parts.js';
import { UpstreamConnections } from './relay/upstream-connections.js';
import { upstreamHeaders } from './request-headers.rules.js';

/** Source: contract-app 6.3, step 6. */
const MAX_BODY_BYTES = 20 * 1024 * 1024;
const DEFAULT_USER_HEADER = 'x-end-user-id';
const OVERLOAD_RETRY_SECONDS = 2;

/** The proxy path, one straight line of named stages (contract-app 1.2, steps 8 to 10). */
@Injectable()
export class Forwarding implements BeforeApplicationShutdown {
  readonly #ttfbTimeoutMs: number;

  constructor(
    private readonly plans: ProxyPlans,
    private readonly policy: ProxyPolicy,
    private readonly admission: CallAdmission,
    private readonly connections: UpstreamConnections,
    private readonly parts: RelayParts,
    environment: Environment,
  ) {
    this.#ttfbTimeoutMs = environment.PROVIDER_TTFB_TIMEOUT_SECONDS * 1000;
  }

  beforeApplicationShutdown(): void {
    this.parts.abandoned.cancelAll();
  }

  /**
   * Forwards one call. Every stage returns what the next one needs, or throws a catalogue error; from `start` on the
   * relay owns the answer.
   */
  async forward(caller: Caller, path: ProxyPath, request: GatewayRequest, response: ServerResponse): Promise<void> {
    const planned = this.plans.forCall(caller, path);
    const plan = planned instanceof Promise ? await planned : planned;
    const body = await readBody(request.raw, MAX_BODY_BYTES);
    const judged = this.policy.admit(caller, plan, body, request.headers['content-type'] ?? '');
    const admitted = judged instanceof Promise ? await judged : judged;
    const event = this.eventOf(caller, plan, admitted);
    const allowed = this.admission.requireAllowed(caller, event, request);
    if (allowed instanceof Promise) await allowed;
    const pool = this.connections.poolFor(plan.provider.baseUrl.origin);
    const client = pool.acquire();
    if (client === undefined) throw overloaded();
    const relay = new Relay(
      {
        request,
        pool,
        method: request.method,
        path: plan.provider.baseUrl.path + admitted.path,
        headers: this.headers(caller, request, plan, admitted),
        body: admitted.body,
        style: plan.style,
        price: admitted.model.price,
        withholdUsageChunk: admitted.withholdUsageChunk,
        hostedTools: admitted.hostedTools,
        credential: credentialIn(plan.credential),
        admission: event,
        ttfbTimeoutMs: this.#ttfbTimeoutMs,
      },
      response,
      this.parts,
    );
    relay.start(client);
  }

  private headers(caller: Caller, request: GatewayRequest, plan: ProxyPlan, admitted: AdmittedRequest): string[] {
    const { app, credentialHeader } = caller;
    const removed = [credentialHeader, DEFAULT_USER_HEADER];
    if (app.userHeader !== undefined) removed.push(app.userHeader);
    if (app.tokenHeader !== undefined) removed.push(app.tokenHeader);
    return upstreamHeaders(request.raw.rawHeaders, {
      removed,
      injected: plan.credential,
      contentType: admitted.contentType,
    });
  }

  private eventOf(caller: Caller, plan: ProxyPlan, { model }: AdmittedRequest): UsageAdmission {
    const { provider } = plan;
    const createdAtMs = this.parts.clock.nowMs();
    return {
      eventId: this.parts.recorder.newEventId(createdAtMs),
      organizationId: caller.app.organizationId,
      appId: caller.app.id,
      userId: caller.userId,
      apiKeyId: caller.apiKeyId,
      providerType: provider.type,
      providerId: provider.id,
      providerSlug: provider.slug,
      providerGatewayId: provider.gateway?.id ?? null,
      providerGatewayType: provider.gateway?.type ?? null,
      reportsCost: provider.route.reportsCost(plan.style),
      credentialSource: provider.route.credentialSource,
      modelAuthor: provider.dialect.modelAuthor(model.canonical),
      model: model.canonical,
      route: `${provider.slug}/${plan.path}`,
      endpointSlug: null,
      appVersion: caller.appVersion,
      authMethod: caller.authMethod,
      createdAtMs,
    };
  }
}

/** The provider's key within its credential header. */
function credentialIn(credential: readonly string[]): string {
  const value = credential[1] ?? '';
  return value.startsWith('Bearer ') ? value.slice('Bearer '.length) : value;
}

function overloaded(): GatewayError {
  return new GatewayError('service_unavailable', {
    message: 'Too many open calls to this provider; try again shortly.',
    reason: 'provider_connections_exhausted',
    retryAfterSeconds: OVERLOAD_RETRY_SECONDS,
  });
}
