import { Injectable } from '@nestjs/common';
import type { ReadableApp } from '../../app-directory/app-snapshot.js';
import type { ApiKeyAuthentication } from '../../app-directory/config/authentication-config.js';
import { refusalReason } from '../../app-keys/app-key.rules.js';
import { AppKeyDirectory } from '../../app-keys/app-key-directory.js';
import { GatewayError } from '../../common/errors/gateway-error.js';
import { readShape } from '../../common/fields/read-shape.js';
import { userBlocked } from '../../users/blocked-users.js';
import { UsersService } from '../../users/users.service.js';
import type { AuthAttempt } from './auth-attempts.js';
import { requireIssuer } from './auth-modes.rules.js';
import { ExchangeApiKeyRequest } from './dto/auth.request.js';
import { SignedInUser } from './signed-in-user.service.js';

/** An authenticated backend and its authenticated user. */
export interface ProvenBackend {
  readonly userId: string;
  readonly apiKeyId: string;
}

/** Authenticates a backend that exchanges its API key and an identity token for a gateway token. */
@Injectable()
export class ApiKeyExchangeService {
  constructor(
    private readonly keys: AppKeyDirectory,
    private readonly signedIn: SignedInUser,
    private readonly users: UsersService,
  ) {}

  /**
   * @param body as sent.
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

  /** Reads the database each time, so that a revocation takes effect at once. */
  private async requireKey(app: ReadableApp, plaintext: string): Promise<string> {
    const key = await this.keys.findStored(plaintext);
    if (key?.appId === app.id && key.status === 'active') return key.id;
    throw new GatewayError('auth_required', {
      status: 403,
      message: 'api_key: is not a valid key of this application.',
      reason: refusalReason(app.id, key, 'app_key_invalid'),
    });
  }
}
