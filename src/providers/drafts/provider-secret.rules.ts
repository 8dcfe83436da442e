import type { VaultContext } from '../../platform/vault/sealed-blob.rules.js';
import type { NewProvider } from '../provider-row.js';

/** Binds a sealed key to its account, row, type and address: a blob that is moved does not open. */
export function secretContext(
  provider: Pick<NewProvider, 'organizationId' | 'id' | 'type' | 'baseUrl'>,
): VaultContext & { readonly baseUrl: string } {
  const { organizationId, id, type, baseUrl } = provider;
  return { account: organizationId, provider: id, type, baseUrl: baseUrl ?? '' };
}
