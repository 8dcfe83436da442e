import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import type { SecretRows, StoredSecret } from '../../platform/vault/resealing.js';
import { secretContext } from '../drafts/provider-secret.rules.js';
import type { ProviderRow } from '../provider-row.js';

type KeyRow = Pick<ProviderRow, 'organizationId' | 'id' | 'type' | 'baseUrl'> & { readonly blob: string };

/** Keys of provider instances, of whichever accounts. */
@Injectable()
export class ProviderKeyResealingRepository {
  rows(connection: EntityManager): SecretRows {
    return {
      async page(afterId: string, limit: number): Promise<StoredSecret[]> {
        const rows = await connection.query<KeyRow[]>(
          `SELECT organization_id AS "organizationId", id, type, base_url AS "baseUrl", secret_blob AS blob
             FROM providers WHERE secret_blob IS NOT NULL AND id > $1 ORDER BY id LIMIT $2`,
          [afterId, limit],
        );
        return rows.map((row) => ({ ...row, context: secretContext(row) }));
      },
      /** The revision stays: nothing changes that anybody reads or writes. */
      async replace({ organizationId, id, blob }: StoredSecret, replacement: string): Promise<boolean> {
        const [, count]: [unknown[], number] = await connection.query(
          'UPDATE providers SET secret_blob = $4 WHERE organization_id = $1 AND id = $2 AND secret_blob = $3',
          [organizationId, id, blob, replacement],
        );
        return count > 0;
      },
    };
  }
}
