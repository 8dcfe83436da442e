import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { requireUnexpired } from '../../accounts/access/admin-access.rules.js';
import { type PersonPrincipal, personActor } from '../../accounts/access/admin-principal.js';
import { MAX_KEY_NAME } from '../../accounts/management-keys/dto/create-management-key.request.js';
import { ManagementKeysService } from '../../accounts/management-keys/management-keys.service.js';
import type { Membership, Organization } from '../../accounts/organizations/organizations.repository.js';
import { Organizations } from '../../accounts/organizations/organizations.service.js';
import { Clock, instantOf } from '../../common/clock.js';
import { GatewayError, invalidRequest } from '../../common/errors/gateway-error.js';
import { Ids } from '../../common/ids.js';
import { Log } from '../../common/log/log.js';
import { Secret } from '../../common/log/secret.js';
import { proofHash, provesHash } from '../../common/proof-hash.rules.js';
import { requirePending } from '../../sign-in/approvals/approval.rules.js';
import { noSuchOperation, SEALED_MS } from '../operations/operation.rules.js';
import { OperationSeals } from '../operations/operation-seals.js';
import { type OperationRow, OperationsRepository } from '../operations/operations.repository.js';

const REDEEM_CODE_CHARACTERS = 48;

/** A collected login. */
export interface RedeemedLogin {
  readonly key: Secret;
  readonly account: Organization;
}

/** The secrets of an approved login, sealed in its row. */
interface LoginResult {
  readonly key: string;
  readonly redeemCode: string;
}

/**
 * The key of a login: created when a person approves, sealed in the row, handed over once.
 *
 * Source: docs/reference/management-api.md#terminal-login.
 */
@Injectable()
export class LoginKeys {
  constructor(
    private readonly operations: OperationsRepository,
    private readonly seals: OperationSeals,
    private readonly keys: ManagementKeysService,
    private readonly organizations: Organizations,
    private readonly clock: Clock,
    private readonly ids: Ids,
    private readonly log: Log,
  ) {}

  /**
   * Hands the key over to the terminal that brings the one-time code, once.
   *
   * @throws invalid_request not a login; operation_pending; operation_denied; operation_expired; already_completed;
   * forbidden another code; not_found.
   */
  async redeem(id: string, redeemCode: Secret): Promise<RedeemedLogin> {
    const now = this.clock.now();
    const login = await this.operations.find(id);
    if (login === undefined) throw noSuchOperation();
    if (login.kind !== 'login') throw invalidRequest('id', 'is not a login', 'operation_is_no_login');
    if (login.state !== 'completed') {
      requirePending(login, now.getTime());
      throw new GatewayError('operation_pending');
    }
    if (!provesHash(redeemCode, login.redeemCodeHash)) throw wrongRedeemCode();
    const redeemed = await this.operations.redeem(id, proofHash(redeemCode), now);
    if (redeemed === undefined) {
      if ((await this.operations.find(id))?.deliveredAt != null) throw alreadyCollected();
      throw new GatewayError('operation_expired');
    }
    const key = this.keyOf(id, redeemed.sealedResult);
    if (key === undefined || login.organizationId === null) throw new GatewayError('operation_expired');
    return { key, account: await this.organizations.read(login.organizationId) };
  }

  /**
   * Approves a login: creates the key of the person in the chosen account, in the transaction that completes the login.
   *
   * @param login locked by the transaction, and pending.
   * @param organizationId the chosen account; may be absent for a person with one.
   * @returns the address of the terminal's listener with the one-time code, if there is one.
   * @throws no_eligible_organization, not_a_member, account_expired, invalid_request at `organizationId`.
   */
  async approve(
    tx: EntityManager,
    login: OperationRow,
    person: PersonPrincipal,
    organizationId: string | undefined,
  ): Promise<string | null> {
    const memberships = await this.organizations.list(person, tx);
    const { organization } = chosen(memberships, organizationId);
    requireUnexpired(organization.expiresAt, this.clock.nowMs());
    const label = login.client?.label ?? '';
    const { id: keyId, plaintext } = await this.keys.mint(
      tx,
      {
        ...{ organizationId: organization.id, identityId: person.identityId, grant: 'manage', source: 'cli', label },
        name: [...label].slice(0, MAX_KEY_NAME).join('').trim(),
      },
      personActor(organization.id, person),
    );
    const redeemCode = this.ids.base62(REDEEM_CODE_CHARACTERS);
    const result: LoginResult = { key: plaintext.reveal(), redeemCode };
    await this.operations.update(tx, login.id, {
      ...{ state: 'completed', organizationId: organization.id, identityId: person.identityId, credentialId: keyId },
      sealedResult: this.seals.seal('result', login.id, new Secret(JSON.stringify(result))),
      sealedUntil: instantOf(this.clock.nowMs() + SEALED_MS),
      ...(login.loopbackRedirect === null ? {} : { redeemCodeHash: proofHash(new Secret(redeemCode)) }),
    });
    this.log.event('cli_login_approved', { operation: login.id, key: keyId });
    return redirectTo(login.loopbackRedirect, redeemCode);
  }

  /** The redirect of an approved login again, as long as its code is kept. */
  redirectOf({ id, loopbackRedirect, sealedResult }: OperationRow): string | null {
    const result = sealedResult === null ? undefined : this.openResult(id, sealedResult);
    return result === undefined ? null : redirectTo(loopbackRedirect, result.redeemCode);
  }

  /** The key in the sealed result of a login, which is handed over now. */
  keyOf(id: string, sealedResult: string): Secret | undefined {
    const result = this.openResult(id, sealedResult);
    if (result === undefined) return undefined;
    this.log.event('cli_login_collected', { operation: id });
    return new Secret(result.key);
  }

  private openResult(id: string, sealed: string): LoginResult | undefined {
    const text = this.seals.open('result', id, sealed);
    return text && (JSON.parse(text.reveal()) as LoginResult);
  }
}

function redirectTo(loopbackRedirect: string | null, redeemCode: string): string | null {
  return loopbackRedirect === null ? null : `${loopbackRedirect}?code=${redeemCode}`;
}

/** @throws no_eligible_organization, not_a_member, invalid_request as `approve`. */
function chosen(memberships: readonly Membership[], organizationId: string | undefined): Membership {
  const [only, ...others] = memberships;
  if (only === undefined) throw new GatewayError('no_eligible_organization');
  if (organizationId === undefined) {
    if (others.length === 0) return only;
    throw invalidRequest('organizationId', 'is required: you belong to several accounts', 'account_not_chosen');
  }
  const membership = memberships.find(({ organization }) => organization.id === organizationId);
  if (membership === undefined) throw new GatewayError('not_a_member', { reason: 'not_a_member' });
  return membership;
}

function wrongRedeemCode(): GatewayError {
  return new GatewayError('forbidden', {
    message: 'redeemCode: is not the code of this login.',
    reason: 'redeem_code_wrong',
  });
}

function alreadyCollected(): GatewayError {
  return new GatewayError('already_completed', {
    message: 'The key of this login was already issued; log in again to get another.',
  });
}
