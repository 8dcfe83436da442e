import { Injectable } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Clock } from '../../common/clock.js';
import { GatewayError } from '../../common/errors/gateway-error.js';
import { Connections } from '../connections/connections.service.js';
import type { TokenAudience } from '../connections/oauth-token.rules.js';
import { CONSOLE_HEADER } from '../csrf/csrf-origins.js';
import { ManagementKeysService } from '../management-keys/management-keys.service.js';
import { ConsoleCookies } from '../sessions/console-cookies.js';
import { ORGANIZATION_COOKIE, SESSION_COOKIE } from '../sessions/session-cookie.rules.js';
import type { SessionRow } from '../sessions/sessions.repository.js';
import { Sessions } from '../sessions/sessions.service.js';
import {
  actionSourceOf,
  managementKeyRefused,
  notSignedIn,
  readAdminBearer,
  requireUnexpired,
  sessionRequired,
} from './admin-access.rules.js';
import { type ActionSource, type AdminPrincipal, type PersonPrincipal, personActor } from './admin-principal.js';

/**
 * Authenticates callers of the management API by management key, access token or console session. A request with an
 * `Authorization` header is authenticated by that header alone; its cookies are ignored.
 *
 * Source: docs/reference/management-api.md#management-credentials,
 * docs/reference/management-api.md#console-requests-and-origins.
 */
@Injectable()
export class AdminAuthentication {
  constructor(
    private readonly keys: ManagementKeysService,
    private readonly connections: Connections,
    private readonly sessions: Sessions,
    private readonly cookies: ConsoleCookies,
    private readonly clock: Clock,
  ) {}

  /**
   * The caller in one organization.
   *
   * @throws auth_required no credential, or an invalid one.
   * @throws account_expired all organizations of the person have expired.
   * @throws no_eligible_organization the person belongs to no organization.
   */
  async admin(request: FastifyRequest, reply: FastifyReply): Promise<AdminPrincipal> {
    if (request.headers.authorization !== undefined) return this.byKey(request);
    const admin = this.memberOf(await this.requireSession(request, reply));
    if (admin === undefined) throw new GatewayError('no_eligible_organization');
    return admin;
  }

  /**
   * The caller in one organization, or a person without an organization.
   *
   * @throws auth_required, account_expired as `admin`.
   */
  async identity(request: FastifyRequest, reply: FastifyReply): Promise<AdminPrincipal | PersonPrincipal> {
    if (request.headers.authorization !== undefined) return this.byKey(request);
    const row = await this.requireSession(request, reply);
    return this.memberOf(row) ?? personOf(row);
  }

  /**
   * The signed-in person.
   *
   * @throws auth_required no valid session; session_required the credential is a key.
   */
  async person(request: FastifyRequest, reply: FastifyReply): Promise<PersonPrincipal> {
    if (request.headers.authorization !== undefined) {
      await this.byKey(request);
      throw sessionRequired();
    }
    return personOf(await this.requireSession(request, reply));
  }

  /**
   * The owner of a management key or connection, in its organization. Cookies are not read.
   *
   * @param authorization the `Authorization` header.
   * @param at where the request arrived: `mcp` also accepts access tokens for `/mcp` alone.
   * @throws auth_required no key or token, or an invalid one.
   */
  async bearerOwner(
    authorization: string | undefined,
    { at, source }: { readonly at: TokenAudience; readonly source: ActionSource },
  ): Promise<AdminPrincipal> {
    const bearer = readAdminBearer(authorization);
    const admin =
      'key' in bearer
        ? await this.keys.authenticate(bearer.key, source)
        : await this.connections.authenticate(bearer.access, { at, source });
    if (admin === undefined) throw managementKeyRefused();
    return admin;
  }

  private memberOf(row: SessionRow): AdminPrincipal | undefined {
    const { id: sessionId, identityId, organizationId, role } = row;
    if (organizationId === null || role === null) return undefined;
    requireUnexpired(row.organizationExpiresAt, this.clock.nowMs());
    const { credentialType, actor } = personActor(organizationId, { identityId, sessionId });
    return { organizationId, identityId, role, grant: 'manage', credentialType, credentialId: sessionId, actor };
  }

  private byKey({ headers }: FastifyRequest): Promise<AdminPrincipal> {
    return this.bearerOwner(headers.authorization, { at: 'api', source: actionSourceOf(headers['x-client']) });
  }

  /** Requires the console header: a cross-site request can carry the cookie, but not the header. */
  private async requireSession(request: FastifyRequest, reply: FastifyReply): Promise<SessionRow> {
    const { [SESSION_COOKIE]: session, [ORGANIZATION_COOKIE]: organization } = request.cookies;
    if (session === undefined) throw notSignedIn('credential_missing');
    if (request.headers[CONSOLE_HEADER] !== '1') throw notSignedIn('console_header_missing');
    const valid = await this.sessions.find(session, organization);
    if (valid === undefined) throw notSignedIn('session_unknown');
    this.cookies.renewSession(reply, valid.renewedCookies);
    return valid.row;
  }
}

function personOf({ id, identityId, organizationId }: SessionRow): PersonPrincipal {
  return { identityId, sessionId: id, organizationId };
}
