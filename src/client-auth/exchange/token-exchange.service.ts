import { Injectable } from '@nestjs/common';
import type { ReadableApp } from '../../app-directory/app-snapshot.js';
import { lifetimeSecondsOf } from '../callers/gateway-token.rules.js';
import { GatewayTokens, type TokenHolder } from '../callers/gateway-tokens.js';
import { ApiKeyExchangeService } from './api-key-exchange.service.js';
import { type AuthAttempt, versionOf } from './auth-attempts.js';
import { type AdmittedDevice, DeviceExchangeService } from './device-exchange.service.js';

/** A new token. */
export interface GatewayToken {
  readonly token: string;
  readonly lifetimeSeconds: number;
  /** The proof failed, and its mode allowed a token. */
  readonly isUnproven: boolean;
}

/** Exchanges a proof for a gateway token; the application's configuration determines the kind of proof. */
@Injectable()
export class TokenExchangeService {
  constructor(
    private readonly devices: DeviceExchangeService,
    private readonly backends: ApiKeyExchangeService,
    private readonly tokens: GatewayTokens,
  ) {}

  /** @throws see `DeviceExchangeService.prove` and `ApiKeyExchangeService.prove`. */
  async exchange(app: ReadableApp, body: object, attempt: AuthAttempt): Promise<GatewayToken> {
    const { authentication } = app.config;
    if (authentication.type !== 'api_key') {
      return this.issueTo(app, await this.devices.prove(app, body, attempt), attempt);
    }
    const { userId, apiKeyId } = await this.backends.prove(app, authentication, body, attempt);
    return this.issue({ appId: app.id, userId, authMethod: 'api_key', apiKeyId, groups: attempt.groups });
  }

  /** A token for a device that an attempt has admitted. */
  issueTo(app: ReadableApp, device: AdmittedDevice, attempt: AuthAttempt): Promise<GatewayToken> {
    const attestedVersion = attempt.isFrameworkClient ? versionOf(attempt) : undefined;
    return this.issue({ appId: app.id, ...device, groups: attempt.groups, attestedVersion });
  }

  private async issue(holder: TokenHolder): Promise<GatewayToken> {
    return {
      token: await this.tokens.issue(holder),
      lifetimeSeconds: lifetimeSecondsOf(holder.authMethod),
      isUnproven: holder.unproven !== undefined,
    };
  }
}
