import { hash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { Clock } from '../common/clock.js';
import type { Secret } from '../common/log/secret.js';
import type { ActionSource, AdminPrincipal } from './admin-principal.js';
import { ManagementKeysRepository } from './management-keys.repository.js';

/** Proves management keys. Nothing is remembered between requests, so a revocation counts from the next one on. */
@Injectable()
export class ManagementKeysService {
  constructor(
    private readonly keys: ManagementKeysRepository,
    private readonly clock: Clock,
  ) {}

  /**
   * Who a key stands for: its owner with the role of this moment, in the one account it was made for. `undefined` for
   * a key that is unknown, revoked or past its end, whose owner left the account, or whose account has expired.
   *
   * Source: contract-admin 3.2; threats 7.4.
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

/**
 * The form a management key is stored and looked up in, hexadecimal. The look-up is by this value, so what its timing
 * could tell is about the hash and of no use (threats 6.1).
 */
export function hashManagementKey(key: Secret): string {
  return hash('sha256', key.reveal(), 'hex');
}

/** The key's last four characters: enough for people to tell keys apart, too little to guess the rest. */
export function hintOfManagementKey(key: Secret): string {
  return key.reveal().slice(-4);
}
