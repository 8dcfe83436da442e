import { GatewayError, invalidRequest } from '../../common/errors/gateway-error.js';
import { memberPath } from '../../common/fields/config-reader.js';
import type { Secret } from '../../common/log/secret.js';
import { takesRouteOptions } from '../../upstreams/routes/gateway-route.js';
import type { GatewayRouteOptions, GatewayType } from '../../upstreams/routes/gateway-types.js';
import type { ProviderRow } from '../provider-row.js';

const MAX_TEXT = 100;
const MAX_PROVIDERS = 20;

/**
 * Parses the gateway options of an instance.
 *
 * @throws invalid_request below `gatewayRoute` unless it is `{modelPrefix?, providerOnly?}`: text of 1 to 100
 * characters that ends with a slash, and 1 to 20 names of 1 to 100 characters.
 * Source: docs/reference/management-api.md#provider-gateways.
 */
export function parseGatewayRoute(raw: object): GatewayRouteOptions {
  const options: { modelPrefix?: string; providerOnly?: readonly string[] } = {};
  for (const [member, value] of Object.entries(raw)) {
    if (member === 'modelPrefix') options.modelPrefix = parseModelPrefix(value);
    else if (member === 'providerOnly') options.providerOnly = parseProviderOnly(value);
    else throw invalidRequest(memberPath('gatewayRoute', member), 'is not a known member');
  }
  return options;
}

/**
 * Refuses options for a route that supports none.
 *
 * @param kind of the gateway; null for an instance that is called directly.
 * @param options absent or null: no check.
 * @throws invalid_request at `gatewayRoute`.
 * Source: docs/reference/management-api.md#provider-writes.
 */
export function requireOptionsAllowed(kind: GatewayType | null, options: object | null | undefined): void {
  if (!options) return;
  if (kind === null) throw invalidRequest('gatewayRoute', 'needs a provider that is routed through a gateway');
  if (!takesRouteOptions(kind)) throw invalidRequest('gatewayRoute', `a gateway of type "${kind}" takes none`);
}

/**
 * Refuses changes of address or credential on an instance that is routed through a gateway, because both belong to the
 * gateway.
 *
 * @throws invalid_request at `baseUrl`.
 * @throws provider_gateway_managed for a key.
 * Source: docs/reference/management-api.md#provider-writes.
 */
export function requireOwnCredential(
  { providerGatewayId }: Pick<ProviderRow, 'providerGatewayId'>,
  { baseUrl, secret }: { readonly baseUrl?: string | null; readonly secret?: Secret },
): void {
  if (providerGatewayId === null) return;
  if (baseUrl !== undefined) throw invalidRequest('baseUrl', 'cannot be set on a provider routed through a gateway');
  if (secret !== undefined) {
    throw new GatewayError('provider_gateway_managed', {
      message: 'The gateway owns the credential of this provider; rotate the token of the gateway instead.',
      reason: 'secret_on_gateway_provider',
    });
  }
}

function parseModelPrefix(raw: unknown): string {
  const prefix = parseText('gatewayRoute.modelPrefix', raw);
  if (!prefix.endsWith('/')) throw invalidRequest('gatewayRoute.modelPrefix', 'must end with "/"');
  return prefix;
}

function parseProviderOnly(raw: unknown): readonly string[] {
  const path = 'gatewayRoute.providerOnly';
  if (!Array.isArray(raw) || raw.length < 1 || raw.length > MAX_PROVIDERS) {
    throw invalidRequest(path, `must be a list of 1 to ${MAX_PROVIDERS} names`);
  }
  return raw.map((name: unknown, at) => parseText(`${path}.${at}`, name));
}

/** Refuses text that the database cannot store. */
function parseText(path: string, raw: unknown): string {
  const isText = typeof raw === 'string' && raw.length >= 1 && raw.length <= MAX_TEXT;
  if (!isText || !raw.isWellFormed() || raw.includes('\0')) {
    throw invalidRequest(path, `must be text of 1 to ${MAX_TEXT} characters`);
  }
  return raw;
}
