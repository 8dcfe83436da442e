import type { VaultContext } from '../../platform/vault/sealed-blob.rules.js';
import type { NewGateway } from './gateway-row.js';

/**
 * Ties a sealed token to its account, row, kind and place: a blob that is moved, or whose row is turned to another
 * place, does not open.
 */
export function gatewaySecretContext({
  organizationId,
  id,
  type,
  config: { accountId = '', gatewayId = '' },
}: Pick<NewGateway, 'organizationId' | 'id' | 'type' | 'config'>): VaultContext {
  return { account: organizationId, gateway: id, type, accountId, gatewayId };
}
