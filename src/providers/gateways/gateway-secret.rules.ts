import type { VaultContext } from '../../platform/vault/sealed-blob.rules.js';
import type { NewGateway } from './gateway-row.js';

/**
 * Binds a sealed token to its account, row, kind and address: a blob that is moved, or whose row changes its address,
 * does not open.
 */
export function gatewaySecretContext({
  organizationId,
  id,
  type,
  config: { accountId = '', gatewayId = '' },
}: Pick<NewGateway, 'organizationId' | 'id' | 'type' | 'config'>): VaultContext {
  return { account: organizationId, gateway: id, type, accountId, gatewayId };
}
