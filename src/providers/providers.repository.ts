import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { isoTime } from '../platform/database/utc-sql.js';
import type { GatewayUse } from './gateways/gateway-row.js';
import type { NewProvider, ProviderRow, ProviderState, ProviderStatus, ProviderWrite } from './provider-row.js';

const COLUMNS = `id, organization_id AS "organizationId", type, slug, name, secret_blob AS "secretBlob",
  secret_hint AS "secretHint", base_url AS "baseUrl",
  provider_gateway_id AS "providerGatewayId", gateway_route AS "gatewayRoute", pricing, revision, status,
  created_by AS "createdBy",
  ${isoTime('created_at')} AS "createdAt"`;

/** The identifying members of a deleted instance. */
export type DeletedProvider = Pick<ProviderRow, 'id' | 'slug' | 'type'>;

/** The row and revision of a write; any revision when undefined. */
interface WriteTarget {
  readonly id: string;
  readonly organizationId: string;
  readonly revision: number | undefined;
}

const STATE_COLUMNS: Readonly<Record<keyof ProviderState, string>> = {
  name: 'name',
  secretBlob: 'secret_blob',
  secretHint: 'secret_hint',
  baseUrl: 'base_url',
  gatewayRoute: 'gateway_route',
  pricing: 'pricing',
  status: 'status',
};
const STATE_MEMBERS = ['name', 'secretBlob', 'secretHint', 'baseUrl', 'gatewayRoute', 'pricing', 'status'] as const;

/** The table providers. Instants are ISO-8601, UTC. */
@Injectable()
export class ProvidersRepository {
  constructor(private readonly dataSource: DataSource) {}

  /** Every instance of an account, oldest first. */
  list(organizationId: string): Promise<ProviderRow[]> {
    return this.dataSource.query<ProviderRow[]>(
      `SELECT ${COLUMNS} FROM providers WHERE organization_id = $1 ORDER BY created_at, id`,
      [organizationId],
    );
  }

  /** The number of instances of an account, including disabled ones. */
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

  /** Counts by gateway; unused gateways are absent. `disabled` counts every instance that is not active. */
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

  /** Stores revision 1. A taken slug violates `providers_slug_key`, a missing gateway `providers_gateway_fkey`. */
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

  /**
   * Writes the given members in one statement; `undefined` when the row does not exist at that revision, or `builtOn`
   * has changed.
   */
  async change(
    tx: EntityManager,
    { id, organizationId, revision }: WriteTarget,
    { members, builtOn }: ProviderWrite,
    at: string,
  ): Promise<ProviderRow | undefined> {
    const parameters: unknown[] = [organizationId, id, revision, at];
    const sets = comparisons(members, '=', parameters).map((set) => `${set}, `);
    const conditions = comparisons(builtOn, 'IS NOT DISTINCT FROM', parameters).map((condition) => ` AND ${condition}`);
    const [rows] = await tx.query<[ProviderRow[], number]>(
      `UPDATE providers SET ${sets.join('')}revision = revision + 1, updated_at = $4
        WHERE organization_id = $1 AND id = $2 AND revision = coalesce($3, revision)${conditions.join('')}
       RETURNING ${COLUMNS}`,
      parameters,
    );
    return rows[0];
  }

  /** Deletes the row with its key and prices. @returns `undefined` when there is no such row. */
  async delete(tx: EntityManager, organizationId: string, id: string): Promise<DeletedProvider | undefined> {
    const [deleted] = await tx.query<[DeletedProvider[], number]>(
      'DELETE FROM providers WHERE organization_id = $1 AND id = $2 RETURNING id, slug, type',
      [organizationId, id],
    );
    return deleted[0];
  }
}

function stateParameters(state: ProviderState): unknown[] {
  return STATE_MEMBERS.map((member) => parameterOf(state[member]));
}

/** One comparison per given member; appends its value to the parameters. */
function comparisons(state: Partial<ProviderState>, operator: string, parameters: unknown[]): string[] {
  return STATE_MEMBERS.filter((member) => state[member] !== undefined).map(
    (member) => `${STATE_COLUMNS[member]} ${operator} $${parameters.push(parameterOf(state[member]))}`,
  );
}

function parameterOf(value: ProviderState[keyof ProviderState] | undefined): string | null {
  return value && typeof value === 'object' ? JSON.stringify(value) : (value ?? null);
}
