import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import type { Instant } from '../../common/clock.js';
import {
  type NewProviderGateway,
  type ProviderGatewayChange,
  ProviderGatewayEntity,
  type ProviderGatewayRow,
} from './provider-gateway.entity.js';

/** The identifying members of a deleted gateway. */
export type DeletedProviderGateway = Pick<ProviderGatewayRow, 'id' | 'name'>;

/** The row and revision of a write; any revision when undefined. */
interface WriteTarget {
  readonly id: string;
  readonly organizationId: string;
  readonly revision: number | undefined;
}

/** The table provider_gateways. */
@Injectable()
export class ProviderGatewaysRepository {
  constructor(private readonly dataSource: DataSource) {}

  /** Every gateway of an account, oldest first. */
  list(organizationId: string): Promise<ProviderGatewayRow[]> {
    return this.dataSource.manager.find(ProviderGatewayEntity, {
      where: { organizationId },
      order: { createdAt: 'ASC', id: 'ASC' },
    });
  }

  /** The number of gateways of an account, including revoked ones. */
  countOf(tx: EntityManager, organizationId: string): Promise<number> {
    return tx.countBy(ProviderGatewayEntity, { organizationId });
  }

  async find(organizationId: string, id: string): Promise<ProviderGatewayRow | undefined> {
    return (await this.dataSource.manager.findOneBy(ProviderGatewayEntity, { organizationId, id })) ?? undefined;
  }

  /** Stores revision 1, active. */
  async insert(tx: EntityManager, gateway: NewProviderGateway, at: Instant): Promise<ProviderGatewayRow> {
    const row: ProviderGatewayRow = { ...gateway, revision: 1, status: 'active', createdAt: at, updatedAt: at };
    await tx.insert(ProviderGatewayEntity, row);
    return row;
  }

  /** Writes the given members; `undefined` when the row does not exist at that revision. */
  async change(
    tx: EntityManager,
    { id, organizationId, revision }: WriteTarget,
    change: ProviderGatewayChange,
    at: Instant,
  ): Promise<ProviderGatewayRow | undefined> {
    const where = { id, organizationId, ...(revision === undefined ? {} : { revision }) };
    const next = { ...change, revision: () => 'revision + 1', updatedAt: at };
    const { affected } = await tx.update(ProviderGatewayEntity, where, next);
    return affected === 1 ? tx.findOneByOrFail(ProviderGatewayEntity, { id, organizationId }) : undefined;
  }

  /**
   * Deletes the row with its token. A provider that references it violates `providers_gateway_fkey`.
   *
   * @returns `undefined` when there is no such row.
   */
  async delete(tx: EntityManager, organizationId: string, id: string): Promise<DeletedProviderGateway | undefined> {
    const deleting = tx.createQueryBuilder().delete().from(ProviderGatewayEntity).where({ organizationId, id });
    const { raw }: { raw: DeletedProviderGateway[] } = await deleting.returning('id, name').execute();
    return raw[0];
  }
}
