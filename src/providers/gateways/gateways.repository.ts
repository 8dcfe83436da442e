import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { isoTime } from '../../platform/database/utc-sql.js';
import type { GatewayChange, GatewayRow, NewGateway } from './gateway-row.js';

const COLUMNS = `id, organization_id AS "organizationId", type, name, config, secret_blob AS "secretBlob",
  secret_hint AS "secretHint", revision, status, created_by AS "createdBy",
  ${isoTime('created_at')} AS "createdAt",
  ${isoTime('updated_at')} AS "updatedAt"`;

/** The row and revision of a write; any revision when undefined. */
interface WriteTarget {
  readonly id: string;
  readonly organizationId: string;
  readonly revision: number | undefined;
}

/** The table provider_gateways. Instants are ISO-8601, UTC. */
@Injectable()
export class GatewaysRepository {
  constructor(private readonly dataSource: DataSource) {}

  /** Every gateway of an account, oldest first. */
  list(organizationId: string): Promise<GatewayRow[]> {
    return this.dataSource.query<GatewayRow[]>(
      `SELECT ${COLUMNS} FROM provider_gateways WHERE organization_id = $1 ORDER BY created_at, id`,
      [organizationId],
    );
  }

  /** The number of gateways of an account, including revoked ones. */
  async countOf(tx: EntityManager, organizationId: string): Promise<number> {
    const sql = 'SELECT count(*)::integer AS gateways FROM provider_gateways WHERE organization_id = $1';
    const [row] = await tx.query<{ gateways: number }[]>(sql, [organizationId]);
    return row?.gateways ?? 0;
  }

  async find(organizationId: string, id: string): Promise<GatewayRow | undefined> {
    const [row] = await this.dataSource.query<GatewayRow[]>(
      `SELECT ${COLUMNS} FROM provider_gateways WHERE organization_id = $1 AND id = $2`,
      [organizationId, id],
    );
    return row;
  }

  /** Stores revision 1, active. */
  async insert(tx: EntityManager, gateway: NewGateway, at: string): Promise<GatewayRow> {
    const { id, organizationId, type, name, config, secretBlob, secretHint, createdBy } = gateway;
    await tx.query(
      `INSERT INTO provider_gateways (id, organization_id, type, name, config, secret_blob, secret_hint, created_by,
                                      revision, status, created_at, updated_at)
       VALUES ($1, $2, $3, $4, $5, $6, $7, $8, 1, 'active', $9, $9)`,
      [id, organizationId, type, name, JSON.stringify(config), secretBlob, secretHint, createdBy, at],
    );
    return { ...gateway, revision: 1, status: 'active', createdAt: at, updatedAt: at };
  }

  /** Writes the given members in one statement; `undefined` when the row does not exist at that revision. */
  async change(
    tx: EntityManager,
    { id, organizationId, revision }: WriteTarget,
    { name, secretBlob, secretHint }: GatewayChange,
    at: string,
  ): Promise<GatewayRow | undefined> {
    const [rows] = await tx.query<[GatewayRow[], number]>(
      `UPDATE provider_gateways
          SET name = coalesce($4, name), secret_blob = coalesce($5, secret_blob),
              secret_hint = coalesce($6, secret_hint), revision = revision + 1, updated_at = $7
        WHERE organization_id = $1 AND id = $2 AND revision = coalesce($3, revision)
       RETURNING ${COLUMNS}`,
      [organizationId, id, revision, name, secretBlob, secretHint, at],
    );
    return rows[0];
  }

  /**
   * Deletes the row with its token. A provider that references it violates `providers_gateway_fkey`.
   *
   * @returns `undefined` when there is no such row.
   */
  async delete(
    tx: EntityManager,
    organizationId: string,
    id: string,
  ): Promise<Pick<GatewayRow, 'id' | 'name'> | undefined> {
    const [deleted] = await tx.query<[Pick<GatewayRow, 'id' | 'name'>[], number]>(
      'DELETE FROM provider_gateways WHERE organization_id = $1 AND id = $2 RETURNING id, name',
      [organizationId, id],
    );
    return deleted[0];
  }
}
