import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager, In, MoreThan } from 'typeorm';
import type { Organization } from '../../accounts/organizations/organizations.repository.js';
import type { Instant } from '../../common/clock.js';
import { lockName } from '../../platform/database/advisory-lock.js';
import { OperationEntity } from './operation.entity.js';
import type { OperationFailure, OperationKind } from './operation.rules.js';

export type OperationRow = Readonly<OperationEntity>;

/** The members of a new operation; the others are null. */
export type NewOperation = Pick<OperationRow, 'id' | 'kind' | 'state' | 'createdAt' | 'expiresAt' | 'keptUntil'> &
  Partial<OperationRow>;

/** An operation as its terminal polls it. */
export interface PolledOperation
  extends Pick<
    OperationRow,
    'id' | 'kind' | 'state' | 'expiresAt' | 'result' | 'failure' | 'deliveredAt' | 'proofHash'
  > {
  /** The sealed result, where this poll delivers it. */
  readonly sealedResult: string | null;
  /** Whether the key that a login created is in force. */
  readonly isKeyInForce: boolean;
  readonly account: Organization | null;
}

/** Whether the key that operation `o` created authenticates at `$2`. */
const KEY_IN_FORCE = `EXISTS (
  SELECT FROM management_keys key
    JOIN memberships m ON m.organization_id = key.organization_id AND m.identity_id = key.identity_id
   WHERE key.id = o.credential_id AND key.revoked_at IS NULL AND coalesce(key.expires_at > $2, true))`;

/**
 * Reads an operation and, in the same statement, takes the key of a login: of several polls at once, one gets it. Other
 * operations of terminals show their key to every poll until `sealed_until`.
 */
const POLL = `
  WITH delivery AS (
    UPDATE cli_operations o SET delivered_at = $2
     WHERE o.id = $1 AND o.kind = 'login' AND o.state = 'completed' AND o.loopback_redirect IS NULL
       AND o.delivered_at IS NULL AND o.sealed_until > $2 AND ${KEY_IN_FORCE}
    RETURNING o.sealed_result)
  SELECT o.id, o.kind, o.state, o.expires_at AS "expiresAt", o.result, o.failure, o.delivered_at AS "deliveredAt",
         o.proof_hash AS "proofHash", ${KEY_IN_FORCE} AS "isKeyInForce",
         CASE WHEN o.kind = 'login' THEN (SELECT sealed_result FROM delivery)
              WHEN o.action_source = 'cli' AND o.sealed_until > $2 THEN o.sealed_result END AS "sealedResult",
         account.id AS "accountId", account.name, account.created_at AS "createdAt",
         account.expires_at AS "accountExpiresAt", EXISTS (
           SELECT FROM memberships owner JOIN identities person ON person.id = owner.identity_id
            WHERE owner.organization_id = account.id AND owner.role = 'owner' AND person.kind = 'human') AS claimed
    FROM cli_operations o LEFT JOIN organizations account ON account.id = o.organization_id
   WHERE o.id = $1`;

interface PollRow extends Omit<PolledOperation, 'account'> {
  readonly accountId: string | null;
  readonly name: string;
  readonly createdAt: Instant;
  readonly accountExpiresAt: Instant | null;
  readonly claimed: boolean;
}

/** The table cli_operations. */
@Injectable()
export class OperationsRepository {
  constructor(private readonly dataSource: DataSource) {}

  async find(id: string, within: EntityManager = this.dataSource.manager): Promise<OperationRow | undefined> {
    return (await within.findOneBy(OperationEntity, { id })) ?? undefined;
  }

  /** As `find`; concurrent callers wait until this transaction ends. */
  async lock(tx: EntityManager, id: string): Promise<OperationRow | undefined> {
    const where = { id };
    return (await tx.findOne(OperationEntity, { where, lock: { mode: 'for_no_key_update' } })) ?? undefined;
  }

  /** The pending operation of a user code, at one look-up in an index. */
  async findByUserCode(macs: readonly string[], at: Instant): Promise<OperationRow | undefined> {
    const pending = { userCodeMac: In(macs), state: 'pending' as const, expiresAt: MoreThan(at) };
    return (await this.dataSource.manager.findOneBy(OperationEntity, pending)) ?? undefined;
  }

