import type { EntityManager } from 'typeorm';
import type { SecretRows, StoredSecret } from '../platform/vault/resealing.js';
import type { VaultContext } from '../platform/vault/sealed-blob.rules.js';
import type { ProviderRow } from './provider.entity.js';
import type { ProviderGatewayRow } from './provider-gateways/provider-gateway.entity.js';
import { gatewaySecretContext, providerSecretContext } from './sealed-credential.rules.js';

type KeyRow = Pick<ProviderRow, 'organizationId' | 'id' | 'type' | 'baseUrl'> & { readonly blob: string };
type TokenRow = Pick<ProviderGatewayRow, 'organizationId' | 'id' | 'type' | 'config'> & { readonly blob: string };

/** Every table with secrets that the vault has sealed. */
export function storedSecrets(connection: EntityManager): readonly SecretRows[] {
  return [providerKeys(connection), gatewayTokens(connection)];
}

/** The sealed keys of providers. */
export function providerKeys(connection: EntityManager): SecretRows {
  return secretRows<KeyRow>(connection, 'providers', 'type, base_url AS "baseUrl"', providerSecretContext);
}

/** The sealed tokens of provider gateways. */
export function gatewayTokens(connection: EntityManager): SecretRows {
  return secretRows<TokenRow>(connection, 'provider_gateways', 'type, config', gatewaySecretContext);
}

/** Resealing keeps the row's revision: clients see no change. */
function secretRows<Row extends Omit<StoredSecret, 'context'>>(
  connection: EntityManager,
  table: 'providers' | 'provider_gateways',
  columns: string,
  contextOf: (row: Row) => VaultContext,
): SecretRows {
  return {
    async page(afterId: string, limit: number): Promise<StoredSecret[]> {
      const rows = await connection.query<Row[]>(
        `SELECT organization_id AS "organizationId", id, ${columns}, secret_blob AS blob
           FROM ${table} WHERE secret_blob IS NOT NULL AND id > $1 ORDER BY id LIMIT $2`,
        [afterId, limit],
      );
      return rows.map((row) => ({ ...row, context: contextOf(row) }));
    },
    async replace({ organizationId, id, blob }: StoredSecret, replacement: string): Promise<boolean> {
      const [, count]: [unknown[], number] = await connection.query(
        `UPDATE ${table} SET secret_blob = $4 WHERE organization_id = $1 AND id = $2 AND secret_blob = $3`,
        [organizationId, id, blob, replacement],
      );
      return count > 0;
    },
  };
}
