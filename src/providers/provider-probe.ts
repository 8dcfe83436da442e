import { Injectable } from '@nestjs/common';
import type { AdminPrincipal } from '../accounts/access/admin-principal.js';
import { Clock } from '../common/clock.js';
import { GatewayError } from '../common/errors/gateway-error.js';
import { parseSecretText } from '../common/fields/secret-text.rules.js';
import type { Secret } from '../common/log/secret.js';
import { Environment } from '../platform/config/environment.js';
import { GuardedRequest, OutboundError } from '../platform/outbound/guarded-request.js';
import { OwnAddresses } from '../platform/outbound/own-addresses.js';
import { Vault } from '../platform/vault/vault.js';
import { baseUrlWarning } from '../upstreams/base-url.rules.js';
import type { ProviderType } from '../upstreams/provider-types.js';
import { gatewayRoute } from '../upstreams/routes/gateway-route.js';
import { directRoute, type ProviderRoute, type RouteProbe } from '../upstreams/routes/provider-route.js';
import type { TestProviderRequest } from './dto/provider.request.js';
import type { TestResult } from './provider.entity.js';
import type { TestGatewayRequest } from './provider-gateways/dto/provider-gateway.request.js';
import { ProviderGatewayListing } from './provider-gateways/provider-gateway-listing.js';
import { ProviderRoutes, type RoutedProvider } from './provider-routes.service.js';
import { type ProviderTarget, readTarget } from './provider-write.rules.js';
import { ProvidersRepository } from './providers.repository.js';
import { gatewaySecretContext, sealedCredential } from './sealed-credential.rules.js';

/** The result of a key test; `reason` is absent when the key works. */
export interface ProbeOutcome {
  readonly validated: boolean;
  readonly reason?: 'unreachable' | 'unexpected_status' | 'no_probe';
  /** The provider's status, with `unexpected_status`. */
  readonly status?: number;
  /** What may be the cause of an `unexpected_status`; absent if nothing is known. */
  readonly warnings?: readonly string[];
}

/** Why a token test was not successful. */
export const GATEWAY_DOUBTS = ['unreachable', 'unexpected_status', 'rejected'] as const;

export type GatewayDoubt = (typeof GATEWAY_DOUBTS)[number];

/** The result of a token test; `reason` is absent when the token works. */
export interface GatewayProbeOutcome {
  readonly validated: boolean;
  readonly reason?: GatewayDoubt;
  /** The status of the response, unless it is a success or there was none. */
  readonly status?: number;
}

/** The route and its credential; opening the credential may be a remote call. */
interface ProbedWay {
  readonly type: ProviderType;
  readonly route: ProviderRoute;
  openSecret(): Promise<Secret>;
}

const TIMEOUT_MS = 4_000;
const CREDENTIAL_REFUSED: ReadonlySet<number> = new Set([401, 403]);

/** Every gateway kind serves it, and its route has a call that checks the gateway's own token. */
const PROBED_TYPE = 'openai';

/** Tests a key or a gateway token with one cheap call. Nothing of the response is stored, logged or returned. */
@Injectable()
export class ProviderProbe {
  constructor(
    private readonly outbound: GuardedRequest,
    private readonly environment: Environment,
    private readonly own: OwnAddresses,
    private readonly gateways: ProviderGatewayListing,
    private readonly routes: ProviderRoutes,
    private readonly vault: Vault,
    private readonly providers: ProvidersRepository,
    private readonly clock: Clock,
  ) {}

  /**
   * @throws invalid_request as `readTarget`.
   * @throws not_found, provider_not_supported_by_gateway as `ProviderGatewayListing.require`.
   * @throws provider_unavailable the gateway's token cannot be opened.
   * @throws provider_key_invalid the response was 401 or 403; the message holds the status.
   * Source: docs/reference/management-api.md#testing-a-provider-key.
   */
  async test({ organizationId }: AdminPrincipal, body: TestProviderRequest): Promise<ProbeOutcome> {
    const target = readTarget(body, { trusted: this.environment.TRUSTED_PRIVATE_HOSTS, own: this.own });
    return this.probe(await this.wayTo(organizationId, target));
  }

