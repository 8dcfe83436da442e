import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager, IsNull } from 'typeorm';
import type { Instant } from '../common/clock.js';
import {
  type NewProvider,
  ProviderEntity,
  type ProviderRow,
  type ProviderStatus,
  type ProviderWrite,
  type TestResult,
} from './provider.entity.js';
import type { ProviderGatewayUse } from './provider-gateways/provider-gateway.entity.js';

/** The identifying members of a deleted instance. */
export type DeletedProvider = Pick<ProviderRow, 'id' | 'slug' | 'type'>;

/** The row and revision of a write; any revision when undefined. */
interface WriteTarget {
  readonly id: string;
  readonly organizationId: string;
  readonly revision: number | undefined;
}

const UNTESTED = { testedAt: null, testResult: null } as const;

/** The table providers. */
@Injectable()
export class ProvidersRepository {
  constructor(private readonly dataSource: DataSource) {}

  /** Every instance of an account, oldest first. */
  list(organizationId: string): Promise<ProviderRow[]> {
    return this.dataSource.manager.find(ProviderEntity, {
      where: { organizationId },
      order: { createdAt: 'ASC', id: 'ASC' },
    });
  }

  /** The number of instances of an account, including disabled ones. */
  countOf(tx: EntityManager, organizationId: string): Promise<number> {
    return tx.countBy(ProviderEntity, { organizationId });
  }

  async find(organizationId: string, id: string): Promise<ProviderRow | undefined> {
    return (await this.dataSource.manager.findOneBy(ProviderEntity, { organizationId, id })) ?? undefined;
  }

  /** An id comes before a slug of the same text. */
  async findByIdOrSlug(organizationId: string, name: string): Promise<ProviderRow | undefined> {
    const named = [
      { organizationId, id: name },
      { organizationId, slug: name },
    ];
    const rows = await this.dataSource.manager.findBy(ProviderEntity, named);
    return rows.find(({ id }) => id === name) ?? rows[0];
  }

  async findStatusBySlug(organizationId: string, slug: string): Promise<ProviderStatus | undefined> {
    return (await this.dataSource.manager.findOneBy(ProviderEntity, { organizationId, slug }))?.status;
  }

  /** Counts by gateway; unused gateways are absent. `disabled` counts every instance that is not active. */
  async useByGateway(organizationId: string): Promise<ReadonlyMap<string, ProviderGatewayUse>> {
    const rows = await this.dataSource.query<({ id: string } & ProviderGatewayUse)[]>(
      `SELECT provider_gateway_id AS id,
              (count(*) FILTER (WHERE status = 'active'))::integer AS active,
              (count(*) FILTER (WHERE status <> 'active'))::integer AS disabled
         FROM providers
        WHERE organization_id = $1 AND provider_gateway_id IS NOT NULL
        GROUP BY provider_gateway_id`,
      [organizationId],
    );
    return new Map(rows.map(({ id, active, disabled }) => [id, { active, disabled }]));
  }

  /** Stores revision 1. A taken slug violates `providers_slug_key`, a missing gateway `providers_gateway_fkey`. */
  async insert(tx: EntityManager, provider: NewProvider, at: Instant): Promise<ProviderRow> {
    const row: ProviderRow = { ...provider, ...UNTESTED, revision: 1, createdAt: at, updatedAt: at };
    await tx.insert(ProviderEntity, row);
    return row;
  }

  /** Writes the given members; `undefined` when the row does not exist at that revision, or `builtOn` has changed. */
  async change(
    tx: EntityManager,
    { id, organizationId, revision }: WriteTarget,
    { members, builtOn: { baseUrl, secretBlob } }: ProviderWrite,
    at: Instant,
  ): Promise<ProviderRow | undefined> {
    const where = {
      ...{ id, organizationId },
      ...(revision === undefined ? {} : { revision }),
      ...(baseUrl === undefined ? {} : { baseUrl: baseUrl ?? IsNull() }),
      ...(secretBlob === undefined ? {} : { secretBlob: secretBlob ?? IsNull() }),
    };
    const isOtherKey = members.secretBlob !== undefined;
    const next = { ...members, ...(isOtherKey && UNTESTED), revision: () => 'revision + 1', updatedAt: at };
    const { affected } = await tx.update(ProviderEntity, where, next);
    return affected === 1 ? tx.findOneByOrFail(ProviderEntity, { id, organizationId }) : undefined;
  }

  /** Locks the row until the transaction ends, so that its values are those before a change. */
  async lock(tx: EntityManager, organizationId: string, id: string): Promise<ProviderRow | undefined> {
    const lock = { mode: 'for_no_key_update' } as const;
    return (await tx.findOne(ProviderEntity, { where: { id, organizationId }, lock })) ?? undefined;
  }

  /**
   * Keeps the result of a test, unless the instance has another key meanwhile. This is not a change: the revision
   * stays.
   */
  async keepTest(
    { id, organizationId, secretBlob }: Pick<ProviderRow, 'id' | 'organizationId' | 'secretBlob'>,
    testResult: TestResult,
    testedAt: Instant,
  ): Promise<void> {
    const tested = { id, organizationId, secretBlob: secretBlob ?? IsNull() };
    await this.dataSource.manager.update(ProviderEntity, tested, { testResult, testedAt });
  }

  /** Forgets the tests of instances whose gateway has another token. */
  async forgetTestsThrough(tx: EntityManager, organizationId: string, providerGatewayId: string): Promise<void> {
    await tx.update(ProviderEntity, { organizationId, providerGatewayId }, UNTESTED);
  }

  /** Deletes the row with its key and prices. @returns `undefined` when there is no such row. */
  async delete(tx: EntityManager, organizationId: string, id: string): Promise<DeletedProvider | undefined> {
    const deleting = tx.createQueryBuilder().delete().from(ProviderEntity).where({ organizationId, id });
    const { raw }: { raw: DeletedProvider[] } = await deleting.returning('id, slug, type').execute();
    return raw[0];
  }
}
