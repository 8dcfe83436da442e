import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { GatewayRow } from './gateway-row.js';

const COLUMNS = `id, organization_id AS "organizationId", type, name, config, secret_blob AS "secretBlob",
  secret_hint AS "secretHint", revision, status, created_by AS "createdBy",
  to_char(created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS "createdAt",
  to_char(updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS "updatedAt"`;

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

  async find(organizationId: string, id: string): Promise<GatewayRow | undefined> {
    const [row] = await this.dataSource.query<GatewayRow[]>(
      `SELECT ${COLUMNS} FROM provider_gateways WHERE organization_id = $1 AND id = $2`,
      [organizationId, id],
    );
    return row;
  }
}
