import type { EntityManager } from 'typeorm';
import type { SecretRows } from '../platform/vault/resealing.js';
import { secretRows } from '../platform/vault/secret-rows.js';
import type { ProviderRow } from './provider.entity.js';
import type { ProviderGatewayRow } from './provider-gateways/provider-gateway.entity.js';
import { gatewaySecretContext, providerSecretContext } from './sealed-credential.rules.js';

type KeyRow = Pick<ProviderRow, 'organizationId' | 'id' | 'type' | 'baseUrl'> & { readonly blob: string };
type TokenRow = Pick<ProviderGatewayRow, 'organizationId' | 'id' | 'type' | 'config'> & { readonly blob: string };

/** The sealed keys of providers. */
export function providerKeys(connection: EntityManager): SecretRows {
  return secretRows<KeyRow>(connection, {
    table: 'providers',
    column: 'secret_blob',
    others: ', type, base_url AS "baseUrl"',
    contextOf: providerSecretContext,
  });
}

/** The sealed tokens of provider gateways. */
export function gatewayTokens(connection: EntityManager): SecretRows {
  return secretRows<TokenRow>(connection, {
    table: 'provider_gateways',
    column: 'secret_blob',
    others: ', type, config',
    contextOf: gatewaySecretContext,
  });
}
