import type { VaultContext } from '../platform/vault/sealed-blob.rules.js';
import { directRoute, type ProviderRoute } from '../upstreams/routes/provider-route.js';
import type { NewProvider, ProviderRow } from './provider.entity.js';
import type { NewProviderGateway, ProviderGatewayRow } from './provider-gateways/provider-gateway.entity.js';

/** The stored credential of an instance: its own key, or the token of its gateway. */
export interface SealedCredential {
  readonly providerId: string;
  readonly blob: string;
  readonly context: VaultContext;
  /** Determines the headers that carry it. */
  readonly route: Pick<ProviderRoute, 'credentialHeaders'>;
  /** Why it must not be opened, for the log; absent when it may be. */
  readonly unusable?: 'provider_gateway_revoked' | 'provider_gateway_missing';
  /** Differs for another credential or another address of it. */
  readonly tiedTo: string;
}

/** The route of the calls that use it. */
export interface CredentialWay {
  /** The gateway that the row references; null without one, or when this version cannot use it. */
  readonly gateway: ProviderGatewayRow | null;
  readonly route: ProviderRoute;
}

/** A row that references a gateway has no other credential: without that gateway it is unusable. */
export function sealedCredential(
  row: ProviderRow,
  { gateway, route }: CredentialWay = { gateway: null, route: directRoute(row.type, row.baseUrl) },
): SealedCredential {
  const isDirect = row.providerGatewayId === null;
  const blob = (isDirect ? row.secretBlob : gateway?.secretBlob) ?? '';
  const context = gateway === null ? providerSecretContext(row) : gatewaySecretContext(gateway);
  const unusable = isDirect ? undefined : problemOf(gateway);
  return {
    providerId: row.id,
    blob,
    context,
    route,
    unusable,
    tiedTo: JSON.stringify([blob, unusable, row.id, row.type, route.kind, route.baseUrl, Object.entries(context)]),
  };
}

function problemOf(gateway: ProviderGatewayRow | null): SealedCredential['unusable'] {
  if (gateway === null) return 'provider_gateway_missing';
  return gateway.status === 'active' ? undefined : 'provider_gateway_revoked';
}

/** Binds a sealed key to its account, row, type and address: a moved blob does not open. */
export function providerSecretContext(
  provider: Pick<NewProvider, 'organizationId' | 'id' | 'type' | 'baseUrl'>,
): VaultContext & { readonly baseUrl: string } {
  const { organizationId, id, type, baseUrl } = provider;
  return { account: organizationId, provider: id, type, baseUrl: baseUrl ?? '' };
}

/**
 * Binds a sealed token to its account, row, kind and address: a blob that is moved, or whose row changes its address,
 * does not open.
 */
export function gatewaySecretContext({
  organizationId,
  id,
  type,
  config: { accountId = '', gatewayId = '' },
}: Pick<NewProviderGateway, 'organizationId' | 'id' | 'type' | 'config'>): VaultContext {
  return { account: organizationId, gateway: id, type, accountId, gatewayId };
}
