import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { requireUnexpired } from '../../accounts/access/admin-access.rules.js';
import { type AuditActor, type Grant, newServiceActor, personActor } from '../../accounts/access/admin-principal.js';
import { Connections } from '../../accounts/connections/connections.service.js';
import { ConsoleOrigin } from '../../accounts/csrf/csrf-origins.js';
import { Organizations } from '../../accounts/organizations/organizations.service.js';
import { UnclaimedOrganizations } from '../../accounts/organizations/unclaimed-organizations.service.js';
import { Clock, instantOf } from '../../common/clock.js';
import { GatewayError, invalidRequest } from '../../common/errors/gateway-error.js';
import { Log } from '../../common/log/log.js';
import type { Secret } from '../../common/log/secret.js';
import { openText } from '../../platform/vault/sealed-blob.rules.js';
import { requireSignedIn, stateAt } from '../../sign-in/approvals/approval.rules.js';
import { type ApprovalKind, Approvals, type Viewing } from '../../sign-in/approvals/approvals.service.js';
import type { BrowserClient } from '../../sign-in/browser-sessions.service.js';
import { type AuthorizationState, CODE_MS, codeKeyOf, redirectTo } from '../authorizations/authorization.rules.js';
import { type AuthorizationRow, AuthorizationsRepository } from '../authorizations/authorizations.repository.js';

/** Name of the identity that owns a guest's account. */
const SERVICE_NAME = 'MCP connection';
const ACTION_SOURCE = 'mcp';

/** An authorization as the consent page shows it. */
export interface ConsentDetails extends Viewing {
  readonly authorization: AuthorizationRow;
  readonly state: AuthorizationState;
  readonly guestAvailable: boolean;
}

/** What the person allows. */
export interface Allowance {
  readonly organizationId: string;
  readonly grant: Grant;
}

/** The decision that opens a connection, and for whom. */
interface Admission extends Allowance {
  readonly identityId: string;
  readonly by: AuditActor;
}

/**
 * A person's decision on the authorization of an OAuth client. Every method takes the proof of the link.
 *
 * @throws not_found no such authorization; forbidden a wrong proof; rate_limited too many calls for one authorization.
 * Source: docs/reference/management-api.md#oauth-consent.
 */
@Injectable()
export class Consents {
  readonly #kind: ApprovalKind<AuthorizationRow>;

