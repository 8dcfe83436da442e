import { hash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { Clock } from '../common/clock.js';
import { GatewayError } from '../common/errors/gateway-error.js';
import { Ids } from '../common/ids.js';
import type { Secret } from '../common/log/secret.js';
import type { ActionSource, AdminPrincipal } from './admin-principal.js';
import type { AuditActor } from './audit/audit-actor.rules.js';
import { AuditTrail } from './audit/audit-trail.js';
import {
  type BootstrapAccount,
  ManagementKeysRepository,
  type ManagementKeyTerms,
} from './management-keys.repository.js';

const ID_RANDOM_LENGTH = 20;
/** Enough to tell keys apart, too little to guess the rest. */
const HINT_LENGTH = 4;

/** Stores and authenticates management keys. There is no cache, so a revocation takes effect on the next request. */
@Injectable()
export class ManagementKeysService {
  constructor(
    private readonly keys: ManagementKeysRepository,
    private readonly trail: AuditTrail,
    private readonly clock: Clock,
    private readonly ids: Ids,
  ) {}

  /**
   * Stores the hash and the hint of a key, never the key itself, and writes an audit entry for every source.
   *
   * The insert locks the membership: the owner cannot be removed before this transaction ends, and a removed owner gets
   * no key. Otherwise `endAllOf` could miss a key that is stored during the removal.
   *
   * @param by the creator, in the account of the key.
   * @returns the id of the key.
   * @throws forbidden the owner is no longer a member of the account.
   * Source: docs/reference/management-api.md#management-keys, docs/reference/security.md#revocation.
   */
  async store(tx: EntityManager, key: Secret, of: ManagementKeyTerms, by: AuditActor): Promise<string> {
    const id = `mkey_${this.ids.base36(ID_RANDOM_LENGTH)}`;
    const isMember = await this.keys.insert(tx, {
      ...of,
      id,
      tokenHash: hashManagementKey(key),
      tokenHint: key.reveal().slice(-HINT_LENGTH),
      createdAt: this.clock.now(),
    });
    if (!isMember) throw notAMember();
    await this.trail.record(tx, by, {
      action: 'management_key.created',
      targetType: 'management_key',
      targetId: id,
      details: { name: of.name, grant: of.grant },
    });
    return id;
  }

  /** Whether this key is stored, and whether it is revoked. */
  findRevocation(tx: EntityManager, key: Secret): Promise<{ readonly revoked: boolean } | undefined> {
    return this.keys.findRevocation(tx, hashManagementKey(key));
  }

  /** The account that this key created; `undefined` unless it is a valid bootstrap key. */
  findBootstrapAccount(key: Secret, within?: Pick<EntityManager, 'query'>): Promise<BootstrapAccount | undefined> {
    return this.keys.findBootstrapAccount(hashManagementKey(key), within);
  }

  /**
   * The owner of a key with its current role, in the account of the key. `undefined` for a key that is unknown, revoked
   * or expired, whose owner left the account, or whose account has expired.
   *
   * Source: docs/reference/management-api.md#management-keys, docs/reference/security.md#revocation.
   */
  async authenticate(key: Secret, actionSource: ActionSource): Promise<AdminPrincipal | undefined> {
    const holder = await this.keys.findHolder(hashManagementKey(key), this.clock.now().toISOString());
    if (holder === undefined) return undefined;
    return {
      organizationId: holder.organization_id,
      identityId: holder.identity_id,
      role: holder.role,
      grant: holder.access_grant,
      credentialType: 'apiKey',
      credentialId: holder.id,
      actor: { type: 'user', id: holder.identity_id, kind: holder.kind, credentialId: holder.id, actionSource },
    };
  }

  /** Revokes the keys of an identity that leaves an account. They stay revoked if the identity rejoins. */
  async endAllOf(
    tx: EntityManager,
    owner: { readonly organizationId: string; readonly identityId: string },
  ): Promise<void> {
    await this.keys.revokeAllOf(tx, owner, this.clock.now());
  }
}

function notAMember(): GatewayError {
  return new GatewayError('forbidden', {
    message: 'You do not belong to this organization any more.',
    reason: 'not_a_member',
  });
}

/**
 * The form in which a management key is stored and looked up, hexadecimal. The look-up compares hashes, so its timing
 * reveals nothing about the key.
 */
function hashManagementKey(key: Secret): string {
  return hash('sha256', key.reveal(), 'hex');
}