  /**
   * Tests the stored credential of an instance, and keeps the result.
   *
   * @throws provider_unavailable its credential cannot be opened, or its gateway is missing or revoked.
   * @throws provider_key_invalid as `test`.
   * Source: docs/reference/management-api.md#testing-a-provider-key.
   */
  async testStored({ row, gateway, route }: RoutedProvider): Promise<ProbeOutcome> {
    if (route === null) throw new GatewayError('provider_unavailable', { reason: 'provider_gateway_missing' });
    const { blob, context, unusable } = sealedCredential(row, { gateway, route });
    if (unusable !== undefined) throw new GatewayError('provider_unavailable', { reason: unusable });
    const keep = (result: TestResult) => this.providers.keepTest(row, result, this.clock.now());
    const outcome = await this.probe({ type: row.type, route, openSecret: () => this.vault.open(blob, context) }).catch(
      async (error) => {
        if (error instanceof GatewayError && error.code === 'provider_key_invalid') await keep('refused');
        throw error;
      },
    );
    const { reason = 'accepted' } = outcome;
    if (reason !== 'no_probe') await keep(reason);
    return outcome;
  }

  private async probe({ type, route, openSecret }: ProbedWay): Promise<ProbeOutcome> {
    if (route.probe === null) return { validated: false, reason: 'no_probe' };
    const status = await this.statusOf(route, route.probe, await openSecret());
    if (status === undefined) return { validated: false, reason: 'unreachable' };
    if (status >= 200 && status < 300) return { validated: true };
    if (!CREDENTIAL_REFUSED.has(status)) {
      const warning = route.kind === 'direct' ? baseUrlWarning(type, route.baseUrl) : undefined;
      const warnings = warning === undefined ? {} : { warnings: [warning] };
      return { validated: false, reason: 'unexpected_status', status, ...warnings };
    }
    throw new GatewayError('provider_key_invalid', {
      message:
        route.kind === 'direct'
          ? `The provider refused this key with status ${status}.`
          : `The call through the gateway was refused with status ${status}.`,
      reason: 'probe_refused',
    });
  }

  /**
   * Tests the token of an upstream gateway.
   *
   * @throws invalid_request at `token` as `parseSecretText`.
   * Source: docs/reference/management-api.md#provider-gateways.
   */
  async testGateway(body: TestGatewayRequest): Promise<GatewayProbeOutcome> {
    const token = parseSecretText('token', body.token);
    const { CF_AIG_BASE_URL, VERCEL_AI_GATEWAY_BASE_URL } = this.environment;
    const baseUrls = { cf_aig: CF_AIG_BASE_URL, vercel: VERCEL_AI_GATEWAY_BASE_URL };
    const route = gatewayRoute(PROBED_TYPE, body, null, baseUrls);
    if (route.probe === null) throw new Error(`No way to test a gateway of the kind ${route.kind}.`);
    const status = await this.statusOf(route, route.probe, token);
    if (status === undefined) return { validated: false, reason: 'unreachable' };
    if (status >= 200 && status < 300) return { validated: true };
    return { validated: false, reason: CREDENTIAL_REFUSED.has(status) ? 'rejected' : 'unexpected_status', status };
  }

  private async wayTo(organizationId: string, target: ProviderTarget): Promise<ProbedWay> {
    if (target.providerGatewayId === null) {
      const route = directRoute(target.type, target.baseUrl);
      return { type: target.type, route, openSecret: async () => target.secret };
    }
    const gateway = await this.gateways.require(organizationId, target.providerGatewayId, target.type);
    return {
      type: target.type,
      route: this.routes.through(gateway, target.type, null),
      openSecret: () => this.vault.open(gateway.secretBlob, gatewaySecretContext(gateway)),
    };
  }

  /** The status; `undefined` when there was none in time, or the outbound guard refused the address. */
  private async statusOf(route: ProviderRoute, probe: RouteProbe, secret: Secret): Promise<number | undefined> {
    const headers = Object.fromEntries([...probe.headers, ...route.credentialHeaders(secret)]);
    const options = { headers, timeoutMs: TIMEOUT_MS, maxBytes: 0, discardBody: true };
    try {
      return (await this.outbound.get(`${route.baseUrl}${probe.path}`, options)).status;
    } catch (error) {
      if (error instanceof OutboundError) return undefined;
      throw error;
    }
  }
}
