import { Injectable } from '@nestjs/common';
import type { ReadableApp } from '../app-directory/app-snapshot.js';
import type { ApiKeyAuthentication } from '../app-directory/config/app-config.js';
import { AppKeyDirectory } from '../app-keys/app-key-directory.js';
import { GatewayError } from '../common/errors/gateway-error.js';
import { readShape } from '../common/fields/read-shape.js';
import { userBlocked } from '../users/blocked-users.js';
import { UsersService } from '../users/users.service.js';
import type { AuthAttempt } from './auth-attempts.js';
import { requireIssuer } from './auth-modes.rules.js';
import { ExchangeApiKeyRequest } from './dto/exchange.request.js';
import { SignedInUser } from './signed-in-user.service.js';

/** A backend and the user it speaks for, both proven. */
export interface ProvenBackend {
  readonly userId: string;
  readonly apiKeyId: string;
}

/** Judges what a trusted backend presents for a gateway token of one of its users. */
@Injectable()
export class ApiKeyExchangeService {
  constructor(
    private readonly keys: AppKeyDirectory,
    private readonly signedIn: SignedInUser,
    private readonly users: UsersService,
  ) {}

  /**
   * @param body as it was sent.
   * @throws auth_method_not_supported, invalid_request, auth_required (key, blocked), issuer_*; in this order.
   */
  async prove(
    app: ReadableApp,
    authentication: ApiKeyAuthentication,
    body: object,
    attempt: AuthAttempt,
  ): Promise<ProvenBackend> {
    const issuer = requireIssuer(authentication);
    attempt.authMethod = 'api_key';
    const sent = readShape(ExchangeApiKeyRequest, body);
    const apiKeyId = await this.requireKey(app, sent.api_key);
    const userId = await this.signedIn.prove(app, issuer, sent.issuer_token, attempt);
    const user = await this.users.seen(app, userId);
    if (user.status === 'blocked') throw userBlocked();
    await this.signedIn.recovered(app, userId, user.claimPendingSince, attempt);
    return { userId, apiKeyId };
  }

  /** Asked of the database each time: a revoked key exchanges nothing from the moment on. */
  private async requireKey(app: ReadableApp, plaintext: string): Promise<string> {
    const key = await this.keys.findStored(plaintext);
    if (key?.appId === app.id && key.status === 'active') return key.id;
    throw new GatewayError('auth_required', {
      status: 403,
      message: 'api_key: is not a valid key of this application.',
      reason: 'app_key_invalid',
    });
  }
}
