import { Injectable } from '@nestjs/common';
import type { AdminPrincipal } from '../../accounts/access/admin-principal.js';
import { Clock, type Instant, instantOf } from '../../common/clock.js';
import { GatewayError } from '../../common/errors/gateway-error.js';
import { Access } from '../../common/http/access.js';
import { Ids } from '../../common/ids.js';
import { Secret } from '../../common/log/secret.js';
import { requirePending } from '../../sign-in/approvals/approval.rules.js';
import { operationIdOf } from '../operations/operation.rules.js';
import { type NewOperation, type OperationRow, OperationsRepository } from '../operations/operations.repository.js';
import { PendingOperations } from '../operations/pending-operations.service.js';
import { ResourceOperations } from '../operations/resource-operations.js';
import { TerminalOperations } from '../operations/terminal-operations.service.js';
import { type ChangeRequest, changeHashOf, NOTICE_MS } from './change-operation.rules.js';
import { ChangeOperations, type ChangeStanding } from './change-operations.service.js';

const TOKEN_BYTES = 32;

/** A change that a second request runs. */
export interface ReservedChange {
  readonly id: string;
  readonly expiresAt: Instant;
}

/** A change that a person completes in a browser. */
export interface OpenedChange extends ReservedChange {
  readonly url: string;
  /** The latest identical request of the hour before. */
  readonly earlier?: OperationRow;
}

/** A change that is run by two requests: the first reserves, the second names the reservation. */
export interface TwoStepRequest extends ChangeRequest {
  readonly kind: 'app.add' | 'app.key.add';
}

/**
 * Changes that AI clients request. No route leads here; the declared access is that of the tools. An operation has a
 * token like that of a terminal, but no client gets it: it cannot be polled, and the key it issues is only revealed.
 *
 * Source: docs/reference/management-api.md#change-operations.
 */
@Injectable()
export class ChangeRequests {
  constructor(
    private readonly operations: OperationsRepository,
    private readonly pending: PendingOperations,
    private readonly changes: ChangeOperations,
    private readonly resources: ResourceOperations,
    private readonly terminals: TerminalOperations,
    private readonly clock: Clock,
    private readonly ids: Ids,
  ) {}

  /**
   * Validates a change and reserves its operation, which `run` completes within 15 minutes.
   *
   * @throws invalid_request, app_not_found as the management route; rate_limited too many pending operations.
   */
  @Access({ scheme: 'management', needs: 'write' })
  async reserve(admin: AdminPrincipal, request: TwoStepRequest): Promise<ReservedChange> {
    await this.requireValid(admin, request);
    const { operation } = this.newOperation(admin, request);
    await this.pending.reserve(operation);
    return operation;
  }

  /**
   * Runs a reserved change, once. A repeated call returns the current state.
   *
   * @param id of the reservation.
   * @throws operation_not_found; operation_mismatch it was reserved by somebody else or for another request;
   * operation_expired; conflict its sender may not do it any more; and as the management route.
   */
  @Access({ scheme: 'management', needs: 'write' })
  async run(admin: AdminPrincipal, request: TwoStepRequest, id: string): Promise<ChangeStanding> {
    const operation = await this.changes.requireOwn(admin.organizationId, id);
    if (operation.requestHash !== changeHashOf(admin, request)) throw new GatewayError('operation_mismatch');
    if (operation.state !== 'completed') {
      requirePending(operation, this.clock.nowMs());
      const prepared = await this.resources.prepare(request.kind, admin, request.payload, { isStep: true });
      await prepared.run(undefined, this.pending.completing(operation)).catch(unlessCompleted);
    }
    return this.changes.read(admin, id);
  }

  /**
   * Opens the browser step of a change.
   *
   * @throws invalid_request, not_found, provider_not_found as the management route; conflict a person owns the account
   * that is to be claimed; rate_limited.
   */
  @Access({ scheme: 'management', needs: 'write' })
  async open(admin: AdminPrincipal, request: ChangeRequest): Promise<OpenedChange> {
    await this.requireValid(admin, request);
    const { operation, token } = this.newOperation(admin, request);
    const requestHash = operation.requestHash ?? null;
    const since = instantOf(operation.createdAt.getTime() - NOTICE_MS);
    const earlier = await this.operations.findLatestLike({ ...admin, requestHash }, since);
    const url = await this.pending.openStep(operation, token);
    return { id: operation.id, expiresAt: operation.expiresAt, url, ...(earlier && { earlier }) };
  }

  /** @throws as the management route, except for races and for what a person types. */
  private async requireValid(admin: AdminPrincipal, { kind, payload }: ChangeRequest): Promise<void> {
    if (kind === 'claim') return this.terminals.requireUnclaimed(admin);
    const prepared = await this.resources.prepare(kind, admin, payload, { isStep: true });
    await prepared.validate?.();
  }

  private newOperation(
    admin: AdminPrincipal,
    request: ChangeRequest,
  ): { readonly operation: NewOperation; readonly token: Secret } {
    const token = new Secret(this.ids.bytes(TOKEN_BYTES).toString('base64url'));
    const requestHash = changeHashOf(admin, request);
    const identified = { id: operationIdOf(token), requestHash, actionSource: 'mcp' } as const;
    return { operation: this.pending.new(admin, { ...identified, ...request }), token };
  }
}

/** Of several concurrent requests, one runs the change; the others return its outcome. */
function unlessCompleted(error: unknown): void {
  if (!(error instanceof GatewayError) || error.code !== 'already_completed') throw error;
}
