import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import type { SecretRows, StoredSecret } from '../../platform/vault/resealing.js';
import type { GatewayRow } from '../gateway-row.js';
import { gatewaySecretContext } from '../gateway-secret.rules.js';

type TokenRow = Pick<GatewayRow, 'organizationId' | 'id' | 'type' | 'config'> & { readonly blob: string };

/** Tokens of upstream gateways, of whichever accounts. */
@Injectable()
export class GatewayTokenResealingRepository {
  rows(connection: EntityManager): SecretRows {
    return {
      async page(afterId: string, limit: number): Promise<StoredSecret[]> {
        const rows = await connection.query<TokenRow[]>(
          `SELECT organization_id AS "organizationId", id, type, config, secret_blob AS blob
             FROM provider_gateways WHERE id > $1 ORDER BY id LIMIT $2`,
          [afterId, limit],
        );
        return rows.map((row) => ({ ...row, context: gatewaySecretContext(row) }));
      },
      /** The revision stays: nothing changes that anybody reads or writes. */
      async replace({ organizationId, id, blob }: StoredSecret, replacement: string): Promise<boolean> {
        const [, count]: [unknown[], number] = await connection.query(
          'UPDATE provider_gateways SET secret_blob = $4 WHERE organization_id = $1 AND id = $2 AND secret_blob = $3',
          [organizationId, id, blob, replacement],
        );
        return count > 0;
      },
    };
  }
}
