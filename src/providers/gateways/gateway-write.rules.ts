import { GatewayError } from '../../common/errors/gateway-error.js';
import type { GatewayPlace } from '../../upstreams/routes/gateway-types.js';
import type { GatewayConfig, GatewayUse } from './gateway-row.js';

/**
 * What names a place within `cf_aig`, for both the check and the OpenAPI document: characters that mean themselves in a
 * path, to every server and proxy on the way. So it is one segment wherever it is written, and never a dot segment.
 * Source: docs/reference/management-api.md#provider-gateways, docs/reference/security.md#outbound-addresses.
 */
export const PATH_SEGMENT_PATTERN = /^(?!\.{1,2}$)[A-Za-z0-9._~-]{1,100}$/;

/** What is stored of a place besides its kind; `{}` for a kind that has one place for everybody. */
export function configOf({ accountId, gatewayId }: GatewayPlace): GatewayConfig {
  return accountId === undefined ? {} : { accountId, gatewayId };
}

/**
 * The refusal to delete a gateway that providers name, disabled ones included.
 *
 * @param use as it is now; without any, the last of them has gone since the refusal.
 * @returns gateway_in_use, with counts. Source: docs/reference/management-api.md#provider-gateways.
 */
export function gatewayInUse({ active, disabled }: GatewayUse): GatewayError {
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