  /** @returns whether neither the id nor the user code belongs to another operation, so that it was stored. */
  async insert(tx: EntityManager, operation: NewOperation): Promise<boolean> {
    const insert = tx.createQueryBuilder().insert().into(OperationEntity).values(operation).orIgnore();
    const { raw } = await insert.returning('id').execute();
    return raw.length === 1;
  }

  /**
   * Locks an address or an account until the transaction ends, so that its pending operations are counted one after the
   * other.
   *
   * @throws rate_limited as `lockName`.
   */
  async lockAddress(tx: EntityManager, address: string): Promise<void> {
    await lockName(tx, `cli login of ${address}`);
  }

  /** The number of pending operations with these members at `at`. */
  countPending(
    tx: EntityManager,
    of:
      | { readonly kind: OperationKind; readonly address: string }
      | { readonly credentialId: string }
      | { readonly organizationId: string },
    at: Instant,
  ): Promise<number> {
    return tx.countBy(OperationEntity, { ...of, state: 'pending', expiresAt: MoreThan(at) });
  }

  /** Changes an operation that the transaction has locked. */
  async update(
    tx: EntityManager,
    id: string,
    change: Partial<Omit<OperationRow, 'payload' | 'client'>>,
  ): Promise<void> {
    await tx.update(OperationEntity, { id }, change);
  }

  /** Stores why a step was refused, if the operation is pending at `at`. */
  async noteFailure(id: string, failure: OperationFailure, at: Instant): Promise<void> {
    await this.dataSource.manager.update(
      OperationEntity,
      { id, state: 'pending' as const, expiresAt: MoreThan(at) },
      { failure },
    );
  }

  async poll(id: string, at: Instant): Promise<PolledOperation | undefined> {
    const [row] = await this.dataSource.query<PollRow[]>(POLL, [id, at]);
    if (row === undefined) return undefined;
    const { accountId, name, createdAt, accountExpiresAt, claimed, ...polled } = row;
    const account =
      accountId === null ? null : { id: accountId, name, createdAt, claimed, expiresAt: accountExpiresAt };
    return { ...polled, account };
  }

  /**
   * Takes the key of an approved login for its one-time code.
   *
   * @returns `undefined` unless this call is the first, and the key is in force.
   */
  async redeem(
    id: string,
    redeemCodeHash: string,
    at: Instant,
  ): Promise<{ readonly sealedResult: string } | undefined> {
    const [[row]]: [{ sealedResult: string }[], number] = await this.dataSource.query(
      `UPDATE cli_operations o SET delivered_at = $2
        WHERE o.id = $1 AND o.kind = 'login' AND o.state = 'completed' AND o.redeem_code_hash = $3
          AND o.delivered_at IS NULL AND o.sealed_until > $2 AND ${KEY_IN_FORCE}
       RETURNING o.sealed_result AS "sealedResult"`,
      [id, at, redeemCodeHash],
    );
    return row;
  }

  /**
   * Takes the key that an AI client's operation issued. Of several callers at once, one gets it.
   *
   * @returns `undefined` unless this call is the first, in time.
   */
  async takeKey(
    tx: EntityManager,
    { id, organizationId }: Pick<OperationRow, 'id' | 'organizationId'>,
    at: Instant,
  ): Promise<{ readonly sealedResult: string } | undefined> {
    const [[row]]: [{ sealedResult: string }[], number] = await tx.query(
      `UPDATE cli_operations SET delivered_at = $3
        WHERE id = $1 AND organization_id = $2 AND action_source = 'mcp' AND state = 'completed'
          AND sealed_result IS NOT NULL AND delivered_at IS NULL AND sealed_until > $3
       RETURNING sealed_result AS "sealedResult"`,
      [id, organizationId, at],
    );
    return row;
  }

  /** The latest operation of the account with this hash of its request, created after `since`. */
  async findLatestLike(
    { organizationId, requestHash }: Pick<OperationRow, 'organizationId' | 'requestHash'>,
    since: Instant,
  ): Promise<OperationRow | undefined> {
    if (organizationId === null || requestHash === null) return undefined;
    const where = { organizationId, requestHash, createdAt: MoreThan(since) };
    return (
      (await this.dataSource.manager.findOne(OperationEntity, { where, order: { createdAt: 'DESC' } })) ?? undefined
    );
  }
}
