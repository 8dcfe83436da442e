import { invalidRequest } from '../../common/errors/gateway-error.js';
import { parseSecretText } from '../../common/fields/secret-text.rules.js';
import type { Secret } from '../../common/log/secret.js';
import type { TrustedHosts } from '../../platform/outbound/trusted-hosts.rules.js';
import { type CustomPrice, parseCustomPricing } from '../../pricing/custom-pricing.rules.js';
import { parseProviderBaseUrl } from '../../upstreams/base-url.rules.js';
import { isProviderType, type ProviderType } from '../../upstreams/provider-types.js';
import type { GatewayRouteOptions } from '../../upstreams/routes/gateway-types.js';
import type { ProviderStatus } from '../provider-row.js';
import { parseGatewayRoute } from './gateway-options.rules.js';

/**
 * The format of a slug, for validation and the OpenAPI document.
 *
 * Source: docs/reference/management-api.md#provider-object.
 */
export const SLUG_PATTERN = /^[a-z0-9][a-z0-9-]{0,62}$/;
const RESERVED_SLUGS: ReadonlySet<string> = new Set(['constructor', 'prototype']);

/** An address and its key, validated together. */
interface DirectTarget {
  readonly type: ProviderType;
  readonly providerGatewayId: null;
  readonly secret: Secret;
  /** Canonical; null for the default address of the type. */
  readonly baseUrl: string | null;
}

/** The gateway of the calls, not yet looked up; it owns the credential. */
interface GatewayTarget {
  readonly type: ProviderType;
  readonly providerGatewayId: string;
}

/** How a new or tested instance is called. */
export type ProviderTarget = DirectTarget | GatewayTarget;

interface RawTarget {
  readonly type: ProviderType;
  readonly secret?: string;
  readonly providerGatewayId?: string;
  readonly baseUrl?: string;
}

interface RawChange {
  readonly name?: string;
  readonly secret?: string;
  readonly gatewayRoute?: object | null;
  readonly baseUrl?: string | null;
  readonly pricing?: object | null;
  readonly status?: ProviderStatus;
}

/** The content of an update; an absent member stays as it is. */
export interface ProviderChange {
  readonly name?: string;
  readonly secret?: Secret;
  readonly gatewayRoute?: GatewayRouteOptions | null;
  readonly baseUrl?: string | null;
  readonly pricing?: Record<string, CustomPrice> | null;
  readonly status?: ProviderStatus;
}

/**
 * Reads the address and the credential of a create or a test.
 *
 * @throws invalid_request unless exactly one of `secret` and `providerGatewayId` is given, or when `baseUrl` comes with
 * a gateway or is invalid.
 * Source: docs/reference/management-api.md#provider-writes, docs/reference/management-api.md#testing-a-provider-key.
 */
export function readTarget(raw: RawTarget, trusted: TrustedHosts): ProviderTarget {
  const { type, secret, providerGatewayId, baseUrl } = raw;
  if (secret !== undefined && providerGatewayId === undefined) {
    return {
      type,
      providerGatewayId: null,
      secret: parseSecretText('secret', secret),
      baseUrl: baseUrl === undefined ? null : parseBaseUrl(baseUrl, trusted),
    };
  }
  if (secret !== undefined || providerGatewayId === undefined) {
    throw invalidRequest('secret', 'give exactly one of secret and providerGatewayId');
  }
  if (baseUrl !== undefined) throw invalidRequest('baseUrl', 'cannot be combined with providerGatewayId');
  return { type, providerGatewayId };
}

/**
 * The slug of a new instance: the requested one, or the name of its type.
 *
 * @throws invalid_request for the name of another type, which would be ambiguous, and for names of built-in object
 * properties.
 * Source: docs/reference/management-api.md#provider-object, docs/reference/management-api.md#provider-writes.
 */
export function slugFor(type: ProviderType, asked: string | undefined): string {
  const slug = asked ?? type;
  if (RESERVED_SLUGS.has(slug)) throw invalidRequest('slug', `"${slug}" is reserved`);
  if (slug !== type && isProviderType(slug)) {
    throw invalidRequest('slug', `"${slug}" is the name of a provider type and reserved for it`);
  }
  return slug;
}

/**
 * Reads an update, as far as possible without the stored row.
 *
 * @throws invalid_request when nothing would change, a member is invalid, or a `baseUrl` comes without a key: a stored
 * key is never sent to a new address.
 * Source: docs/reference/management-api.md#provider-writes.
 */
export function readProviderChange(raw: RawChange, trusted: TrustedHosts): ProviderChange {
  const { name, secret, gatewayRoute, baseUrl, pricing, status } = raw;
  if ([name, secret, gatewayRoute, baseUrl, pricing, status].every((member) => member === undefined)) {
    throw invalidRequest('body', 'must change at least one member');
  }
  if (typeof baseUrl === 'string' && secret === undefined) {
    throw invalidRequest('secret', 'is required with baseUrl: a stored key is never sent to a new address');
  }
  return {
    ...(name === undefined ? {} : { name }),
    ...(status === undefined ? {} : { status }),
    ...(secret === undefined ? {} : { secret: parseSecretText('secret', secret) }),
    ...(gatewayRoute === undefined ? {} : { gatewayRoute: gatewayRoute && parseGatewayRoute(gatewayRoute) }),
    ...(baseUrl === undefined ? {} : { baseUrl: baseUrl === null ? null : parseBaseUrl(baseUrl, trusted) }),
    ...(pricing === undefined ? {} : { pricing: parseCustomPricing(pricing) }),
  };
}

function parseBaseUrl(raw: string, trusted: TrustedHosts): string {
  return parseProviderBaseUrl(raw, (host, port) =>
    trusted.allowsHost(host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`),
  );
}
