import { Injectable } from '@nestjs/common';
import { GatewayError } from '../common/errors/gateway-error.js';
import type { Secret } from '../common/log/secret.js';
import type { AdminPrincipal } from '../identity/admin-principal.js';
import { Environment } from '../platform/config/environment.js';
import { GuardedRequest, OutboundError } from '../platform/outbound/guarded-request.js';
import { Vault } from '../platform/vault/vault.js';
import { directRoute, type ProviderRoute, type RouteProbe } from '../upstreams/routes/provider-route.js';
import { ProviderGateways } from './drafts/provider-gateways.service.js';
import { type ProviderTarget, readTarget } from './drafts/provider-write.rules.js';
import type { TestProviderRequest } from './dto/test-provider.request.js';
import { gatewaySecretContext } from './gateways/gateway-secret.rules.js';
import { ProviderRoutes } from './provider-routes.service.js';

/** The result of a key test; `reason` is absent when the key works. */
export interface ProbeOutcome {
  readonly validated: boolean;
  readonly reason?: 'unreachable' | 'unexpected_status' | 'no_probe';
  /** The provider's status, with `unexpected_status`. */
  readonly status?: number;
}

/** The route and its credential; opening the credential may be a remote call. */
interface ProbedWay {
  readonly route: ProviderRoute;
  openSecret(): Promise<Secret>;
}

const TIMEOUT_MS = 4_000;
const KEY_REFUSED: ReadonlySet<number> = new Set([401, 403]);

/** Tests a key with one cheap call to the provider. Nothing of the response is stored, logged or returned. */
@Injectable()
export class ProviderProbe {
  constructor(
    private readonly outbound: GuardedRequest,
    private readonly environment: Environment,
    private readonly gateways: ProviderGateways,
    private readonly routes: ProviderRoutes,
    private readonly vault: Vault,
  ) {}

  /**
   * @throws invalid_request as `readTarget`.
   * @throws not_found, provider_not_supported_by_gateway as `ProviderGateways.require`.
   * @throws provider_unavailable the gateway's token cannot be opened.
   * @throws provider_key_invalid the response was 401 or 403; the message holds the status.
   * Source: docs/reference/management-api.md#testing-a-provider-key.
   */
  async test({ organizationId }: AdminPrincipal, body: TestProviderRequest): Promise<ProbeOutcome> {
    const target = readTarget(body, this.environment.TRUSTED_PRIVATE_HOSTS);
    const { route, openSecret } = await this.wayTo(organizationId, target);
    if (route.probe === null) return { validated: false, reason: 'no_probe' };
    const status = await this.ask(route, route.probe, await openSecret());
    if (status === undefined) return { validated: false, reason: 'unreachable' };
    if (status >= 200 && status < 300) return { validated: true };
    if (!KEY_REFUSED.has(status)) return { validated: false, reason: 'unexpected_status', status };
    throw new GatewayError('provider_key_invalid', {
      message:
        route.kind === 'direct'
          ? `The provider refused this key with status ${status}.`
          : `The call through the gateway was refused with status ${status}.`,
      reason: 'probe_refused',
    });
  }

  private async wayTo(organizationId: string, target: ProviderTarget): Promise<ProbedWay> {
    if (target.providerGatewayId === null) {
      return { route: directRoute(target.type, target.baseUrl), openSecret: async () => target.secret };
    }
    const gateway = await this.gateways.require(organizationId, target.providerGatewayId, target.type);
    return {
      route: this.routes.through(gateway, target.type, null),
      openSecret: () => this.vault.open(gateway.secretBlob, gatewaySecretContext(gateway)),
    };
  }

  /** The status; `undefined` when there was none in time, or the outbound guard refused the address. */
  private async ask(route: ProviderRoute, probe: RouteProbe, secret: Secret): Promise<number | undefined> {
    const headers = Object.fromEntries([...probe.headers, ...route.credentialHeaders(secret)]);
    try {
      const answer = await this.outbound.get(`${route.baseUrl}${probe.path}`, {
        headers,
        timeoutMs: TIMEOUT_MS,
        maxBytes: 0,
        discardBody: true,
      });
      return answer.status;
    } catch (error) {
      if (error instanceof OutboundError) return undefined;
      throw error;
    }
  }
}
