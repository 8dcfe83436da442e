import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { resealOldSecrets, type SecretRows, type StoredSecret } from '../platform/vault/resealing.js';
import type { VaultContext } from '../platform/vault/sealed-blob.rules.js';
import { Vault } from '../platform/vault/vault.js';
import type { ProviderRow } from '../providers/provider.entity.js';
import type { ProviderGatewayRow } from '../providers/provider-gateways/provider-gateway.entity.js';
import { gatewaySecretContext, providerSecretContext } from '../providers/sealed-credential.rules.js';
import type { RetentionStep } from './retention-step.js';

type KeyRow = Pick<ProviderRow, 'organizationId' | 'id' | 'type' | 'baseUrl'> & { readonly blob: string };
type TokenRow = Pick<ProviderGatewayRow, 'organizationId' | 'id' | 'type' | 'config'> & { readonly blob: string };

/** Reseals provider keys and gateway tokens of all accounts with the current version of the vault key. */
@Injectable()
export class SecretResealing {
  readonly steps: readonly RetentionStep[] = [
    {
      done: 'provider_keys_resealed',
      failed: 'provider_keys_reseal_failed',
      run: ({ connection, signal }) => resealOldSecrets(this.vault, providerKeys(connection), signal),
    },
    {
      done: 'gateway_tokens_resealed',
      failed: 'gateway_tokens_reseal_failed',
      run: ({ connection, signal }) => resealOldSecrets(this.vault, gatewayTokens(connection), signal),
    },
  ];

  constructor(private readonly vault: Vault) {}
}

function providerKeys(connection: EntityManager): SecretRows {
  return secretRows<KeyRow>(connection, 'providers', 'type, base_url AS "baseUrl"', providerSecretContext);
}

function gatewayTokens(connection: EntityManager): SecretRows {
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
