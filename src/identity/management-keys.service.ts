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
/** Enough for people to tell keys apart, too little to guess the rest. */
const HINT_LENGTH = 4;

/** Keeps and proves management keys. Nothing is remembered between requests, so a revocation counts from the next one on. */
@Injectable()
export class ManagementKeysService {
  constructor(
    private readonly keys: ManagementKeysRepository,
    private readonly trail: AuditTrail,
    private readonly clock: Clock,
    private readonly ids: Ids,
  ) {}

  /**
   * Keeps a key that its owner is given: what it is looked up by, and its hint. The key itself is nowhere else. The trail
   * tells of every key, whatever door it came through.
   *
   * A key that is stored while its owner is removed would be missed by `endAllOf`: so nobody is removed until this
   * transaction ends, and whoever has been gets none.
   *
   * @param by who makes it, in the account it is for.
   * @returns its id.
   * @throws forbidden the owner does not belong to the account any more.
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

  /** Whether this key is stored, and whether it has been revoked. */
  findRevocation(tx: EntityManager, key: Secret): Promise<{ readonly revoked: boolean } | undefined> {
    return this.keys.findRevocation(tx, hashManagementKey(key));
  }

  /** The account that this key has opened; `undefined` unless it is a bootstrap key that works. */
  findBootstrapAccount(key: Secret, within?: Pick<EntityManager, 'query'>): Promise<BootstrapAccount | undefined> {
    return this.keys.findBootstrapAccount(hashManagementKey(key), within);
  }

  /**
   * Who a key stands for: its owner with the role of this moment, in the one account it was made for. `undefined` for
   * a key that is unknown, revoked or past its end, whose owner left the account, or whose account has expired.
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

  /** Ends the keys of somebody who leaves an account: they do not work again when their owner comes back. */
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
 * The form a management key is stored and looked up in, hexadecimal. The look-up is by this value, so what its timing
 * could tell is about the hash and of no use.
 */
function hashManagementKey(key: Secret): string {
  return hash('sha256', key.reveal(), 'hex');
}
