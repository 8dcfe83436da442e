import { Injectable } from '@nestjs/common';
import { AppDirectoryService } from '../../app-directory/app-directory.service.js';
import { type ReadableApp, requireActive, requireReadable } from '../../app-directory/app-snapshot.js';
import { GatewayError } from '../../common/errors/gateway-error.js';
import { ProviderDirectory } from '../../providers/provider-directory.js';
import { ChallengesService, type PendingChallenge } from '../devices/challenges.service.js';
import { type AuthAttempt, AuthAttempts } from '../exchange/auth-attempts.js';
import { DeviceRegistrationService } from '../exchange/device-registration.service.js';
import { type GatewayToken, TokenExchangeService } from '../exchange/token-exchange.service.js';
import type {
  FrameworkChallengeRequest,
  FrameworkRegisterRequest,
  FrameworkTokenRequest,
} from './dto/framework-client.request.js';
import { isOffered, notOffered, statedForClient } from './framework-client.rules.js';

/** Stands for the challenge of a key that has none pending: it is in force nowhere. */
const NONE_PENDING = 'none';

/** Where the client was told to call. */
interface ClientAddress {
  readonly appId: string;
  /** Of the provider. */
  readonly slug: string;
}

/** A token and the challenge for the one after it. */
export interface FrameworkToken extends GatewayToken {
  readonly next: PendingChallenge;
}

/**
 * Serves the framework's client: looks up its pending challenge, and lets the services of `auth/*` do the rest.
 * Failures are opaque: the client knows statuses only.
 *
 * Source: docs/reference/application-api.md#framework-client.
 */
@Injectable()
export class FrameworkClientService {
  constructor(
    private readonly apps: AppDirectoryService,
    private readonly providers: ProviderDirectory,
    private readonly challenges: ChallengesService,
    private readonly attempts: AuthAttempts,
    private readonly registrations: DeviceRegistrationService,
    private readonly exchanges: TokenExchangeService,
  ) {}

  /** @throws app_not_found, not_found (not offered), app_disabled. */
  async challenge(address: ClientAddress, { client_id, key_id }: FrameworkChallengeRequest): Promise<PendingChallenge> {
    const app = await this.requireOffered(address, client_id);
    return this.challenges.pending(requireActive(app), key_id);
  }

  /** @throws as {@link challenge}; attest_failed (403), auth_required (401, blocked), app_version_too_old. */
  register(
    address: ClientAddress,
    { client_id, key_id, attestation_object: attestation }: FrameworkRegisterRequest,
  ): Promise<FrameworkToken> {
    return this.issue('register', { address, client_id, key_id }, async (app, sent, attempt) => {
      const registered = await this.registrations.register(app, { ...sent, attestation }, attempt);
      return this.exchanges.issueTo(app, registered, attempt);
    });
  }

  /** @throws as {@link challenge}; attest_failed and auth_required (blocked), both 401; app_version_too_old. */
  token(address: ClientAddress, { client_id, key_id, assertion }: FrameworkTokenRequest): Promise<FrameworkToken> {
    return this.issue('token_exchange', { address, client_id, key_id }, (app, sent, attempt) =>
      this.exchanges.exchange(app, { ...sent, assertion }, attempt),
    );
  }

  private async issue(
    event: 'register' | 'token_exchange',
    { address, client_id, key_id }: { readonly address: ClientAddress; client_id: string; key_id: string },
    prove: (app: ReadableApp, sent: object, attempt: AuthAttempt) => Promise<GatewayToken>,
  ): Promise<FrameworkToken> {
    const offered = await this.requireOffered(address, client_id);
    const request = { event, appId: offered.id, appVersion: null, isFrameworkClient: true } as const;
    try {
      const issued = await this.attempts.run(request, async (app, attempt) => {
        const challenge = (await this.challenges.findPending(app, key_id)) ?? NONE_PENDING;
        return prove(app, { proof: 'app_attest', key_id, challenge }, attempt);
      });
      return { ...issued, next: await this.challenges.pending(offered, key_id) };
    } catch (error) {
      throw statedForClient(error, event);
    }
  }

  /** @throws app_not_found; internal_error (configuration unreadable); not_found. */
  private async requireOffered({ appId, slug }: ClientAddress, clientId: string): Promise<ReadableApp> {
    const found = await this.apps.find(appId);
    if (found === undefined) throw new GatewayError('app_not_found');
    const app = requireReadable(found);
    const providers = await this.providers.forOrganization(app.organizationId);
    if (clientId !== app.id || !isOffered(app, providers.find(slug))) throw notOffered();
    return app;
  }
}
