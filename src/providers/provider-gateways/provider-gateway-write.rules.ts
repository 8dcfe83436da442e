import { GatewayError } from '../../common/errors/gateway-error.js';
import type { GatewayPlace } from '../../upstreams/routes/gateway-types.js';
import type { ProviderGatewayConfig, ProviderGatewayUse } from './provider-gateway.entity.js';

/**
 * The format of a `cf_aig` account or gateway id, for validation and the OpenAPI document. It allows only characters
 * that no server or proxy rewrites in a path, so that the value stays one segment, and excludes dot segments.
 *
 * Source: docs/reference/management-api.md#provider-gateways, docs/reference/security.md#outbound-addresses.
 */
export const PATH_SEGMENT_PATTERN = /^(?!\.{1,2}$)[A-Za-z0-9._~-]{1,100}$/;

/** The stored part of an address besides its kind; `{}` for a kind with one common address. */
export function configOf({ accountId, gatewayId }: GatewayPlace): ProviderGatewayConfig {
  return accountId === undefined ? {} : { accountId, gatewayId };
}

/**
 * Refusal to delete a gateway that providers reference, including disabled ones.
 *
 * @param use the current counts; zero when the last provider was deleted since the refusal.
 * @returns gateway_in_use, with counts.
 * Source: docs/reference/management-api.md#provider-gateways.
 */
export function gatewayInUse({ active, disabled }: ProviderGatewayUse): GatewayError {
  return new GatewayError('gateway_in_use', { message: inUseText(active, disabled), reason: 'providers_refer_to_it' });
}

function inUseText(active: number, disabled: number): string | undefined {
  if (active > 0 && disabled > 0) {
    return `${active} active and ${disabled} disabled providers are routed through this gateway; delete all of them first.`;
  }
  if (active > 0) return `${providers(active, 'active')} routed through this gateway; delete ${them(active)} first.`;
  if (disabled > 0) {
    return `${providers(disabled, 'disabled')} still routed through this gateway; delete ${them(disabled)} first: a disabled provider can be enabled again.`;
  }
  return undefined;
}

function providers(count: number, status: string): string {
  return `${count} ${status} ${count === 1 ? 'provider is' : 'providers are'}`;
}

function them(count: number): string {
  return count === 1 ? 'it' : 'them';
}
