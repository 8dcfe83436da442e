import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import type { GatewayReferences, GatewayUse } from '../gateways/gateway-references.js';
import type { NewProvider, ProviderRow, ProviderState, ProviderStatus } from './provider-row.js';

const COLUMNS = `id, organization_id AS "organizationId", type, slug, name, secret_blob AS "secretBlob",
  secret_hint AS "secretHint", base_url AS "baseUrl",
  provider_gateway_id AS "providerGatewayId", gateway_route AS "gatewayRoute", pricing, revision, status,
  created_by AS "createdBy",
  to_char(created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS "createdAt"`;

/** What is known of an instance that is gone. */
export type DeletedProvider = Pick<ProviderRow, 'id' | 'slug' | 'type'>;

/** Which stored state a write builds on. */
interface WriteTarget {
  readonly id: string;
  readonly organizationId: string;
  readonly revision: number;
  /** May be sealed anew within a revision. */
  readonly secretBlob: string | null;
}

/** The table providers. Instants are ISO-8601, UTC. */
@Injectable()
export class ProvidersRepository implements GatewayReferences {
  constructor(private readonly dataSource: DataSource) {}

  /** Every instance of an account, oldest first. */
  list(organizationId: string): Promise<ProviderRow[]> {
    return this.dataSource.query<ProviderRow[]>(
      `SELECT ${COLUMNS} FROM providers WHERE organization_id = $1 ORDER BY created_at, id`,
      [organizationId],
    );
  }

  /** Of an account, disabled ones included. */
  async countOf(tx: EntityManager, organizationId: string): Promise<number> {
    const sql = 'SELECT count(*)::integer AS providers FROM providers WHERE organization_id = $1';
    const [row] = await tx.query<{ providers: number }[]>(sql, [organizationId]);
    return row?.providers ?? 0;
  }

  async find(organizationId: string, id: string): Promise<ProviderRow | undefined> {
    const [row] = await this.dataSource.query<ProviderRow[]>(
      `SELECT ${COLUMNS} FROM providers WHERE organization_id = $1 AND id = $2`,
      [organizationId, id],
    );
    return row;
  }

  async findStatusBySlug(organizationId: string, slug: string): Promise<ProviderStatus | undefined> {
    const [row] = await this.dataSource.query<{ status: ProviderStatus }[]>(
      'SELECT status FROM providers WHERE organization_id = $1 AND slug = $2',
      [organizationId, slug],
    );
    return row?.status;
  }

  /** For the room of gateways: `active` are the instances of that status, `disabled` all others. */
  async useByGateway(organizationId: string): Promise<ReadonlyMap<string, GatewayUse>> {
    const rows = await this.dataSource.query<({ id: string } & GatewayUse)[]>(
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

  /**
   * Stores revision 1. A slug that is taken violates `providers_slug_key`, a gateway that is gone breaks
   * `providers_gateway_fkey`.
   */
  async insert(tx: EntityManager, provider: NewProvider, at: string): Promise<ProviderRow> {
    const { id, organizationId, type, slug, providerGatewayId, createdBy } = provider;
    await tx.query(
      `INSERT INTO providers (id, organization_id, type, slug, name, secret_blob, secret_hint, base_url, gateway_route,
                              pricing, status, provider_gateway_id, created_by, revision, created_at, updated_at)
       VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, 1, $14, $14)`,
      [id, organizationId, type, slug, ...stateParameters(provider), providerGatewayId, createdBy, at],
    );
    return { ...provider, revision: 1, createdAt: at };
  }

  /** Writes a state over exactly the revision and the seal it was made from; `undefined` when either is gone. */
  async replaceIfRevision(
    tx: EntityManager,
    { id, organizationId, revision, secretBlob }: WriteTarget,
    state: ProviderState,
    at: string,
  ): Promise<ProviderRow | undefined> {
    const [rows] = await tx.query<[ProviderRow[], number]>(
      `UPDATE providers
          SET name = $4, secret_blob = $5, secret_hint = $6, base_url = $7, gateway_route = $8, pricing = $9,
              status = $10, revision = revision + 1, updated_at = $11
        WHERE organization_id = $1 AND id = $2 AND revision = $3 AND secret_blob IS NOT DISTINCT FROM $12
       RETURNING ${COLUMNS}`,
      [organizationId, id, revision, ...stateParameters(state), at, secretBlob],
    );
    return rows[0];
  }

  /** Removes the row with its key and prices. @returns `undefined` when there is no such row. */
  async delete(tx: EntityManager, organizationId: string, id: string): Promise<DeletedProvider | undefined> {
    const [deleted] = await tx.query<[DeletedProvider[], number]>(
      'DELETE FROM providers WHERE organization_id = $1 AND id = $2 RETURNING id, slug, type',
      [organizationId, id],
    );
    return deleted[0];
  }
}

function stateParameters(state: ProviderState): unknown[] {
  const pricing = state.pricing === null ? null : JSON.stringify(state.pricing);
  const gatewayRoute = state.gatewayRoute === null ? null : JSON.stringify(state.gatewayRoute);
  return [state.name, state.secretBlob, state.secretHint, state.baseUrl, gatewayRoute, pricing, state.status];
}
