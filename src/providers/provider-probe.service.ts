import { Injectable } from '@nestjs/common';
import { GatewayError } from '../common/errors/gateway-error.js';
import { Environment } from '../platform/config/environment.js';
import { GuardedRequest, OutboundError } from '../platform/outbound/guarded-request.js';
import type { HeaderPair } from '../upstreams/dialect-table.js';
import { dialectOf } from '../upstreams/provider-dialect.js';
import { credentialHeaders } from './drafts/provider-secret.rules.js';
import { type DirectTarget, readDirectTarget } from './drafts/provider-write.rules.js';
import type { TestProviderRequest } from './dto/test-provider.request.js';

/** What a test of a key has shown; `reason` is absent when the key works. */
export interface ProbeOutcome {
  readonly validated: boolean;
  readonly reason?: 'unreachable' | 'unexpected_status' | 'no_probe';
  /** The provider's status, with `unexpected_status`. */
  readonly status?: number;
}

const TIMEOUT_MS = 4_000;
const KEY_REFUSED: ReadonlySet<number> = new Set([401, 403]);

/** Asks a provider, once and cheaply, whether it knows a key. Nothing is stored, logged or repeated from its answer. */
@Injectable()
export class ProviderProbe {
  constructor(
    private readonly outbound: GuardedRequest,
    private readonly environment: Environment,
  ) {}

  /**
   * @throws invalid_request, not_found as `readDirectTarget` says.
   * @throws provider_key_invalid the provider answered 401 or 403; the message carries that status.
   * Source: contract-admin 1.4.
   */
  async test(body: TestProviderRequest): Promise<ProbeOutcome> {
    const target = readDirectTarget(body, this.environment.TRUSTED_PRIVATE_HOSTS);
    const { probe } = dialectOf(target.type);
    if (probe === null) return { validated: false, reason: 'no_probe' };
    const status = await this.ask(target, probe.path, probe.headers);
    if (status === undefined) return { validated: false, reason: 'unreachable' };
    if (status >= 200 && status < 300) return { validated: true };
    if (!KEY_REFUSED.has(status)) return { validated: false, reason: 'unexpected_status', status };
    throw new GatewayError('provider_key_invalid', {
      message: `The provider refused this key with status ${status}.`,
      reason: 'probe_refused',
    });
  }

  /** The status, or `undefined` for a provider that gave none in time or stands where we may not call. */
  private async ask(
    { type, secret, baseUrl }: DirectTarget,
    path: string,
    probeHeaders: readonly HeaderPair[],
  ): Promise<number | undefined> {
    const dialect = dialectOf(type);
    const headers = Object.fromEntries([...probeHeaders, ...credentialHeaders(dialect, secret)]);
    try {
      const answer = await this.outbound.get(`${baseUrl ?? dialect.baseUrl}${path}`, {
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
