import { Injectable } from '@nestjs/common';
import { parseSecretText } from '../../common/fields/secret-text.rules.js';
import type { Secret } from '../../common/log/secret.js';
import { Environment } from '../../platform/config/environment.js';
import { GuardedRequest, OutboundError } from '../../platform/outbound/guarded-request.js';
import { gatewayRoute } from '../../upstreams/routes/gateway-route.js';
import type { ProviderRoute } from '../../upstreams/routes/provider-route.js';
import type { TestGatewayRequest } from './dto/test-gateway.request.js';

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

const TIMEOUT_MS = 4_000;
const TOKEN_REFUSED: ReadonlySet<number> = new Set([401, 403]);

/** Every gateway kind serves it, and its route has a call that checks the gateway's own token. */
const PROBED_TYPE = 'openai';

/** Tests a token with one cheap call to the upstream gateway. Nothing of the response is stored or returned. */
@Injectable()
export class GatewayProbe {
  constructor(
    private readonly outbound: GuardedRequest,
    private readonly environment: Environment,
  ) {}

  /**
   * @throws invalid_request at `token` as `parseSecretText`.
   * Source: docs/reference/management-api.md#provider-gateways.
   */
  async test(body: TestGatewayRequest): Promise<GatewayProbeOutcome> {
    const token = parseSecretText('token', body.token);
    const { CF_AIG_BASE_URL, VERCEL_AI_GATEWAY_BASE_URL } = this.environment;
    const baseUrls = { cf_aig: CF_AIG_BASE_URL, vercel: VERCEL_AI_GATEWAY_BASE_URL };
    const status = await this.ask(gatewayRoute(PROBED_TYPE, body, null, baseUrls), token);
    if (status === undefined) return { validated: false, reason: 'unreachable' };
    if (status >= 200 && status < 300) return { validated: true };
    return { validated: false, reason: TOKEN_REFUSED.has(status) ? 'rejected' : 'unexpected_status', status };
  }

  /** The status; `undefined` when there was none in time, or the outbound guard refused the address. */
  private async ask(route: ProviderRoute, token: Secret): Promise<number | undefined> {
    if (route.probe === null) throw new Error(`No way to test a gateway of the kind ${route.kind}.`);
    const headers = Object.fromEntries([...route.probe.headers, ...route.credentialHeaders(token)]);
    const options = { headers, timeoutMs: TIMEOUT_MS, maxBytes: 0, discardBody: true };
    try {
      return (await this.outbound.get(`${route.baseUrl}${route.probe.path}`, options)).status;
    } catch (error) {
      if (error instanceof OutboundError) return undefined;
      throw error;
    }
  }
}
