import { hash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { Clock, type Instant } from '../../common/clock.js';
import { GatewayError } from '../../common/errors/gateway-error.js';
import { Ids } from '../../common/ids.js';
import { Secret } from '../../common/log/secret.js';
import { type ActionSource, type AdminPrincipal, type AuditActor, type Grant } from '../access/admin-principal.js';
import { AuditTrail } from '../audit/audit-trail.js';
import { ManagementKeyUses } from './management-key-uses.js';
import {
  type BootstrapOrganization,
  type KeyOwner,
  type ManagementKey,
  ManagementKeysRepository,
  type ManagementKeyTerms,
} from './management-keys.repository.js';

const KEY_PREFIX = 'gw_mgmt_';
/** 285 bits. Source: docs/reference/management-api.md#management-keys. */
const RANDOM_LENGTH = 48;
const ID_RANDOM_LENGTH = 20;
/** Enough to tell keys apart, too little to guess the rest. */
const HINT_LENGTH = 4;
/** Maximum number of valid keys of one organization. */
const MAX_KEYS = 1_000;

/** A new key; the only result that holds its plaintext. */
export interface CreatedManagementKey {
  readonly key: ManagementKey;
  readonly plaintext: Secret;
}

/** The id and plaintext of a key that the caller's transaction creates. */
export interface MintedManagementKey {
  readonly id: string;
  readonly plaintext: Secret;
}

/** Management keys. There is no cache, so a revocation takes effect on the next request. */
@Injectable()
export class ManagementKeysService {
  constructor(
    private readonly dataSource: DataSource,
    private readonly keys: ManagementKeysRepository,
    private readonly uses: ManagementKeyUses,
    private readonly trail: AuditTrail,
    private readonly clock: Clock,
    private readonly ids: Ids,
  ) {}

  /** Newest first. */
  list({ organizationId }: AdminPrincipal): Promise<readonly ManagementKey[]> {
    return this.keys.listOf(organizationId, this.clock.now());
  }

  /** A key of the organization, while it is kept. */
  find(organizationId: string, id: string): Promise<ManagementKey | undefined> {
    return this.keys.find(this.dataSource.manager, organizationId, id, this.clock.now());
  }

  /**
   * Creates a key that carries the current role of its creator at each use. Only this response holds the plaintext.
   *
   * @throws conflict the organization has too many keys; forbidden the creator is no longer a member.
   */
  create(admin: AdminPrincipal, name: string, grant: Grant): Promise<CreatedManagementKey> {
    const { organizationId, identityId } = admin;
    return this.dataSource.transaction(async (tx) => {
      const terms = { organizationId, identityId, name, grant, source: 'console' } as const;
      const { id, plaintext } = await this.mint(tx, terms, admin);
      return { key: await this.read(tx, organizationId, id), plaintext };
    });
  }

  /**
   * Creates a key within a transaction.
   *
   * @throws conflict, forbidden as `create`.
   */
  async mint(tx: EntityManager, terms: ManagementKeyTerms, by: AuditActor): Promise<MintedManagementKey> {
    await this.requireKeyLimit(tx, terms.organizationId);
    const plaintext = new Secret(`${KEY_PREFIX}${this.ids.base62(RANDOM_LENGTH)}`);
    return { id: await this.store(tx, plaintext, terms, by), plaintext };
  }

  /**
   * Revokes a key, effective from the next request at every instance. Repeating it changes nothing and returns the
   * same.
   *
   * @throws not_found the organization has no such key.
   */
  revoke(admin: AdminPrincipal, id: string): Promise<ManagementKey> {
    const { organizationId } = admin;
    return this.dataSource.transaction(async (tx) => {
      if (await this.keys.revoke(tx, organizationId, id, this.clock.now())) {
        await this.trail.record(tx, admin, {
          action: 'management_key.revoked',
          targetType: 'management_key',
          targetId: id,
        });
      }
      return this.read(tx, organizationId, id);
    });
  }

  /** Revokes a key that another one of the same owner replaces. */
  async withdraw(
    tx: EntityManager,
    { organizationId, id }: { readonly organizationId: string; readonly id: string },
  ): Promise<void> {
    await this.keys.revoke(tx, organizationId, id, this.clock.now());
  }

  /** Revokes the keys of an identity that leaves an organization. They stay revoked if the identity rejoins. */
  async revokeAllOf(
    tx: EntityManager,
    owner: { readonly organizationId: string; readonly identityId: string },
  ): Promise<void> {
    await this.keys.revokeAllOf(tx, owner, this.clock.now());
  }

  /**
   * The owner of a key with its current role, in the organization of the key. `undefined` for a key that is unknown,
   * revoked or expired, whose owner left the organization, or whose organization has expired.
   *
   * Source: docs/reference/management-api.md#management-keys, docs/reference/security.md#revocation.
   */
  async authenticate(key: Secret, actionSource: ActionSource): Promise<AdminPrincipal | undefined> {
    const owner = await this.keys.findOwner(hashManagementKey(key), this.clock.now());
    if (owner === undefined) return undefined;
    this.uses.note(owner.id, owner.lastUsedAt?.getTime() ?? 0);
    return principalOf(owner, actionSource);
  }

  /**
   * As `authenticate`, for a key that was authenticated before: a change that a person approves later runs as its
   * sender. Revocations and role changes wait until the transaction ends.
   */
  async lockPrincipal(tx: EntityManager, id: string, actionSource: ActionSource): Promise<AdminPrincipal | undefined> {
    const owner = await this.lockOwner(tx, id);
    return owner && principalOf(owner, actionSource);
  }

  /** The owner of a key or connection that is in force. Revocations and role changes wait as in `lockPrincipal`. */
  lockOwner(tx: EntityManager, id: string): Promise<KeyOwner | undefined> {
    return this.keys.lockOwner(tx, id, this.clock.now());
  }

  /**
   * Stores the hash and the hint of a key, never the key itself, and writes an audit entry for every source.
   *
   * The insert locks the membership: the owner cannot be removed before this transaction ends, and a removed owner gets
   * no key. Otherwise `revokeAllOf` could miss a key that is stored during the removal.
   *
   * @param by the creator, in the organization of the key.
   * @returns the id of the key.
   * @throws forbidden the owner is no longer a member of the organization.
   * Source: docs/reference/management-api.md#management-keys, docs/reference/security.md#revocation.
   */
  async store(tx: EntityManager, key: Secret, terms: ManagementKeyTerms, by: AuditActor): Promise<string> {
    const id = `mkey_${this.ids.base36(ID_RANDOM_LENGTH)}`;
    const isMember = await this.keys.insert(tx, {
      ...terms,
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
      details: { name: terms.name, grant: terms.grant, source: terms.source },
    });
    return id;
  }

  /**
   * Stores the connection of an OAuth client; `Connections` writes its audit entry.
   *
   * @throws conflict, forbidden as `create`.
   */
  async insertConnection(
    tx: EntityManager,
    connection: Omit<ManagementKeyTerms, 'source'> & {
      readonly id: string;
      readonly clientId: string;
      readonly expiresAt: Instant;
    },
  ): Promise<void> {
    await this.requireKeyLimit(tx, connection.organizationId);
    const createdAt = this.clock.now();
    const row = { ...connection, source: 'oauth', tokenHash: null, tokenHint: '', createdAt } as const;
    if (!(await this.keys.insert(tx, row))) throw notAMember();
  }

  /** Whether this key is stored, and whether it is revoked. */
  findRevocation(tx: EntityManager, key: Secret): Promise<{ readonly revoked: boolean } | undefined> {
    return this.keys.findRevocation(tx, hashManagementKey(key));
  }

  /** The organization that this key created; `undefined` unless it is a valid bootstrap key. */
  findBootstrapOrganization(key: Secret, within?: EntityManager): Promise<BootstrapOrganization | undefined> {
    return this.keys.findBootstrapOrganization(hashManagementKey(key), within);
  }

  /** @throws conflict as `create`. Source: OWASP API4:2023. */
  private async requireKeyLimit(tx: EntityManager, organizationId: string): Promise<void> {
    if ((await this.keys.countValid(tx, organizationId, this.clock.now())) < MAX_KEYS) return;
    throw new GatewayError('conflict', {
      message: `The account has ${MAX_KEYS} management keys, the maximum; revoke one first.`,
      reason: 'too_many_management_keys',
    });
  }

  private async read(tx: EntityManager, organizationId: string, id: string): Promise<ManagementKey> {
    const key = await this.keys.find(tx, organizationId, id, this.clock.now());
    if (key === undefined) throw new GatewayError('not_found');
    return key;
  }
}

/** The caller behind a key or connection. */
export function principalOf(owner: KeyOwner, actionSource: ActionSource): AdminPrincipal {
  const { id: credentialId, organizationId, identityId, role, grant, kind, source } = owner;
  const credentialType = source === 'oauth' ? 'oauth' : 'apiKey';
  const actor = { type: 'user', id: identityId, kind, credentialId, actionSource } as const;
  return { organizationId, identityId, role, grant, credentialType, credentialId, actor };
}

function notAMember(): GatewayError {
  return new GatewayError('forbidden', {
    message: 'You no longer belong to this organization.',
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
