import type { VaultContext } from '../platform/vault/sealed-blob.rules.js';
import type { NewGateway } from './gateway-row.js';

/** Ties a sealed token to its account and row: a blob that is moved does not open (threats 6.2). */
export function gatewaySecretContext({ organizationId, id }: Pick<NewGateway, 'organizationId' | 'id'>): VaultContext {
  return { account: organizationId, gateway: id };
}
