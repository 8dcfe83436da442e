import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { newServiceActor } from '../../accounts/access/admin-principal.js';
import { Deployment } from '../../accounts/access/deployment.js';
import { ManagementKeysService } from '../../accounts/management-keys/management-keys.service.js';
import { Organizations } from '../../accounts/organizations/organizations.service.js';
import { UnclaimedOrganizations } from '../../accounts/organizations/unclaimed-organizations.service.js';
import { Clock, instantOf } from '../../common/clock.js';
import { GatewayError } from '../../common/errors/gateway-error.js';
import { Secret } from '../../common/log/secret.js';
import { BOOTSTRAP_KEPT_MS, operationIdOf, PENDING_MS, SEALED_MS, tokenOfAnotherOperation } from './operation.rules.js';
import { OperationSeals } from './operation-seals.js';
import { type OperationRow, OperationsRepository } from './operations.repository.js';
import type { OperationStanding } from './operations.service.js';

const SERVICE_NAME = 'CLI service';
const KEY_NAME = 'CLI';
const ACTION_SOURCE = 'cli';

/** A bootstrap with the key in its response. */
interface Opened {
  readonly operation: OperationRow;
  readonly key: Secret;
}

/**
 * Opens the first account of an empty deployment for a terminal, owned by a service identity until a person claims it.
 *
 * Source: docs/reference/management-api.md#terminal-bootstrap.
 */
@Injectable()
export class CliBootstrap {
  constructor(
    private readonly dataSource: DataSource,
    private readonly operations: OperationsRepository,
    private readonly organizations: Organizations,
    private readonly unclaimed: UnclaimedOrganizations,
    private readonly keys: ManagementKeysService,
    private readonly seals: OperationSeals,
    private readonly deployment: Deployment,
    private readonly clock: Clock,
  ) {}

  /**
   * Opens the account and issues its key, in one transaction. The same token shows the same key for 15 minutes; after
   * that a new key replaces it, so that a terminal that lost the answer recovers.
   *
   * @throws conflict the deployment has an account, or the token opened another kind of operation; forbidden the
   * account is claimed; rate_limited as `UnclaimedOrganizations.openFirst`.
   */
  async open(token: Secret, address: string): Promise<OperationStanding> {
    const id = operationIdOf(token);
    const deployment = await this.deployment.facts();
    const { operation, key } = await this.dataSource.transaction(async (tx) => {
      const known = await this.operations.lock(tx, id);
      return known === undefined ? this.create(tx, id, address) : this.again(tx, known);
    });
    const accountId = operation.organizationId ?? '';
    const account = await this.organizations.read(accountId);
    const result = { credential: { token: key.reveal() }, unclaimedAccess: null, accountId };
    const { expiresAt } = operation;
    return { id, kind: 'bootstrap', state: 'completed', expiresAt, deployment, result, account };
  }

  private async create(tx: EntityManager, id: string, address: string): Promise<Opened> {
    const first = { serviceName: SERVICE_NAME, actionSource: ACTION_SOURCE, address } as const;
    const opened = await this.unclaimed.openFirst(tx, first);
    if (opened === undefined) {
      // The winner of a race for the same token is visible only now.
      const winner = await this.operations.lock(tx, id);
      if (winner !== undefined) return this.again(tx, winner);
      throw new GatewayError('conflict', {
        message: 'This deployment already has an account; log in instead.',
        reason: 'account_exists',
      });
    }
    const { organizationId, serviceId: identityId } = opened;
    const now = this.clock.now();
    await this.operations.insert(tx, {
      ...{ id, kind: 'bootstrap', state: 'completed', organizationId, identityId, createdAt: now },
      expiresAt: instantOf(now.getTime() + PENDING_MS),
      keptUntil: instantOf(now.getTime() + BOOTSTRAP_KEPT_MS),
    });
    return this.issue(tx, { id, organizationId, identityId });
  }

  private async again(tx: EntityManager, operation: OperationRow): Promise<Opened> {
    const { id, kind, organizationId, identityId, credentialId, sealedResult, sealedUntil } = operation;
    if (kind !== 'bootstrap' || organizationId === null || identityId === null) {
      throw tokenOfAnotherOperation();
    }
    if (await this.unclaimed.isClaimed(organizationId, tx)) {
      throw new GatewayError('forbidden', {
        message: 'A person owns this account now; log in instead.',
        reason: 'bootstrap_retired',
      });
    }
    const isShown = sealedResult !== null && sealedUntil !== null && sealedUntil > this.clock.now();
    const key = isShown ? this.seals.open('result', id, sealedResult) : undefined;
    if (key !== undefined) return { operation, key };
    if (credentialId !== null) await this.keys.withdraw(tx, { organizationId, id: credentialId });
    return this.issue(tx, { id, organizationId, identityId });
  }

  private async issue(
    tx: EntityManager,
    {
      id,
      organizationId,
      identityId,
    }: { readonly id: string; readonly organizationId: string; readonly identityId: string },
  ): Promise<Opened> {
    const terms = { organizationId, identityId, name: KEY_NAME, grant: 'manage', source: 'bootstrap' } as const;
    const by = newServiceActor(organizationId, identityId, ACTION_SOURCE);
    const { id: credentialId, plaintext } = await this.keys.mint(tx, terms, by);
    await this.operations.update(tx, id, {
      credentialId,
      sealedResult: this.seals.seal('result', id, plaintext),
      sealedUntil: instantOf(this.clock.nowMs() + SEALED_MS),
    });
    const operation = await this.operations.lock(tx, id);
    if (operation === undefined) throw new Error('A bootstrap is not stored.');
    return { operation, key: plaintext };
  }
}
