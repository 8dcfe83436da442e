import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { isAtLeast } from '../../accounts/access/admin-access.rules.js';
import type { AdminPrincipal } from '../../accounts/access/admin-principal.js';
import { Deployment } from '../../accounts/access/deployment.js';
import { ManagementKeysService } from '../../accounts/management-keys/management-keys.service.js';
import { IssuedAppKeyResponse } from '../../app-keys/dto/app-key.response.js';
import { Clock, instantOf } from '../../common/clock.js';
import { GatewayError } from '../../common/errors/gateway-error.js';
import { KeyedQueue } from '../../common/keyed-queue.js';
import { Secret } from '../../common/log/secret.js';
import { proofHash } from '../../common/proof-hash.rules.js';
import { AddressLimits } from '../../platform/address-limits/address-limits.service.js';
import { requirePending } from '../../sign-in/approvals/approval.rules.js';
import {
  approvalUrl,
  browserProofOf,
  MAX_PENDING,
  noSuchOperation,
  OPERATION_KEPT_MS,
  type OperationPayload,
  PENDING_MS,
  SEALED_MS,
} from './operation.rules.js';
import { OperationSeals } from './operation-seals.js';
import { type NewOperation, type OperationRow, OperationsRepository } from './operations.repository.js';
import type { Ending, Outcome } from './resource-operations.js';

/** Signals that another request of the same token was first; rolls the transaction back. */
export class TokenTaken extends Error {}

/** What identifies an operation and its request. */
type IdentifiedRequest = Pick<OperationRow, 'id' | 'kind' | 'requestHash' | 'actionSource' | 'address'> & {
  readonly payload: OperationPayload;
};

/**
 * Stores operations of an account: pending ones within their limits, and the end of each in the transaction of its
 * change.
 *
 * Source: docs/reference/management-api.md#terminal-operations.
 */
@Injectable()
export class PendingOperations {
  readonly #turns = new KeyedQueue();

  constructor(
    private readonly dataSource: DataSource,
    private readonly operations: OperationsRepository,
    private readonly keys: ManagementKeysService,
    private readonly seals: OperationSeals,
    private readonly deployment: Deployment,
    private readonly limits: AddressLimits,
    private readonly clock: Clock,
  ) {}

  /** A pending operation of the caller, not yet stored; a key in the payload is left out. */
  new(
    { organizationId, identityId, credentialId }: AdminPrincipal,
    { payload, ...identified }: IdentifiedRequest,
  ): NewOperation {
    const now = this.clock.now();
    return {
      ...identified,
      ...{ state: 'pending', organizationId, identityId, credentialId },
      payload: withoutSecrets(payload),
      createdAt: now,
      expiresAt: instantOf(now.getTime() + PENDING_MS),
      keptUntil: instantOf(now.getTime() + OPERATION_KEPT_MS),
    };
  }

  /**
   * Stores a step that a person completes in a browser.
   *
   * @returns the link to its approval page, with the proof.
   * @throws rate_limited too many steps in a minute, or too many pending operations; TokenTaken.
   */
  async openStep(operation: NewOperation, token: Secret): Promise<string> {
    const caller = { subject: operation.organizationId ?? '' };
    await this.limits.requireRoom('operation', caller);
    const deployment = await this.deployment.facts();
    const proof = browserProofOf(token, deployment.id);
    await this.inTurn(operation, async (tx) => {
      await this.insertPending(tx, { ...operation, proofHash: proofHash(proof) });
      await this.limits.admit('operation', caller);
    });
    return approvalUrl(deployment, operation.id, token);
  }

  /**
   * Stores an operation that its sender runs by a second request.
   *
   * @throws rate_limited too many pending operations.
   */
  async reserve(operation: NewOperation): Promise<void> {
    await this.inTurn(operation, (tx) => this.insertPending(tx, operation));
  }

  /** In a transaction; those of one account wait for each other without a connection. */
  private inTurn<T>({ organizationId }: NewOperation, work: (tx: EntityManager) => Promise<T>): Promise<T> {
    return this.#turns.take(organizationId ?? '', () => this.dataSource.transaction(work));
  }