  constructor(
    private readonly authorizations: AuthorizationsRepository,
    private readonly approvals: Approvals,
    private readonly connections: Connections,
    private readonly organizations: Organizations,
    private readonly unclaimed: UnclaimedOrganizations,
    private readonly origin: ConsoleOrigin,
    private readonly clock: Clock,
    private readonly log: Log,
  ) {
    this.#kind = {
      repository: authorizations,
      unknown: () =>
        new GatewayError('not_found', {
          message: 'This authorization is unknown or has expired; start again in your client.',
          reason: 'authorization_unknown',
        }),
      expired: () =>
        new GatewayError('operation_expired', {
          message: 'This authorization has expired; start again in your client.',
          reason: 'authorization_expired',
        }),
      wrongProof: 'submissionToken: is not the proof of this authorization; start again in your client.',
    };
  }

  /** Changes nothing. */
  async details(id: string, proof: Secret, browser: BrowserClient): Promise<ConsentDetails> {
    const authorization = await this.authorized(id, proof);
    const state = await this.stateOf(authorization);
    const guestAvailable = await this.unclaimed.canOpenFirst();
    return { authorization, state, guestAvailable, ...(await this.approvals.viewing(browser)) };
  }

  /**
   * Gives the client access to the viewer's account. Repeating it returns the same redirect, whoever decided first.
   *
   * @returns where the browser goes: the client's redirect URI with the code.
   * @throws session_required nobody is signed in; not_a_member, account_expired of the account; invalid_request a grant
   * above the requested one; operation_denied, operation_expired; conflict as `Connections.open`.
   */
  allow(id: string, proof: Secret, { organizationId, grant }: Allowance, { session }: BrowserClient): Promise<string> {
    return this.complete(id, proof, async (tx, { requestedGrant }) => {
      const person = requireSignedIn(session, 'allow');
      if (grant === 'manage' && requestedGrant === 'read') {
        throw invalidRequest('grant', 'must be read: the client did not request more');
      }
      const memberships = await this.organizations.list(person, tx);
      const chosen = memberships.find(({ organization }) => organization.id === organizationId);
      if (chosen === undefined) throw new GatewayError('not_a_member');
      requireUnexpired(chosen.organization.expiresAt, this.clock.nowMs());
      return { organizationId, identityId: person.identityId, grant, by: personActor(organizationId, person) };
    });
  }

  /**
   * Gives the client access without a person, as the owner of the first account of an empty deployment. Repeating it
   * returns the same redirect.
   *
   * @param browser whose address it is counted for.
   * @throws conflict the deployment has an account; rate_limited as `UnclaimedOrganizations.openFirst`;
   * operation_denied, operation_expired.
   */
  guest(id: string, proof: Secret, { address }: BrowserClient): Promise<string> {
    return this.complete(id, proof, async (tx) => {
      const first = { serviceName: SERVICE_NAME, actionSource: ACTION_SOURCE, address: address ?? '' } as const;
      const opened = await this.unclaimed.openFirst(tx, first);
      if (opened === undefined) {
        throw new GatewayError('conflict', {
          message: 'This deployment already has an account; sign in instead.',
          reason: 'account_exists',
        });
      }
      const { organizationId, serviceId: identityId } = opened;
      const by = newServiceActor(organizationId, identityId, ACTION_SOURCE);
      return { organizationId, identityId, grant: 'manage', by };
    });
  }

  /**
   * Denies access; no sign-in is needed. Idempotent.
   *
   * @returns where the browser goes: the client's redirect URI with `access_denied`.
   * @throws already_completed, operation_expired.
   */
  async deny(id: string, proof: Secret, browser: BrowserClient): Promise<string> {
    await this.authorized(id, proof);
    const denied = await this.approvals.deny(this.#kind, id, browser, ({ client }) => ({
      ...{ action: 'connection.denied', targetType: 'connection', targetId: id },
      details: { name: client.name, client: client.id },
    }));
    const { state, client, redirectUri, clientState } = denied;
    if (state === 'pending') this.log.event('oauth_consent_denied', { authorization: id, client: client.id });
    return redirectTo(redirectUri, {
      ...{ error: 'access_denied', error_description: 'The person declined.' },
      ...{ state: clientState, iss: this.origin.url },
    });
  }

  /** The authorization, once its proof is verified and its call is counted. */
  authorized(id: string, proof: Secret): Promise<AuthorizationRow> {
    return this.approvals.authorized(this.#kind, id, proof);
  }

  private async complete(
    id: string,
    proof: Secret,
    admit: (tx: EntityManager, authorization: AuthorizationRow) => Promise<Admission>,
  ): Promise<string> {
    await this.authorized(id, proof);
    const completed = await this.approvals.decide(this.#kind, id, 'completed', async (tx, locked) => {
      if (locked.state === 'pending') await this.connect(tx, locked, await admit(tx, locked));
      return locked;
    });
    const { sealedCode, redirectUri, clientState } = completed;
    const code = openText(codeKeyOf(proof), sealedCode, { purpose: 'oauth code', authorization: id });
    if (code === undefined) throw new Error('A sealed code does not open with the proof of its authorization.');
    return redirectTo(redirectUri, { code: code.reveal(), state: clientState, iss: this.origin.url });
  }

  private async connect(
    tx: EntityManager,
    { id, client }: AuthorizationRow,
    { organizationId, identityId, grant, by }: Admission,
  ): Promise<void> {
    const expiresAt = instantOf(this.clock.nowMs() + CODE_MS);
    const connection = { organizationId, identityId, grant, clientId: client.id, clientName: client.name, expiresAt };
    const connectionId = await this.connections.open(tx, connection, by);
    const completed = { state: 'completed', connectionId, organizationId, identityId, expiresAt } as const;
    await this.authorizations.update(tx, id, completed);
    this.log.event('oauth_consent_allowed', { authorization: id, connection: connectionId, client: client.id, grant });
  }

  private async stateOf(authorization: AuthorizationRow): Promise<AuthorizationState> {
    const now = this.clock.now();
    const state = stateAt(authorization, now.getTime());
    if (state !== 'completed' || authorization.connectionId === null) return state;
    return (await this.authorizations.isConnected(authorization.connectionId, now)) ? 'completed' : 'retired';
  }
}
