import { Injectable } from '@nestjs/common';
import type { ReadableApp } from '../../app-directory/app-snapshot.js';
import { GatewayTokens } from '../callers/gateway-tokens.js';
import { ApiKeyExchangeService } from './api-key-exchange.service.js';
import type { AuthAttempt } from './auth-attempts.js';
import { DeviceExchangeService } from './device-exchange.service.js';

/** Exchanges a proof for a gateway token; the application's configuration determines the kind of proof. */
@Injectable()
export class TokenExchangeService {
  constructor(
    private readonly devices: DeviceExchangeService,
    private readonly backends: ApiKeyExchangeService,
    private readonly tokens: GatewayTokens,
  ) {}

  /** @throws see `DeviceExchangeService.prove` and `ApiKeyExchangeService.prove`. */
  async exchange(app: ReadableApp, body: object, attempt: AuthAttempt): Promise<string> {
    const { authentication } = app.config;
    if (authentication.type !== 'api_key') {
      const proven = await this.devices.prove(app, body, attempt);
      return this.tokens.issue({ appId: app.id, ...proven, groups: attempt.groups });
    }
    const { userId, apiKeyId } = await this.backends.prove(app, authentication, body, attempt);
    return this.tokens.issue({ appId: app.id, userId, authMethod: 'api_key', apiKeyId, groups: attempt.groups });
  }
}
