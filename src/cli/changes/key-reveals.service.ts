import { Injectable } from '@nestjs/common';
import { isAtLeast, requireUnexpired } from '../../accounts/access/admin-access.rules.js';
import { type PersonPrincipal, personActor } from '../../accounts/access/admin-principal.js';
import type { Organization } from '../../accounts/organizations/organizations.repository.js';
import { Organizations } from '../../accounts/organizations/organizations.service.js';
import { Clock } from '../../common/clock.js';
import { GatewayError } from '../../common/errors/gateway-error.js';
import { OperationsRepository } from '../operations/operations.repository.js';
import { PendingOperations } from '../operations/pending-operations.service.js';
import { type KeyState, keyStateAt } from './change-operation.rules.js';
import { type ChangeOperation, ChangeOperations, type RevealedOperation } from './change-operations.service.js';

/** The key of an operation as its page shows it before it is revealed. */
export interface KeyPreview {
  readonly operation: ChangeOperation;
  readonly account: Organization;
  /** Name of the credential of the client that asked for the key; null when it is no longer stored. */
  readonly requester: string | null;
  readonly key: KeyState;
}

/**
 * The page on which a person sees the key that an AI client had issued. The person acts in the account of the
 * operation, whichever of their accounts is the current one.
 *
 * @throws operation_not_found no such operation in any account of the person; forbidden they are neither owner nor admin
 * of it; account_expired.
 * Source: docs/reference/management-api.md#change-operations.
 */
@Injectable()
export class KeyReveals {
  constructor(
    private readonly operations: OperationsRepository,
    private readonly changes: ChangeOperations,
    private readonly organizations: Organizations,
    private readonly pending: PendingOperations,
    private readonly clock: Clock,
  ) {}

  async preview(person: PersonPrincipal, id: string): Promise<KeyPreview> {
    const account = await this.accountOf(person, id);
    const operation = await this.changes.requireOwn(account.id, id);
    const requester = await this.pending.senderName(operation);
    const key = keyStateAt(operation, this.clock.nowMs());
    return { operation, account, requester, key };
  }

  /** @throws as the class and `ChangeOperations.reveal`. */
  async reveal(person: PersonPrincipal, id: string): Promise<RevealedOperation> {
    const { id: organizationId } = await this.accountOf(person, id);
    return this.changes.reveal(personActor(organizationId, person), id);
  }

  private async accountOf(person: PersonPrincipal, id: string): Promise<Organization> {
    const memberships = await this.organizations.list(person);
    const operation = await this.operations.find(id);
    const membership = memberships.find(({ organization }) => organization.id === operation?.organizationId);
    if (membership === undefined) throw new GatewayError('operation_not_found');
    const { role, organization } = membership;
    if (!isAtLeast(role, 'admin')) throw new GatewayError('forbidden', { reason: 'role_read_only' });
    requireUnexpired(organization.expiresAt, this.clock.nowMs());
    return organization;
  }
}
