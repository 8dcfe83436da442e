import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { AuditActor } from '../../accounts/access/admin-principal.js';
import { AuditTrail } from '../../accounts/audit/audit-trail.js';
import { ConsoleOrigin } from '../../accounts/csrf/csrf-origins.js';
import { Clock, type Instant } from '../../common/clock.js';
import { GatewayError, invalidRequest } from '../../common/errors/gateway-error.js';
import { stateAt } from '../../sign-in/approvals/approval.rules.js';
import { type OperationFailure, type OperationResult, revealPath } from '../operations/operation.rules.js';
import { OperationSeals } from '../operations/operation-seals.js';
import { type OperationRow, OperationsRepository } from '../operations/operations.repository.js';
import { type ChangeKind, isChangeKind } from '../operations/resource-operations.js';
import { keyFactsOf, keyStateAt, shownStateAt } from './change-operation.rules.js';

/** An operation of one of the kinds that change an account. */
export type ChangeOperation = OperationRow & { readonly kind: ChangeKind };

/** An operation as the members of its account see it. */
export interface ChangeStanding {
  readonly id: string;
  readonly kind: ChangeKind;
  readonly state: 'pending' | 'completed' | 'expired';
  readonly denied?: true;
  readonly createdAt: Instant;
  readonly expiresAt: Instant;
  readonly result?: OperationResult;
  readonly failure?: OperationFailure;
  /** The page that shows the key, while that is possible. */
  readonly revealUrl?: string;
}

/** The result of an operation with the key that it issued. */
export interface RevealedOperation {
  readonly id: string;
  readonly kind: ChangeKind;
  readonly result: OperationResult;
}

/**
 * Operations of terminals and AI clients, as the members of the account see them.
 *
 * Source: docs/reference/management-api.md#change-operations.
 */
@Injectable()
export class ChangeOperations {
  constructor(
    private readonly dataSource: DataSource,
    private readonly operations: OperationsRepository,
    private readonly seals: OperationSeals,
    private readonly trail: AuditTrail,
    private readonly origin: ConsoleOrigin,
    private readonly clock: Clock,
  ) {}

  /** @throws operation_not_found no such operation in the account, whether or not another has it. */
  async requireOwn(organizationId: string, id: string): Promise<ChangeOperation> {
    const operation = await this.operations.find(id);
    if (operation?.organizationId === organizationId && isChange(operation)) return operation;
    throw new GatewayError('operation_not_found');
  }

  /** @throws operation_not_found as `requireOwn`. */
  async read({ organizationId }: Pick<AuditActor, 'organizationId'>, id: string): Promise<ChangeStanding> {
    const operation = await this.requireOwn(organizationId, id);
    const { kind, createdAt, expiresAt, result, failure } = operation;
    const nowMs = this.clock.nowMs();
    return {
      ...{ id, kind, ...shownStateAt(operation, nowMs), createdAt, expiresAt },
      ...(result !== null && { result }),
      ...(failure !== null && { failure }),
      ...(keyStateAt(operation, nowMs) === 'held' && { revealUrl: `${this.origin.url}${revealPath(id)}` }),
    };
  }

  /**
   * Shows the key that an operation issued, once, to an owner or admin in the console.
   *
   * @param who the person, in the account of the operation.
   * @throws operation_not_found; operation_pending, operation_denied; operation_expired, also when the key was not
   * revealed in time; already_revealed; invalid_request the operation issued no key for the console.
   */
  async reveal(who: AuditActor, id: string): Promise<RevealedOperation> {
    const operation = await this.requireOwn(who.organizationId, id);
    const { kind, result } = operation;
    this.requireHeld(operation);
    const shown = await this.dataSource.transaction(async (tx) => {
      const taken = await this.operations.takeKey(tx, operation, this.clock.now());
      if (taken === undefined) return undefined;
      const opened = this.seals.open('result', id, taken.sealedResult);
      if (opened === undefined) throw new GatewayError('operation_expired');
      await this.operations.update(tx, id, { sealedResult: null });
      const { id: targetId = '', appId } = keyFactsOf(result) ?? {};
      await this.trail.record(tx, who, { action: 'app_key.revealed', targetType: 'app_key', targetId, appId });
      return opened;
    });
    if (shown === undefined) {
      this.requireHeld(await this.requireOwn(who.organizationId, id));
      throw new GatewayError('operation_expired');
    }
    return { id, kind, result: { ...result, api_key: JSON.parse(shown.reveal()) } };
  }

  /** @throws as `reveal`, unless the key can be revealed. */
  private requireHeld(operation: ChangeOperation): void {
    const nowMs = this.clock.nowMs();
    const state = stateAt(operation, nowMs);
    if (state === 'pending') throw new GatewayError('operation_pending', { message: 'The operation has not run yet.' });
    if (state === 'denied') throw new GatewayError('operation_denied');
    const key = keyStateAt(operation, nowMs);
    if (state === 'expired' || key === 'lapsed') throw new GatewayError('operation_expired');
    if (key === 'revealed') throw new GatewayError('already_revealed');
    if (key === 'none') throw invalidRequest('id', 'is an operation without a key for the console', 'no_key');
  }
}

function isChange(operation: OperationRow): operation is ChangeOperation {
  return isChangeKind(operation.kind);
}