  private async insertPending(tx: EntityManager, operation: NewOperation): Promise<void> {
    const { organizationId = null, credentialId = null, createdAt } = operation;
    if (organizationId === null || credentialId === null) throw new Error('A pending operation has no sender.');
    await this.operations.lockAddress(tx, organizationId);
    if (!(await this.operations.insert(tx, operation))) throw new TokenTaken();
    const ofAccount = await this.operations.countPending(tx, { organizationId }, createdAt);
    const ofSender = await this.operations.countPending(tx, { credentialId }, createdAt);
    if (ofAccount > MAX_PENDING || ofSender > MAX_PENDING) throw tooManyPending();
  }

  /** Runs the statements of a change in the transaction that stores the completed operation. @throws TokenTaken */
  atOnce(operation: NewOperation): Ending {
    return (toOutcome) => (statements) =>
      this.dataSource.transaction(async (tx) => {
        const changed = await statements(tx);
        if (changed === undefined) return changed;
        const ended = { ...operation, ...this.ended(operation.id, toOutcome(changed)) };
        if (!(await this.operations.insert(tx, ended))) throw new TokenTaken();
        return changed;
      });
  }

  /**
   * Runs the statements of a change in the transaction that completes the pending operation, as its sender.
   *
   * @throws conflict as `requireSender`; operation_denied, operation_expired, already_completed.
   */
  completing({ id }: OperationRow): Ending {
    return (toOutcome) => (statements) =>
      this.dataSource.transaction(async (tx) => {
        const locked = await this.operations.lock(tx, id);
        if (locked === undefined) throw noSuchOperation();
        requirePending(locked, this.clock.nowMs());
        await this.lockSender(tx, locked);
        const changed = await statements(tx);
        if (changed !== undefined) await this.operations.update(tx, id, this.ended(id, toOutcome(changed)));
        return changed;
      });
  }

  /**
   * The credential that sent the operation, with its current role.
   *
   * @throws conflict the credential or the role is gone.
   */
  requireSender(operation: OperationRow): Promise<AdminPrincipal> {
    return this.dataSource.transaction((tx) => this.lockSender(tx, operation));
  }

  /** Name of the credential that sent the operation; null when it is no longer stored. */
  async senderName({ organizationId, credentialId }: OperationRow): Promise<string | null> {
    if (organizationId === null || credentialId === null) return null;
    return (await this.keys.find(organizationId, credentialId))?.name ?? null;
  }

  private async lockSender(tx: EntityManager, { credentialId, actionSource }: OperationRow): Promise<AdminPrincipal> {
    const admin = credentialId === null ? undefined : await this.keys.lockPrincipal(tx, credentialId, actionSource);
    if (admin === undefined || admin.grant !== 'manage' || !isAtLeast(admin.role, 'admin')) {
      throw new GatewayError('conflict', {
        message: 'The credential that requested this is no longer allowed to do it; send the request with another one.',
        reason: 'operation_withdrawn',
      });
    }
    return admin;
  }

  private ended(
    id: string,
    { result, issued }: Outcome,
  ): Pick<OperationRow, 'state' | 'result' | 'failure' | 'sealedResult' | 'sealedUntil'> {
    const completed = { state: 'completed', failure: null } as const;
    if (issued === undefined) return { ...completed, result, sealedResult: null, sealedUntil: null };
    const shown = IssuedAppKeyResponse.from(issued);
    const { key: _key, ...facts } = shown;
    return {
      ...{ ...completed, result: { ...result, api_key: facts } },
      sealedResult: this.seals.seal('result', id, new Secret(JSON.stringify(shown))),
      sealedUntil: instantOf(this.clock.nowMs() + SEALED_MS),
    };
  }
}

/** The payload as stored, without a key that was sent in it. */
function withoutSecrets(payload: OperationPayload): OperationPayload {
  const { secret: _secret, token: _token, ...rest } = payload as { secret?: unknown; token?: unknown };
  return rest;
}

function tooManyPending(): GatewayError {
  return new GatewayError('rate_limited', {
    message: `Too many pending operations: at most ${MAX_PENDING} per account or credential.`,
    reason: 'too_many_pending_operations',
    retryAfterSeconds: 60,
  });
}
