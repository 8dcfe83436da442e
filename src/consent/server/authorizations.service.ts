import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { ConsoleOrigin } from '../../accounts/csrf/csrf-origins.js';
import { Clock, instantOf } from '../../common/clock.js';
import { GatewayError } from '../../common/errors/gateway-error.js';
import { Ids } from '../../common/ids.js';
import { KeyedQueue } from '../../common/keyed-queue.js';
import { Log } from '../../common/log/log.js';
import { Secret } from '../../common/log/secret.js';
import { proofHash } from '../../common/proof-hash.rules.js';
import { IV_BYTES, sealText } from '../../platform/vault/sealed-blob.rules.js';
import {
  type AuthorizationRequest,
  authorizationIdOf,
  codeKeyOf,
  KEPT_MS,
  MAX_PENDING,
  PENDING_MS,
  readAuthorizationRequest,
  redirectTo,
  type SingleParameters,
} from '../authorizations/authorization.rules.js';
import { AuthorizationsRepository } from '../authorizations/authorizations.repository.js';
import type { OAuthClient } from '../clients/client.rules.js';
import { ClientRefused, OAuthClients } from '../clients/oauth-clients.service.js';
import { matchesRedirectUri } from '../clients/redirect-uris.rules.js';

const SECRET_BYTES = 32;

/**
 * Opens authorizations for clients.
 *
 * Source: docs/reference/management-api.md#oauth-authorization.
 */
@Injectable()
export class Authorizations {
  readonly #turns = new KeyedQueue();

  constructor(
    private readonly dataSource: DataSource,
    private readonly authorizations: AuthorizationsRepository,
    private readonly clients: OAuthClients,
    private readonly origin: ConsoleOrigin,
    private readonly clock: Clock,
    private readonly ids: Ids,
    private readonly log: Log,
  ) {}

  /**
   * Opens an authorization.
   *
   * @param address that the request came from.
   * @returns where the browser goes: the consent page, or the client with an error.
   * @throws invalid_request client or redirect URI cannot be trusted, so that nobody is redirected; rate_limited too
   * many authorizations of the address are pending.
   */
  async begin(parameters: SingleParameters, address: string): Promise<string> {
    const { client, redirectUri } = await this.requireClient(parameters, address);
    const request = readAuthorizationRequest(parameters, this.origin.url);
    if ('error' in request) {
      const { error, description } = request;
      this.log.event('oauth_authorization_refused', { error, reason: description });
      const state = parameters.get('state') ?? null;
      return redirectTo(redirectUri, { error, error_description: description, state, iss: this.origin.url });
    }
    return this.open(client, redirectUri, request, address);
  }

  private async requireClient(
    parameters: SingleParameters,
    address: string,
  ): Promise<{ readonly client: OAuthClient; readonly redirectUri: string }> {
    const clientId = parameters.get('client_id');
    const redirectUri = parameters.get('redirect_uri');
    if (clientId === undefined) throw this.refused('invalid_request', 'client_id is missing.');
    if (redirectUri === undefined) throw this.refused('invalid_request', 'redirect_uri is missing.');
    const client = await this.clients.find(clientId, address).catch((error: unknown) => {
      throw error instanceof ClientRefused ? this.refused('invalid_client', error.message) : error;
    });
    if (!client.redirectUris.some((declared) => matchesRedirectUri(declared, redirectUri))) {
      throw this.refused('invalid_request', 'redirect_uri is not one that the client has declared.');
    }
    return { client, redirectUri };
  }

  private async open(
    { id: clientId, name, domain, source }: OAuthClient,
    redirectUri: string,
    { audience, grant, codeChallenge, state }: AuthorizationRequest,
    address: string,
  ): Promise<string> {
    const code = new Secret(this.ids.bytes(SECRET_BYTES).toString('base64url'));
    const proof = new Secret(this.ids.bytes(SECRET_BYTES).toString('base64url'));
    const id = authorizationIdOf(code);
    const createdAt = this.clock.now();
    const sealContext = { purpose: 'oauth code', authorization: id };
    const authorization = {
      ...{ id, client: { id: clientId, name, domain, source }, redirectUri, clientState: state, audience, address },
      ...{ requestedGrant: grant, codeChallenge, proofHash: proofHash(proof), createdAt },
      sealedCode: sealText(codeKeyOf(proof), this.ids.bytes(IV_BYTES), code, sealContext),
      expiresAt: instantOf(createdAt.getTime() + PENDING_MS),
      keptUntil: instantOf(createdAt.getTime() + KEPT_MS),
    };
    await this.#turns.take(address, () =>
      this.dataSource.transaction(async (tx) => {
        if ((await this.authorizations.insert(tx, authorization)) > MAX_PENDING) throw tooManyPending();
      }),
    );
    return `/oauth/consent?id=${id}#${proof.reveal()}`;
  }

  private refused(error: 'invalid_request' | 'invalid_client', problem: string): GatewayError {
    this.log.event('oauth_authorization_refused', { error, reason: problem });
    return new GatewayError('invalid_request', { message: `${error}: ${problem}`, reason: `oauth_${error}` });
  }
}

function tooManyPending(): GatewayError {
  return new GatewayError('rate_limited', {
    message: `Too many pending authorizations: at most ${MAX_PENDING} per address. Decide one, or wait ten minutes.`,
    reason: 'too_many_pending_authorizations',
    retryAfterSeconds: PENDING_MS / 1000,
  });
}
