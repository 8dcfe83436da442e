import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import type { Grant } from '../../accounts/access/admin-principal.js';
import { Connections, type Refreshed } from '../../accounts/connections/connections.service.js';
import { ACCESS_SECONDS, presentedToken, type TokenPair } from '../../accounts/connections/oauth-token.rules.js';
import { ConsoleOrigin } from '../../accounts/csrf/csrf-origins.js';
import { Clock } from '../../common/clock.js';
import { Log } from '../../common/log/log.js';
import { Secret } from '../../common/log/secret.js';
import { audienceOf, authorizationIdOf, fitsChallenge, grantOf } from '../authorizations/authorization.rules.js';
import { AuthorizationsRepository } from '../authorizations/authorizations.repository.js';
import { OAuthError, type OAuthErrorCode } from './oauth-error.filter.js';

/** The answer of the token endpoint. Source: RFC 6749 5.1. */
export interface IssuedTokens {
  readonly access_token: string;
  readonly token_type: 'Bearer';
  readonly expires_in: number;
  readonly refresh_token: string;
  readonly scope: Grant;
}

export interface CodeExchange {
  readonly code: string;
  readonly redirectUri: string;
  readonly clientId: string;
  readonly verifier: string;
  readonly resource: string | undefined;
}

export interface TokenRefresh {
  readonly refreshToken: string;
  readonly clientId: string;
  readonly resource: string | undefined;
  readonly scope: string | undefined;
}

/** Tokens of a connection, or the refusal, which must not roll the transaction back. */
type Exchanged = { readonly connectionId: string; readonly pair: TokenPair; readonly grant: Grant } | Refusal;

interface Refusal {
  readonly error: OAuthErrorCode;
  readonly reason: string;
}

const REFRESH_REFUSALS: Readonly<Record<Exclude<Refreshed, object>, Refusal>> = {
  unknown: { error: 'invalid_grant', reason: 'the refresh token is unknown, expired or revoked' },
  wrong_client: { error: 'invalid_grant', reason: 'the refresh token belongs to another client' },
  reused: { error: 'invalid_grant', reason: 'the refresh token was used before; the connection is revoked' },
  wrong_grant: { error: 'invalid_scope', reason: 'scope must be what was granted' },
  wrong_audience: { error: 'invalid_target', reason: 'resource must be the one that was authorized' },
};

/**
 * Exchanges codes and refresh tokens.
 *
 * Source: docs/reference/management-api.md#oauth-tokens, OAuth 2.1 3.2 and 4.
 */
@Injectable()
export class OAuthTokens {
  constructor(
    private readonly dataSource: DataSource,
    private readonly authorizations: AuthorizationsRepository,
    private readonly connections: Connections,
    private readonly origin: ConsoleOrigin,
    private readonly clock: Clock,
    private readonly log: Log,
  ) {}

  /**
   * Exchanges a code, once. A second use ends the connection; a wrong verifier, client or redirect URI leaves an unused
   * code valid.
   *
   * @throws OAuthError
   */
  async exchange(exchange: CodeExchange): Promise<IssuedTokens> {
    const exchanged = await this.dataSource.transaction((tx) => this.tryExchange(tx, exchange));
    if ('error' in exchanged) throw this.refused(exchanged);
    return this.issued(exchanged, 'code');
  }

  /** @throws OAuthError */
  async refresh({ refreshToken, clientId, resource, scope }: TokenRefresh): Promise<IssuedTokens> {
    const presented = presentedToken(refreshToken);
    if (presented?.kind !== 'refresh') throw this.refused(REFRESH_REFUSALS.unknown);
    const grant = scope === undefined ? undefined : grantOf(scope);
    if (scope !== undefined && grant === undefined) throw this.refused(REFRESH_REFUSALS.wrong_grant);
    const audience = resource === undefined ? undefined : audienceOf(resource, this.origin.url);
    if (resource !== undefined && audience === undefined) throw this.refused(REFRESH_REFUSALS.wrong_audience);
    const refreshed = await this.connections.refresh(presented, { clientId, grant, audience });
    if (typeof refreshed === 'string') throw this.refused(REFRESH_REFUSALS[refreshed]);
    return this.issued({ ...refreshed, connectionId: presented.connectionId }, 'refresh_token');
  }

  /** Ends the connection of a token; an unknown token changes nothing. Source: RFC 7009 2.2. */
  async revoke(token: string, clientId: string): Promise<void> {
    const presented = presentedToken(token);
    if (presented !== undefined) await this.connections.revoke(presented, clientId);
  }

  private async tryExchange(
    tx: EntityManager,
    { code, redirectUri, clientId, verifier, resource }: CodeExchange,
  ): Promise<Exchanged> {
    const authorization = await this.authorizations.lock(tx, authorizationIdOf(new Secret(code)));
    const { connectionId = null } = authorization ?? {};
    if (authorization === undefined || connectionId === null) return badGrant('the code is unknown');
    if (authorization.codeUsedAt !== null) {
      await this.connections.endReused(tx, connectionId);
      return badGrant('the code was used before; the connection is revoked');
    }
    if (authorization.expiresAt <= this.clock.now()) return badGrant('the code has expired');
    if (authorization.client.id !== clientId) return badGrant('the code belongs to another client');
    if (authorization.redirectUri !== redirectUri) return badGrant('redirect_uri differs from the one authorized');
    if (!fitsChallenge(verifier, authorization.codeChallenge)) return badGrant('code_verifier does not match');
    if (resource !== undefined && audienceOf(resource, this.origin.url) !== authorization.audience) {
      return REFRESH_REFUSALS.wrong_audience;
    }
    const issued = await this.connections.issue(tx, connectionId, authorization.audience);
    if (issued === undefined) return badGrant('the connection was revoked');
    await this.authorizations.update(tx, authorization.id, { codeUsedAt: this.clock.now() });
    return { ...issued, connectionId };
  }

  private issued(
    { connectionId, pair, grant }: Exclude<Exchanged, Refusal>,
    by: 'code' | 'refresh_token',
  ): IssuedTokens {
    this.log.event('oauth_tokens_issued', { connection: connectionId, for: by });
    return {
      access_token: pair.access.reveal(),
      token_type: 'Bearer',
      expires_in: ACCESS_SECONDS,
      refresh_token: pair.refresh.reveal(),
      scope: grant,
    };
  }

  private refused({ error, reason }: Refusal): OAuthError {
    this.log.event('oauth_token_refused', { error, reason });
    return new OAuthError(error, reason);
  }
}

function badGrant(reason: string): Refusal {
  return { error: 'invalid_grant', reason };
}
