import { Module } from '@nestjs/common';
import { AccessModule } from '../accounts/access/access.module.js';
import { OrganizationsModule } from '../accounts/organizations/organizations.module.js';
import { AddressLimitsModule } from '../platform/address-limits/address-limits.module.js';
import { SignInModule } from '../sign-in/sign-in.module.js';
import { AuthorizationsRepository } from './authorizations/authorizations.repository.js';
import { OAuthClients } from './clients/oauth-clients.service.js';
import { ConsentController } from './decision/consent.controller.js';
import { ConsentPageController } from './decision/consent-page.controller.js';
import { Consents } from './decision/consents.service.js';
import { Authorizations } from './server/authorizations.service.js';
import { AuthorizeController } from './server/authorize.controller.js';
import { OAuthMetadataController } from './server/metadata.controller.js';
import { OAuthTokens } from './server/oauth-tokens.service.js';
import { TokenController } from './server/token.controller.js';

/**
 * The authorization server for OAuth clients, such as AI clients of `/mcp`: a person gives a client access to one of
 * their accounts, and the client gets a connection with its own tokens.
 *
 * `/oauth/authorize` finds the client, in the operator's file or by its metadata document, and stores an authorization.
 * On the consent page the person allows or denies: one transaction locks the row and opens the connection, a management
 * key without tokens. The client exchanges its code, once; a second use ends the connection.
 *
 * Source: docs/reference/management-api.md#oauth-tokens, ADR 0057.
 *
 * Tables: oauth_authorizations; connections and their tokens are stored by `accounts`. Routes: `/v1/console/oauth/*`,
 * `/oauth/*`, `/.well-known/oauth-*`. Codes: session_required, not_a_member, account_expired, operation_denied,
 * operation_expired, already_completed, conflict, rate_limited, forbidden, not_found; on the token routes those of
 * OAuth. Log lines: oauth_client_refused, oauth_authorization_refused, oauth_consent_allowed, oauth_consent_denied,
 * oauth_tokens_issued, oauth_token_refused.
 */
@Module({
  imports: [AccessModule, AddressLimitsModule, OrganizationsModule, SignInModule],
  controllers: [
    OAuthMetadataController,
    AuthorizeController,
    TokenController,
    ConsentController,
    ConsentPageController,
  ],
  providers: [Authorizations, AuthorizationsRepository, Consents, OAuthClients, OAuthTokens],
})
export class ConsentModule {}
