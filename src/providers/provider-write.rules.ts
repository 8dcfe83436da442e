import { GatewayError, invalidRequest } from '../common/errors/gateway-error.js';
import { memberPath } from '../common/fields/config-values.js';
import { parseSecretText } from '../common/fields/secret-text.rules.js';
import type { Secret } from '../common/log/secret.js';
import type { OwnAddresses } from '../platform/outbound/own-addresses.js';
import type { TrustedHosts } from '../platform/outbound/trusted-hosts.rules.js';
import { hostAndPort } from '../platform/outbound/url-host.rules.js';
import { type CustomPrice, parseCustomPricing } from '../pricing/custom-pricing.rules.js';
import { parseProviderBaseUrl } from '../upstreams/base-url.rules.js';
import { isProviderType, type ProviderType } from '../upstreams/provider-types.js';
import { takesRouteOptions } from '../upstreams/routes/gateway-route.js';
import type { GatewayRouteOptions, GatewayType } from '../upstreams/routes/gateway-types.js';
import type { ProviderRow, ProviderStatus } from './provider.entity.js';

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

/** What decides which hosts a base URL may name. */
export interface HostRules {
  readonly trusted: TrustedHosts;
  readonly own: OwnAddresses;
}

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
export function readTarget(raw: RawTarget, hosts: HostRules): ProviderTarget {
  const { type, secret, providerGatewayId, baseUrl } = raw;
  if (secret !== undefined && providerGatewayId === undefined) {
    return {
      type,
      providerGatewayId: null,
      secret: parseSecretText('secret', secret),
      baseUrl: baseUrl === undefined ? null : parseBaseUrl(baseUrl, hosts),
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
export function readProviderChange(raw: RawChange, hosts: HostRules): ProviderChange {
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
    ...(baseUrl === undefined ? {} : { baseUrl: baseUrl === null ? null : parseBaseUrl(baseUrl, hosts) }),
    ...(pricing === undefined ? {} : { pricing: parseCustomPricing(pricing) }),
  };
}

/** An address of the gateway itself would turn a call into a loop. */
function parseBaseUrl(raw: string, { trusted, own }: HostRules): string {
  const baseUrl = parseProviderBaseUrl(raw, (host, port) => trusted.allowsHost(hostAndPort(host, port)));
  if (!own.isNamedIn(new URL(baseUrl))) return baseUrl;
  throw invalidRequest('baseUrl', 'is an address of this gateway; give the address of the provider', 'own_address');
}

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

/**
 * Refuses a change that the stored row does not allow.
 *
 * @param kind of the gateway that the row is routed through; null when it is called directly.
 * @throws invalid_request, provider_gateway_managed as `requireOwnCredential` and `requireOptionsAllowed`.
 */
export function requireAllowedChange(
  row: Pick<ProviderRow, 'providerGatewayId'>,
  change: ProviderChange,
  kind: GatewayType | null,
): void {
  requireOwnCredential(row, change);
  requireOptionsAllowed(kind, change.gatewayRoute);
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
